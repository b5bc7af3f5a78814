/** How many bundles a caller may have on their way at once: a large one that is not read holds a file and a connection. */

import { overloaded } from '../http/load-shedder.ts';
import { Tally } from '../lib/tally.ts';

const MAX_OPEN = 2;

export class BundlePlaces {
  private readonly open = new Tally();

  /**
   * @param caller one node, or one user
   * @param over aborted when the answer has been handed over in full, or broken off
   * @throws HawserError unavailable `overloaded`
   */
  take(caller: string, over: AbortSignal): void {
    if (this.open.of(caller) >= MAX_OPEN)
      throw overloaded(`${MAX_OPEN} bundles are on their way to this caller already`);
    if (over.aborted) return;
    this.open.add(caller, 1);
    over.addEventListener('abort', () => this.open.add(caller, -1), { once: true });
  }
}
