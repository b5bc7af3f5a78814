/** Reads and writes of nodes' certificates: the current one of each node, and the one that it has announced. */

import type { Db } from '../db/database.ts';
import { conflict } from '../lib/errors.ts';
import { isAwaiting } from './awaiting-certificates.ts';
import { insertCertificate, type PinnedCertificate } from './pending-certificates.ts';

/** The thumbprint is a SHA-1 where the certificate was announced by it. `notBefore` is 0 where it is not known. */
export type CertificateRow = PinnedCertificate;

type Thumbprints = Pick<CertificateRow, 'thumbprint' | 'sha1Thumbprint'>;

/**
 * Asks who holds the certificate as their current one.
 * @param nodeId undefined for a node that is not known yet
 * @returns whether the node itself holds it, and not only awaits it
 * @throws HawserError conflict `certificate_in_use` where another node holds it
 */
export async function requireOwnOrFree(
  db: Db,
  nodeId: string | undefined,
  { thumbprint, sha1Thumbprint }: Thumbprints,
): Promise<boolean> {
  const sha1 = sha1Thumbprint ?? thumbprint;
  const rows = await db
    .selectFrom('node_certificates')
    .select(['node_id', 'state', 'thumbprint', 'sha1_thumbprint'])
    .where((of) => of.or([of('thumbprint', 'in', [thumbprint, sha1]), of('sha1_thumbprint', '=', sha1)]))
    .where('state', '=', 'current')
    .execute();
  if (rows.some((row) => row.node_id !== nodeId)) {
    throw conflict('certificate_in_use', 'Another node holds this certificate');
  }
  return rows.some((row) => !isAwaiting(row));
}

/** Whether the node has announced the certificate, and the end that it announced has not come yet. */
export async function hasAnnounced(
  db: Db,
  nodeId: string,
  { thumbprint, sha1Thumbprint }: Thumbprints,
  now: number,
): Promise<boolean> {
  const row = await db
    .selectFrom('node_certificates')
    .select('node_id')
    .where('node_id', '=', nodeId)
    .where('state', '=', 'pending')
    .where('thumbprint', 'in', [thumbprint, sha1Thumbprint ?? thumbprint])
    .where('not_after', '>', now)
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores the certificate that the node announces, in place of one that it announced before. */
export async function replacePending(
  db: Db,
  nodeId: string,
  certificate: CertificateRow,
  now: number,
): Promise<void> {
  await deletePending(db, nodeId);
  await insertCertificate(db, { nodeId, state: 'pending', now }, certificate);
}

export async function deletePending(db: Db, nodeId: string): Promise<void> {
  await db
    .deleteFrom('node_certificates')
    .where('node_id', '=', nodeId)
    .where('state', '=', 'pending')
    .execute();
}

export function listCertificates(db: Db, nodeId: string) {
  return db.selectFrom('node_certificates').selectAll().where('node_id', '=', nodeId).execute();
}
