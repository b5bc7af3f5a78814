/**
 * Certificates that nodes have announced to come with next. The first use of one makes it the node's certificate and
 * ends the one before it, in one transaction: at every moment the node can come in with one of the two.
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

/** How long an announced certificate may take to come. */
const PENDING_LIFETIME = DAY;

/** What was noted before this moment and has not come since is as good as gone. */
export function lapsedBefore(now: number): number {
  return now - PENDING_LIFETIME;
}

interface Circumstances {
  requestId: string;
  address: string;
  now: number;
}

/**
 * Strangers get no further than this, which is one more indexed read.
 * @throws HawserError unauthenticated when nobody has announced the certificate
 */
export function refuseUnannounced(
  { nodeLookup }: Database,
  { thumbprint, sha1Thumbprint }: CertificateDescription,
): void {
  if (!nodeLookup.byThumbprint(thumbprint) && !nodeLookup.byThumbprint(sha1Thumbprint)) throw unknown();
}

/**
 * Makes an announced certificate the only one of its node; nothing where it is that already.
 * @param certificate what the connection has shown, trusted where a node CA is configured
 * @throws HawserError unauthenticated when no node has announced it, it came too late, has expired, or is not as
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
  if (!isInTime) throw unknown();
}

const unknown = () => unauthenticated('No node is registered with this certificate');

/** @returns whether it was in time; what was not is removed here, and the removal must stand */
async function switchCertificate(
  trx: Db,
  certificate: CertificateDescription,
  circumstances: Circumstances,
): Promise<boolean> {
  const { now } = circumstances;
  const row = await findAnnounced(trx, certificate);
  if (row === undefined) return false;
  if (row.state === 'current') return true;
  if (row.created_at <= lapsedBefore(now)) {
    await trx.deleteFrom('node_certificates').where('thumbprint', '=', row.thumbprint).execute();
    return false;
  }
  if (certificate.notAfter <= now) throw unauthenticated('The certificate has expired');
  if (!isAsAnnounced(row, certificate)) {
    throw unauthenticated('The certificate differs from its announcement in subject or notAfter');
  }
  await trx
    .deleteFrom('node_certificates')
    .where('node_id', '=', row.node_id)
    .where('state', '=', 'current')
    .execute();
  await trx
    .updateTable('node_certificates')
    .set({ state: 'current', ...toColumns(certificate) })
    .where('thumbprint', '=', row.thumbprint)
    .execute();
  await recordSwitch(trx, row.node_id, certificate.thumbprint, circumstances);
  return true;
}

/** By SHA-256 first: only what no node has pinned may have been announced by its SHA-1. */
async function findAnnounced(
  trx: Db,
  { thumbprint, sha1Thumbprint }: CertificateDescription,
): Promise<CertificateRow | undefined> {
  const rows = await trx
    .selectFrom('node_certificates')
    .selectAll()
    .where('thumbprint', 'in', [thumbprint, sha1Thumbprint])
    .execute();
  return rows.find((row) => row.thumbprint === thumbprint) ?? rows[0];
}

/** SHA-1 alone would not do: two certificates of one SHA-1 can be made, though not to one that is given. */
function isAsAnnounced(row: CertificateRow, { subject, notAfter }: CertificateDescription): boolean {
  return (
    isSameName(row.subject, subject) && Math.floor(row.not_after / SECOND) === Math.floor(notAfter / SECOND)
  );
}

/** Pinned for good is the SHA-256 of what has come. */
function toColumns({ thumbprint, sha1Thumbprint, subject, notBefore, notAfter }: CertificateDescription) {
  return {
    thumbprint,
    sha1_thumbprint: sha1Thumbprint,
    subject,
    not_before: notBefore,
    not_after: notAfter,
  };
}

async function recordSwitch(
  trx: Db,
  nodeId: string,
  thumbprint: string,
  { requestId, address, now }: Circumstances,
): Promise<void> {
  const actor = { type: 'Node', id: nodeId, name: null, tokenId: null, address, requestId, at: now } as const;
  const details = { thumbprint };
  await recordAudit(trx, actor, { action: 'node.certificate_rotated', resourceId: nodeId, details });
}
