/** Which orders the children of a draft get when one of them moves. */

import type { CompositeItem } from '../../types.ts';

type Ordered = Pick<CompositeItem, 'id' | 'order'>;

/**
 * The orders to write so that two neighbours change places. Usually these are the orders of the two. Children of equal
 * order stand by name, which no exchange can change: where there are any, all are numbered from 0.
 * @param items in their order
 * @param at the place of the upper one of the two
 */
export function ordersAfterExchange(items: readonly Ordered[], at: number): { id: string; order: number }[] {
  const [upper, lower] = [items[at], items[at + 1]];
  if (upper === undefined || lower === undefined) return [];
  if (new Set(items.map(({ order }) => order)).size === items.length)
    return [
      { id: upper.id, order: lower.order },
      { id: lower.id, order: upper.order },
    ];
  return items
    .toSpliced(at, 2, lower, upper)
    .map(({ id }, order) => ({ id, order }))
    .filter(({ id, order }) => items.find((item) => item.id === id)?.order !== order);
}
