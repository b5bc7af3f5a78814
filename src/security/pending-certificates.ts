/**
 * Certificates that nodes have announced as their next ones. Several nodes may announce the same certificate, because an
 * announcement proves nothing. The first request that shows the certificate, in the path of a node that announced it,
 * makes it the certificate of this node. It replaces the old one and removes all other announcements of it, in one
 * transaction, so that at every moment the node can authenticate with one of the two. An announcement counts until its
 * certificate has expired: a machine that was asleep meanwhile may hold no other certificate any more.
 */

import type { Selectable } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { unknownCertificate } from '../db/node-lookup.ts';
import type { NodeCertificatesTable } from '../db/node-tables.ts';
import { isSameName } from '../domain/distinguished-name.ts';
import { SECOND } from '../lib/clock.ts';
import { unauthenticated } from '../lib/errors.ts';
import { recordAudit } from './audit.ts';
import { type CertificateDescription, faultOfBeginning } from './certificates.ts';

type CertificateRow = Selectable<NodeCertificatesTable>;

/** The stored data of a node's certificate. The SHA-1 is null when it is not known. */
export type PinnedCertificate = Omit<CertificateDescription, 'sha1Thumbprint'> & {
  sha1Thumbprint: string | null;
};

interface Circumstances {
  /** The id in the path of the request that shows the certificate. */
  nodeId: string;
  requestId: string;
  address: string;
  now: number;
}

/**
 * Makes an announced certificate the only one of the node. Does nothing if it is the certificate of a node already.
 * @param certificate shown by the connection, and trusted if a node CA is configured
 * @throws HawserError unauthenticated when the node has not announced it, or with other data, or out of its term
 */
export async function activateCertificate(
  database: Database,
  certificate: CertificateDescription,
  circumstances: Circumstances,
): Promise<void> {
  const isSwitched = await database.write
    .transaction()
    .execute((trx) => switchCertificate(trx, certificate, circumstances));
  if (isSwitched) database.nodeLookup.noteEnded(circumstances.nodeId, certificate.thumbprint);
}

/** Makes this the node's only certificate, and removes all announcements of it, because a node has shown it now. */
export async function pinCertificate(
  trx: Db,
  nodeId: string,
  certificate: PinnedCertificate,
  now: number,
): Promise<void> {
  const { thumbprint, sha1Thumbprint } = certificate;
  await trx.deleteFrom('node_certificates').where('node_id', '=', nodeId).execute();
  await trx
    .deleteFrom('node_certificates')
    .where('thumbprint', 'in', [thumbprint, sha1Thumbprint ?? thumbprint])
    .where('state', '=', 'pending')
    .execute();
  await insertCertificate(trx, { nodeId, state: 'current', now }, certificate);
}

/** A node has at most one certificate of each state, so the caller removes the old one first. */
export async function insertCertificate(
  trx: Db,
  { nodeId, state, now }: { nodeId: string; state: CertificateRow['state']; now: number },
  { thumbprint, sha1Thumbprint, subject, notBefore, notAfter }: PinnedCertificate,
): Promise<void> {
  const names = { thumbprint, sha1_thumbprint: sha1Thumbprint, subject };
  const row = {
    node_id: nodeId,
    state,
    ...names,
    not_before: notBefore,
    not_after: notAfter,
    created_at: now,
  };
  await trx.insertInto('node_certificates').values(row).execute();
}

/** @returns false where the certificate is in use already */
async function switchCertificate(
  trx: Db,
  certificate: CertificateDescription,
  circumstances: Circumstances,
): Promise<boolean> {
  const { nodeId, now } = circumstances;
  // Another request was faster. The caller finds out which node has the certificate now.
  if (await isInUse(trx, certificate)) return false;
  const announced = await findAnnounced(trx, nodeId, certificate);
  if (announced === undefined) throw unknownCertificate();
  if (certificate.notAfter <= now) throw unauthenticated('The certificate has expired');
  // Where the node described its certificate, it shows only now when the term begins.
  const fault = faultOfBeginning(certificate, now);
  if (fault !== null) throw unauthenticated(fault);
  if (!matchesAnnouncement(announced, certificate)) {
    throw unauthenticated('The certificate differs from its announcement in subject or notAfter');
  }
  await pinCertificate(trx, nodeId, certificate, now);
  const { requestId, address } = circumstances;
  const actor = { type: 'Node', id: nodeId, name: null, tokenId: null, address, requestId, at: now } as const;
  const details = { thumbprint: certificate.thumbprint };
  await recordAudit(trx, actor, { action: 'node.certificate_rotated', resourceId: nodeId, details });
  return true;
}

/** Whether the certificate is the current one of a node. */
export async function isInUse(trx: Db, { thumbprint }: CertificateDescription): Promise<boolean> {
  const row = await trx
    .selectFrom('node_certificates')
    .select('node_id')
    .where('thumbprint', '=', thumbprint)
    .where('state', '=', 'current')
    .executeTakeFirst();
  return row !== undefined;
}

/** Finds the announcement of a node by SHA-256 or SHA-1. A node has at most one. */
function findAnnounced(
  trx: Db,
  nodeId: string,
  { thumbprint, sha1Thumbprint }: CertificateDescription,
): Promise<CertificateRow | undefined> {
  return trx
    .selectFrom('node_certificates')
    .selectAll()
    .where('node_id', '=', nodeId)
    .where('state', '=', 'pending')
    .where('thumbprint', 'in', [thumbprint, sha1Thumbprint])
    .executeTakeFirst();
}

/** SHA-1 alone is not enough, because somebody can make two certificates with the same SHA-1. */
function matchesAnnouncement(row: CertificateRow, { subject, notAfter }: CertificateDescription): boolean {
  return (
    isSameName(row.subject, subject) && Math.floor(row.not_after / SECOND) === Math.floor(notAfter / SECOND)
  );
}
