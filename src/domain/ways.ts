/** How many nodes are offered a version, and by which way it reaches them. */

/** The sum of those by each way is the number of all. */
export interface Ways {
  offered: number;
  /** Of those that follow: what is assigned itself, and what a composite brings. */
  direct: number;
  viaComposites: number;
  /** Those by an exact version, of the assignment or of the child of a composite. */
  pinned: number;
}

export const newWays = (): Ways => ({ offered: 0, direct: 0, viaComposites: 0, pinned: 0 });

/**
 * Counts a node that is offered the version.
 * @param node.via the composite that brings it; null where it is assigned itself
 */
export function countWay(ways: Ways, { via, isPinned }: { via: string | null; isPinned: boolean }): void {
  ways.offered += 1;
  if (isPinned) ways.pinned += 1;
  else if (via === null) ways.direct += 1;
  else ways.viaComposites += 1;
}

/** The split in brackets, where there is anything to tell. */
export function splitText({ direct, viaComposites, pinned }: Omit<Ways, 'offered'>): string {
  if (viaComposites + pinned === 0) return '';
  return ` (${direct} directly, ${viaComposites} by composites, ${pinned} pinned)`;
}
