/** How much of a long list is printed, which is its newest part unless more is asked for. */

import { UsageError } from './errors.ts';
import { readWhole } from './values.ts';

/** The options of a command that prints `few` items unless told otherwise. */
export const limitOptions = (few: number) => ({
  limit: { value: 'N', summary: `so many at most; without it ${few}` } as const,
  all: { summary: 'all of them' } as const,
});

/**
 * Reads a list as far as the options say.
 * @returns the items, how many were asked for, and whether there are more
 * @throws UsageError where the options do not fit together; nothing was read then
 */
export async function readLimited<T>(
  options: { limit: string | undefined; all: boolean },
  few: number,
  read: () => AsyncIterable<T>,
): Promise<{ items: T[]; most: number; hasMore: boolean }> {
  if (options.all && options.limit !== undefined)
    throw new UsageError('--all and --limit do not fit together; say one of them.');
  const most = options.all ? Number.POSITIVE_INFINITY : (readWhole(options.limit, '--limit') ?? few);
  const items: T[] = [];
  for await (const item of read()) {
    if (items.length >= most) return { items, most, hasMore: true };
    items.push(item);
  }
  return { items, most, hasMore: false };
}
