/** What protects a configuration, a composite or a scope value: how many people approve changes of it, and by which way they come. */

export interface Protection {
  /** How many people approve a change set before it is applied. */
  approvals: number;
  /** The group whose members alone count; null for any person who may. */
  groupId: string | null;
  /** Whether changes come by change sets alone, even if nobody has to approve them. */
  byChangeSetOnly: boolean;
}

/** The most approvals that can be asked for. */
export const MAX_APPROVALS = 5;

export const NO_PROTECTION: Protection = { approvals: 0, groupId: null, byChangeSetOnly: false };

/** Whether it keeps single deeds away. A group alone asks for nobody's approval. */
export const isProtecting = ({ approvals, byChangeSetOnly }: Protection) => approvals > 0 || byChangeSetOnly;

/** Whether somebody could do by the second what the first refuses. A group where there was none leaves fewer people who count. */
export function isWeaker(before: Protection, after: Protection): boolean {
  if (!isProtecting(before)) return false;
  return (
    after.approvals < before.approvals ||
    (before.groupId !== null && after.groupId !== before.groupId) ||
    (before.byChangeSetOnly && !after.byChangeSetOnly)
  );
}
