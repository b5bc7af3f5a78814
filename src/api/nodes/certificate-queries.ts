/** Reads and writes of nodes' certificates: the current one, and the one that a node has announced. */

import type { Db } from '../../db/open.ts';
import { lapsedBefore } from '../../security/pending-certificates.ts';

export interface CertificateRow {
  /** SHA-256; of one announced by its SHA-1 that. Upper-case hex. */
  thumbprint: string;
  /** Null where it is not known. */
  sha1Thumbprint: string | null;
  subject: string;
  /** Epoch milliseconds; 0 where it is not known. */
  notBefore: number;
  notAfter: number;
}

type Thumbprints = Pick<CertificateRow, 'thumbprint' | 'sha1Thumbprint'>;

/** Ids of the nodes that have the certificate as their current one, or have announced it and may still come with it. */
export async function listCertificateHolders(
  db: Db,
  { thumbprint, sha1Thumbprint }: Thumbprints,
  now: number,
): Promise<string[]> {
  const sha1 = sha1Thumbprint ?? thumbprint;
  const rows = await db
    .selectFrom('node_certificates')
    .select('node_id')
    .where((of) => of.or([of('thumbprint', 'in', [thumbprint, sha1]), of('sha1_thumbprint', '=', sha1)]))
    .where((of) => of.or([of('state', '=', 'current'), of('created_at', '>', lapsedBefore(now))]))
    .execute();
  return rows.map((row) => row.node_id);
}

/** Makes this the node's only certificate. */
export async function replaceCertificates(
  db: Db,
  nodeId: string,
  certificate: CertificateRow,
  now: number,
): Promise<void> {
  await db.deleteFrom('node_certificates').where('node_id', '=', nodeId).execute();
  await insertCertificate(db, nodeId, 'current', certificate, now);
}

/** Notes the certificate that the node will come with, in place of one announced before. */
export async function replacePending(
  db: Db,
  nodeId: string,
  certificate: CertificateRow,
  now: number,
): Promise<void> {
  await deletePending(db, nodeId);
  await insertCertificate(db, nodeId, 'pending', certificate, now);
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

async function insertCertificate(
  db: Db,
  nodeId: string,
  state: 'current' | 'pending',
  certificate: CertificateRow,
  now: number,
): Promise<void> {
  const { thumbprint, sha1Thumbprint, subject, notBefore, notAfter } = certificate;
  // Another node may have announced it once and never come with it.
  await db
    .deleteFrom('node_certificates')
    .where('thumbprint', '=', thumbprint)
    .where('state', '=', 'pending')
    .where('created_at', '<=', lapsedBefore(now))
    .execute();
  await db
    .insertInto('node_certificates')
    .values({
      thumbprint,
      sha1_thumbprint: sha1Thumbprint,
      node_id: nodeId,
      state,
      subject,
      not_before: notBefore,
      not_after: notAfter,
      created_at: now,
    })
    .execute();
}
