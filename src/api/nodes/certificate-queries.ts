/** Reads and writes of nodes' certificates: the current one, and the one that a node has announced. */

import type { Db } from '../../db/open.ts';
import {
  insertCertificate,
  lapsedBefore,
  type PinnedCertificate,
} from '../../security/pending-certificates.ts';

/** Of one that was announced by its SHA-1 the thumbprint is that; `notBefore` is 0 where it is not known. */
export type CertificateRow = PinnedCertificate;

type Thumbprints = Pick<CertificateRow, 'thumbprint' | 'sha1Thumbprint'>;

/** Ids of the nodes that have shown the certificate, and so have it as their current one. */
export async function listCertificateHolders(
  db: Db,
  { thumbprint, sha1Thumbprint }: Thumbprints,
): Promise<string[]> {
  const sha1 = sha1Thumbprint ?? thumbprint;
  const rows = await db
    .selectFrom('node_certificates')
    .select('node_id')
    .where((of) => of.or([of('thumbprint', 'in', [thumbprint, sha1]), of('sha1_thumbprint', '=', sha1)]))
    .where('state', '=', 'current')
    .execute();
  return rows.map((row) => row.node_id);
}

/** Whether the node has announced the certificate and may still come with it. */
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
    .where('created_at', '>', lapsedBefore(now))
    .executeTakeFirst();
  return row !== undefined;
}

/** Notes the certificate that the node will come with, in place of one announced before. */
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
