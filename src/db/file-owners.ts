/** Which nodes have some names: the files of scope Node are published under a name, and belong to one node of that name. */

import type { FileOwner } from '../domain/version-choice.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';

/** The nodes of these names, by name. A name that no node has is left out. */
export async function ownersOf(db: Db, fqdns: readonly string[]): Promise<Map<string, FileOwner>> {
  const rows = await db
    .selectFrom('nodes')
    .leftJoin('deleted_node_names', 'deleted_node_names.fqdn', 'nodes.fqdn')
    .select(['nodes.fqdn', 'nodes.id', 'deleted_node_names.fqdn as before'])
    .where(engineOf(db).isOneOf('nodes.fqdn', fqdns))
    .execute();
  return new Map(rows.map(({ fqdn, id, before }) => [fqdn, { nodeId: id, isSuccessor: before !== null }]));
}
