/** Reads and writes of registration keys. */

import type { Selectable } from 'kysely';
import { sha256Hex } from '../lib/hash.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import type { Assignment } from './node-lookup.ts';
import { Table } from './rows.ts';
import type { RegistrationKeysTable } from './schema.ts';

export type RegistrationKeyRow = Selectable<RegistrationKeysTable>;

/** What a key or a rule gives to nodes, as it is stored. */
export interface StoredGift {
  /** The name is for readers. The ids say what is meant, so that a later configuration of this name is not given. */
  assignment: (Assignment & { configurationName: string }) | null;
  scopeValueIds: readonly string[];
}

export interface KeyProfile extends StoredGift {
  /** Which names may register by the key, as `normalizeNamePattern` gives it; null for any. */
  fqdnPattern: string | null;
}

export const REGISTRATION_KEYS = new Table('registration_keys', {
  order: ['created_at', 'id'],
  newestFirst: true,
  missing: 'No such registration key',
});

export function findKeyBySecret(db: Db, secret: string): Promise<RegistrationKeyRow | undefined> {
  return db
    .selectFrom('registration_keys')
    .selectAll()
    .where('key_hash', '=', sha256Hex(secret))
    .executeTakeFirst();
}

export function profileOf({ profile }: Pick<RegistrationKeyRow, 'profile'>): KeyProfile | null {
  return profile === null ? null : (JSON.parse(profile) as KeyProfile);
}

/** Counts a use of the key, and notes that this node has registered by it. */
export async function noteUse(db: Db, id: string, nodeId: string, now: number): Promise<void> {
  await db
    .updateTable('registration_keys')
    .set((old) => ({ current_uses: old('current_uses', '+', 1), last_used_at: now }))
    .where('id', '=', id)
    .execute();
  await db.updateTable('nodes').set({ registration_key_id: id }).where('id', '=', nodeId).execute();
}

/** Whether the node of this name registered last by this key, and has this certificate now. */
export async function hasRegisteredBy(
  db: Db,
  id: string,
  fqdn: string,
  thumbprint: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('nodes')
    .innerJoin('node_certificates', 'node_certificates.node_id', 'nodes.id')
    .select('nodes.id')
    .where('nodes.fqdn', '=', fqdn)
    .where('nodes.registration_key_id', '=', id)
    .where('node_certificates.state', '=', 'current')
    .where('node_certificates.thumbprint', '=', thumbprint)
    .executeTakeFirst();
  return row !== undefined;
}

/** How many nodes have registered by each of these keys and are left. A key without any is left out. */
export async function countNodesOf(db: Db, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('nodes')
    .select(['registration_key_id as id', (of) => of.fn.countAll<number>().as('count')])
    .where(engineOf(db).isOneOf('registration_key_id', ids))
    .where('registration_key_id', 'is not', null)
    .groupBy('registration_key_id')
    .execute();
  return new Map(rows.map(({ id, count }) => [id ?? '', Number(count)]));
}
