/**
 * Certificates that nodes have announced to come with next. To announce one is a claim, which any number of nodes may
 * make; to come with it is the proof. The first call that comes with it in the path of a node that announced it makes it
 * that node's certificate, ends the one before it and all other claims to it, in one transaction: at every moment the
 * node can come in with one of the two.
 */

import type { Selectable } from 'kysely';
import type { NodeCertificatesTable } from '../db/node-tables.ts';
import type { Database, Db } from '../db/open.ts';
import { isSameName } from '../domain/distinguished-name.ts';
import { DAY, SECOND } from '../lib/clock.ts';
import { unauthenticated } from '../lib/errors.ts';
import { recordAudit } from './audit.ts';
import type { CertificateDescription } from './certificates.ts';

type CertificateRow = Selectable<NodeCertificatesTable>;

/** What is kept of a certificate that a node is pinned by; the SHA-1 is null where it is not known. */
export type PinnedCertificate = Omit<CertificateDescription, 'sha1Thumbprint'> & {
  sha1Thumbprint: string | null;
};

/** How long an announced certificate may take to come. */
const PENDING_LIFETIME = DAY;

/** What was noted before this moment and has not come since is as good as gone. */
export function lapsedBefore(now: number): number {
  return now - PENDING_LIFETIME;
}

interface Circumstances {
  /** Of the node in whose path the certificate has come. */
  nodeId: string;
  requestId: string;
  address: string;
  now: number;
}

/** One answer, whether nobody has announced the certificate, or others have. */
export const unknownCertificate = () => unauthenticated('No node is registered with this certificate');

/**
 * Makes an announced certificate the only one of the node in whose path it has come; nothing where it is some node's
 * already.
 * @param certificate what the connection has shown, trusted where a node CA is configured
 * @throws HawserError unauthenticated when that node has not announced it, it came too late, has expired, or is not as
 *   announced
 */
export async function takeIntoUse(
  database: Database,
  certificate: CertificateDescription,
  circumstances: Circumstances,
): Promise<void> {
  const isInTime = await database.write
    .transaction()
    .execute((trx) => switchCertificate(trx, certificate, circumstances));
  if (!isInTime) throw unknownCertificate();
}

/** Makes this the node's only certificate. It has been shown now, so all announcements of it end, whoever made them. */
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

/** Only beside a certificate of the other state: a node has one of each. */
export async function insertCertificate(
  trx: Db,
  { nodeId, state, now }: { nodeId: string; state: CertificateRow['state']; now: number },
  { thumbprint, sha1Thumbprint, subject, notBefore, notAfter }: PinnedCertificate,
): Promise<void> {
  const names = { thumbprint, sha1_thumbprint: sha1Thumbprint, subject };
  const times = { not_before: notBefore, not_after: notAfter, created_at: now };
  await trx
    .insertInto('node_certificates')
    .values({ node_id: nodeId, state, ...names, ...times })
    .execute();
}

/** @returns whether it was in time; what was not is removed here, and the removal must stand */
async function switchCertificate(
  trx: Db,
  certificate: CertificateDescription,
  circumstances: Circumstances,
): Promise<boolean> {
  const { nodeId, now } = circumstances;
  // Another call has been quicker. Whose certificate it is now, the caller finds out.
  if (await isInUse(trx, certificate)) return true;
  const announced = await findAnnounced(trx, nodeId, certificate);
  if (announced === undefined) return false;
  if (announced.created_at <= lapsedBefore(now)) {
    const own = trx.deleteFrom('node_certificates').where('node_id', '=', nodeId);
    await own.where('state', '=', 'pending').execute();
    return false;
  }
  if (certificate.notAfter <= now) throw unauthenticated('The certificate has expired');
  if (!isAsAnnounced(announced, certificate)) {
    throw unauthenticated('The certificate differs from its announcement in subject or notAfter');
  }
  await pinCertificate(trx, nodeId, certificate, now);
  await recordSwitch(trx, certificate.thumbprint, circumstances);
  return true;
}

async function isInUse(trx: Db, { thumbprint }: CertificateDescription): Promise<boolean> {
  const row = await trx
    .selectFrom('node_certificates')
    .select('node_id')
    .where('thumbprint', '=', thumbprint)
    .where('state', '=', 'current')
    .executeTakeFirst();
  return row !== undefined;
}

/** A node has announced one certificate at most, by its SHA-256 or its SHA-1. */
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

/** SHA-1 alone would not do: two certificates of one SHA-1 can be made, though not to one that is given. */
function isAsAnnounced(row: CertificateRow, { subject, notAfter }: CertificateDescription): boolean {
  return (
    isSameName(row.subject, subject) && Math.floor(row.not_after / SECOND) === Math.floor(notAfter / SECOND)
  );
}

async function recordSwitch(
  trx: Db,
  thumbprint: string,
  { nodeId, requestId, address, now }: Circumstances,
): Promise<void> {
  const actor = { type: 'Node', id: nodeId, name: null, tokenId: null, address, requestId, at: now } as const;
  const details = { thumbprint };
  await recordAudit(trx, actor, { action: 'node.certificate_rotated', resourceId: nodeId, details });
}
