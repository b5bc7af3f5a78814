/** What the state of a change set allows. */

import { can } from '../../session.ts';
import type { ChangeSet } from '../../types.ts';

/** It may still be changed. */
export const isOpen = ({ state }: Pick<ChangeSet, 'state'>) => state === 'Open' || state === 'Scheduled';

/** The blocker that approvals take away, and nobody needs to mend. */
export const MISSING = 'approvals_missing';

export const isOther = ({ code }: { code: string }) => code !== MISSING;

export const missesApprovals = ({ check }: ChangeSet) =>
  check?.blockers.some((said) => !isOther(said)) ?? false;

/** Whether the user may pass the approvals that are missing, which takes the override of each kind that asks for one. */
export function mayOverride({ protection }: ChangeSet): boolean {
  return protection
    .filter(({ missing }) => missing > 0)
    .every(({ by: { configurationName, compositeName } }) => {
      if (configurationName) return can('configurations.admin-override');
      return can(compositeName ? 'composite-configurations.admin-override' : 'scopes.admin-override');
    });
}

/** Why the set cannot be applied now by whoever may; null if nothing is known against it. */
export function reasonAgainstApplying(set: ChangeSet): string | null {
  const { check } = set;
  const others = check?.blockers.filter(isOther).length ?? 0;
  if (others > 0)
    return `${others === 1 ? 'One thing stands' : `${others} things stand`} in the way: see the check.`;
  return missesApprovals(set) && !mayOverride(set) ? 'Approvals are missing: see the protection.' : null;
}
