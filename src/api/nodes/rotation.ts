/** Rotation: a node announces the certificate it will come with next. Until it has, the one before it keeps working. */

import type { Database } from '../../db/open.ts';
import { conflict, forbidden, invalid, unauthenticated } from '../../lib/errors.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { issueNodeCertificate, type KeyedCertificate } from '../../security/certificate-authority.ts';
import { type CertificateDescription, describeCertificate, parseChain } from '../../security/certificates.ts';
import {
  type CertificateRow,
  deletePending,
  listCertificateHolders,
  listCertificates,
  replacePending,
} from './certificate-queries.ts';
import { findAssigned } from './queries.ts';

/** How a node says which certificate it will come with. */
export type Announcement =
  | { form: 'thumbprint'; thumbprint: string; subject: string; notAfter: number }
  /** PEM, perhaps with issuers behind it. */
  | { form: 'certificate'; certificate: string }
  /** PKCS#10 in PEM: the built-in CA issues the certificate. */
  | { form: 'csr'; csr: string };

export interface RotationRequest {
  nodeId: string;
  /** Certificate of the connection. */
  presented: CertificateDescription;
  announcement: Announcement;
  /** Whether a certificate, its issuers behind it, chains to the configured node CA. */
  wouldChain: (chain: ReturnType<typeof parseChain>) => boolean;
  actor: Actor;
  now: number;
}

export interface RotationOptions {
  database: Database;
  authority: KeyedCertificate;
  issuesCertificates: boolean;
}

type NextCertificate = CertificateRow & { certificate?: string };

export interface RotationResult {
  /** False when the node has announced the certificate that it came with: then nothing is to change. */
  isPending: boolean;
  /** PEM, when it was issued for a CSR. */
  certificate: string | null;
}

/**
 * @throws HawserError invalid (`certificate_expired`, `client_certificate_required`, `validation_failed`), forbidden
 *   `certificate_not_trusted`, conflict `certificate_in_use`
 */
export async function announceCertificate(
  options: RotationOptions,
  request: RotationRequest,
): Promise<RotationResult> {
  const next = await readNext(options, request);
  if (next.notAfter <= request.now) throw invalid('certificate_expired', 'The certificate has expired');
  const isPending = await options.database.write.transaction().execute(async (trx) => {
    const { nodeId, presented, now, actor } = request;
    const known = await listCertificates(trx, nodeId);
    const current = known.find((row) => row.state === 'current');
    // Asked again: another certificate may have come into use since this call was let in.
    if (current?.thumbprint !== presented.thumbprint) {
      throw unauthenticated('The certificate is no longer that of the node');
    }
    if ([presented.thumbprint, presented.sha1Thumbprint].includes(next.thumbprint)) {
      await deletePending(trx, nodeId);
      return false;
    }
    const holders = await listCertificateHolders(trx, next);
    if (holders.some((holder) => holder !== nodeId)) {
      throw conflict('certificate_in_use', 'Another node holds this certificate');
    }
    await replacePending(trx, nodeId, next, now);
    // Said again, because the answer was lost: no change to tell of.
    if (known.some((row) => row.state === 'pending' && row.thumbprint === next.thumbprint)) return true;
    const details = { form: request.announcement.form, thumbprint: next.thumbprint };
    await recordAudit(trx, actor, { action: 'node.certificate_announced', resourceId: nodeId, details });
    return true;
  });
  return { isPending, certificate: next.certificate ?? null };
}

async function readNext(
  options: RotationOptions,
  { nodeId, announcement, wouldChain, now }: RotationRequest,
): Promise<NextCertificate> {
  if (announcement.form === 'thumbprint') {
    const { thumbprint, subject, notAfter } = announcement;
    return { thumbprint, sha1Thumbprint: null, subject, notBefore: 0, notAfter };
  }
  if (announcement.form === 'csr') return issueNext(options, nodeId, announcement.csr, now);
  const chain = parseChain(announcement.certificate);
  if (!wouldChain(chain)) {
    const message = 'The certificate does not chain to the node CA of this server';
    throw forbidden(message, 'certificate_not_trusted');
  }
  return describeCertificate(chain[0]);
}

async function issueNext(
  { database, authority, issuesCertificates }: RotationOptions,
  nodeId: string,
  csr: string,
  now: number,
): Promise<NextCertificate> {
  if (!issuesCertificates) {
    const message = 'This server issues no certificates: rotate to one of its node CA, and send no csr';
    throw invalid('client_certificate_required', message);
  }
  const node = await findAssigned(database.read, nodeId);
  if (!node) throw unauthenticated('The node was deleted just now');
  return issueNodeCertificate(authority, csr, node.fqdn, now);
}
