/** What the database knows of the keys of secrets: ids, and the key of evidence in its encrypted form. Never a key. */

import { compareVersions } from '../domain/version-order.ts';
import type { Db } from './database.ts';
import { OLDEST_WITH_SECRETS } from './oldest-release.ts';
import { listServers, listsServers } from './servers.ts';

export interface SecretState {
  /** The id of the key that encrypts; null before the first secret. */
  sealingKeyId: string | null;
  /** The key of evidence as `sealEvidenceKey` gives it; null before the first secret. */
  evidenceKey: string | null;
}

/** A server that is there, as `servers` has it. */
export interface KeyHolder {
  host: string;
  version: string;
  /** The ids of its keys; null for a release that knows no secrets. */
  keyIds: readonly string[] | null;
}

export async function readSecretState(db: Db): Promise<SecretState> {
  return db
    .selectFrom('secret_state')
    .select(['sealing_key_id as sealingKeyId', 'evidence_key as evidenceKey'])
    .executeTakeFirstOrThrow();
}

/** The same, and keeps others from changing it before the transaction ends. */
export async function holdSecretState(trx: Db): Promise<SecretState> {
  await trx.updateTable('secret_state').set({ id: 1 }).execute();
  return readSecretState(trx);
}

/** The ids of all keys under which something is encrypted, or was, in their order. */
export async function listUsedKeys(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('secret_keys').select('id').orderBy('id').execute();
  return rows.map(({ id }) => id);
}

export async function noteKeysUsed(db: Db, ids: readonly string[], now: number): Promise<void> {
  if (ids.length === 0) return;
  await db
    .insertInto('secret_keys')
    .values(ids.map((id) => ({ id, used_since: now })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Names the key that encrypts, and keeps releases out that know no secrets. The other servers are told of the key of
 * evidence by the feed of changes.
 */
export async function writeSecretState(
  trx: Db,
  { sealingKeyId, evidenceKey }: { sealingKeyId: string; evidenceKey: string | null },
  now: number,
): Promise<void> {
  await noteKeysUsed(trx, [sealingKeyId], now);
  await trx
    .updateTable('secret_state')
    .set({ sealing_key_id: sealingKeyId, evidence_key: evidenceKey })
    .execute();
  if (evidenceKey !== null)
    await trx.insertInto('changes').values({ kind: 'secrets', key: evidenceKey }).execute();
  await keepOlderOut(trx);
}

/** Keeps releases from starting that know neither secrets nor restricted scopes. */
export async function keepOlderOut(trx: Db): Promise<void> {
  const { version } = await trx.selectFrom('oldest_release').select('version').executeTakeFirstOrThrow();
  if (compareVersions(version, OLDEST_WITH_SECRETS) < 0)
    await trx.updateTable('oldest_release').set({ version: OLDEST_WITH_SECRETS }).execute();
}

/** The servers that are there with their keys. On SQLite there is no list, as there is one server. */
export async function listKeyHolders(db: Db): Promise<KeyHolder[]> {
  if (!listsServers(db)) return [];
  return (await listServers(db)).map(({ id, host, version, secret_key_ids: ids }) => {
    const isOlder = ids === null || compareVersions(version, OLDEST_WITH_SECRETS) < 0;
    return { host: host ?? id, version, keyIds: isOlder ? null : JSON.parse(ids) };
  });
}
