/** Which members of a thing a change alters, as the audit trail shows it. */

export type ChangedMembers = Record<string, { from: unknown; to: unknown }>;

/**
 * Old and new value of each member of `change` that differs from `before`; undefined ones stay as they are.
 * @returns null where nothing differs, so that nothing is to be written
 */
export function changedMembers(before: object, change: object): ChangedMembers | null {
  const old = new Map(Object.entries(before));
  const changed = Object.entries(change).filter(([name, to]) => to !== undefined && to !== old.get(name));
  if (changed.length === 0) return null;
  return Object.fromEntries(changed.map(([name, to]) => [name, { from: old.get(name), to }]));
}
