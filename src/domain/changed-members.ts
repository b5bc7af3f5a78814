/** Finds the members that a change alters, in the form that the audit trail shows. */

export type ChangedMembers = Record<string, { from: unknown; to: unknown }>;

/**
 * The old and new value of each member of `change` that differs from `before`. Undefined members are not changed.
 * @returns null if nothing differs, so that nothing has to be written
 */
export function changedMembers(before: object, change: object): ChangedMembers | null {
  const old = new Map(Object.entries(before));
  const changed = Object.entries(change).filter(([name, to]) => to !== undefined && to !== old.get(name));
  if (changed.length === 0) return null;
  return Object.fromEntries(changed.map(([name, to]) => [name, { from: old.get(name), to }]));
}
