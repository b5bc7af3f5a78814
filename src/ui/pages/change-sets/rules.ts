/** What can be done with a change set, and why not. The server decides; this says what is known before. */

import { can } from '../../session.ts';
import type { ChangeSet } from '../../types.ts';

/** It may still be changed. */
export const isOpen = ({ state }: Pick<ChangeSet, 'state'>) => state === 'Open' || state === 'Scheduled';

/** What deeds need that name no configuration and no composite, or beside them. */
const PERMISSIONS: Readonly<Record<string, string>> = {
  Assign: 'nodes.assign-configuration',
  Unassign: 'nodes.assign-configuration',
  Tag: 'nodes.write',
  Untag: 'nodes.write',
  SetTags: 'nodes.write',
  SetLcmConfig: 'nodes.write',
  ReorderScopeTypes: 'scopes.admin-override',
  EnableScopeType: 'scopes.admin-override',
  DisableScopeType: 'scopes.admin-override',
  StartRollout: 'rollouts.manage',
};

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

/** Why the set cannot be applied now; null if nothing is known against it. */
export function reasonAgainstApplying(set: ChangeSet): string | null {
  const { deeds, hiddenDeeds, check } = set;
  if (hiddenDeeds > 0) return 'It has deeds that you may not see.';
  const lacking = deeds.map(({ kind }) => PERMISSIONS[kind]).find((name) => name !== undefined && !can(name));
  if (lacking !== undefined) return `One of its deeds needs the permission ${lacking}.`;
  const others = check?.blockers.filter(isOther).length ?? 0;
  if (others > 0)
    return `${others === 1 ? 'One thing stands' : `${others} things stand`} in the way: see the check.`;
  return missesApprovals(set) && !mayOverride(set) ? 'Approvals are missing: see the protection.' : null;
}
