/** Lists of all refs. */

import type { AtomicFs } from './atomic-fs.ts';
import { type RefSnapshot, readFolders } from './ref-reader.ts';

/** All refs of a repository, also those that are neither branches nor tags. */
export interface RefList {
  /** The oids by full name, in the order of the names. */
  refs: Map<string, string>;
  /** When the last ref came, went or moved, in epoch milliseconds by the machine's clock. */
  changedAt: number;
}

export async function listRefs(fs: AtomicFs, gitdir: string): Promise<RefList> {
  const snapshot = await readFolders(fs, gitdir, ['refs'], undefined);
  const { folders, packed } = snapshot;
  const refs = allRefs(snapshot);
  const stamps = [packed.stamp, ...[...folders.values()].map(({ stamp }) => stamp)];
  return {
    refs: new Map([...refs].sort(([a], [b]) => (a < b ? -1 : 1))),
    changedAt: Math.max(...stamps.map((stamp) => stamp?.changedAt ?? 0)),
  };
}

/** The oids by full name: a loose ref hides the packed one. */
export function allRefs({ loose, packed }: Pick<RefSnapshot, 'loose' | 'packed'>): Map<string, string> {
  const refs = new Map(packed.refs);
  for (const [name, { oid }] of loose) refs.set(name, oid);
  return refs;
}
