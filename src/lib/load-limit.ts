/** How many repositories, or details of versions, a route reads at once. */

import pLimit, { type LimitFunction } from 'p-limit';

/** After a start each is read from the disk. The limit leaves time for other requests. */
export function limitLoads(): LimitFunction {
  return pLimit(16);
}
