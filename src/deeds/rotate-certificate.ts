/** Rotation: a node announces its next certificate. The current one works until the first call with the next one. */

import type { Database } from '../db/database.ts';
import { findAssigned } from '../db/nodes.ts';
import { forbidden, invalid, unauthenticated } from '../lib/errors.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { KeyedCertificate } from '../security/certificate-authority.ts';
import {
  type CertificateDescription,
  describeCertificate,
  parseChain,
  requireWithinTerm,
} from '../security/certificates.ts';
import {
  type CertificateRow,
  deletePending,
  listCertificates,
  replacePending,
  requireOwnOrFree,
} from '../security/node-certificates.ts';
import { certificateMaker } from '../security/tls-files.ts';
import { NOT_TRUSTED } from './register-node.ts';

/** How a node says which certificate is its next one. */
export type Announcement =
  | { form: 'thumbprint'; thumbprint: string; subject: string; notAfter: number }
  /** The certificate in PEM; the certificates of its issuers may follow it. */
  | { form: 'certificate'; certificate: string }
  /** A PKCS#10 request in PEM, for which the built-in CA issues the certificate. */
  | { form: 'csr'; csr: string };

export interface RotationRequest {
  nodeId: string;
  /** The certificate of the connection. */
  presented: CertificateDescription;
  announcement: Announcement;
  /** Whether a certificate, with its issuers behind it, chains to the configured node CA. */
  wouldChain: (chain: ReturnType<typeof parseChain>) => boolean;
  actor: Actor;
}

export interface RotationOptions {
  database: Database;
  authority: KeyedCertificate;
  issuesCertificates: boolean;
}

type NextCertificate = CertificateRow & { certificate?: string };

export interface RotationResult {
  /** False when the node has announced its current certificate: then nothing changes. */
  isPending: boolean;
  /** The certificate in PEM, where one was issued for a CSR. */
  certificate: string | undefined;
}

/**
 * Notes the next certificate of a node. To announce the current one takes back an announcement.
 * @throws HawserError invalid (`certificate_expired`, `certificate_not_yet_valid`, `client_certificate_required`,
 *   `validation_failed`), forbidden `certificate_not_trusted`, conflict `certificate_in_use`
 */
export async function announceCertificate(
  options: RotationOptions,
  request: RotationRequest,
): Promise<RotationResult> {
  const next = await readNext(options, request);
  const { nodeId, presented, announcement, actor } = request;
  requireWithinTerm(next, actor.at);
  const isPending = await options.database.write.transaction().execute(async (trx) => {
    const known = await listCertificates(trx, nodeId);
    const current = known.find((row) => row.state === 'current');
    // Another certificate may have come into use after this call was authenticated.
    if (current?.thumbprint !== presented.thumbprint) {
      throw unauthenticated('The certificate is no longer that of the node');
    }
    if ([presented.thumbprint, presented.sha1Thumbprint].includes(next.thumbprint)) {
      await deletePending(trx, nodeId);
      return false;
    }
    await requireOwnOrFree(trx, nodeId, next);
    await replacePending(trx, nodeId, next, actor.at);
    // A node that did not get the answer announces the same certificate again. That is no change to record.
    if (known.some((row) => row.state === 'pending' && row.thumbprint === next.thumbprint)) return true;
    const details = { form: announcement.form, thumbprint: next.thumbprint };
    await recordAudit(trx, actor, { action: 'node.certificate_announced', resourceId: nodeId, details });
    return true;
  });
  return { isPending, certificate: next.certificate };
}

async function readNext(
  options: RotationOptions,
  { nodeId, announcement, wouldChain, actor }: RotationRequest,
): Promise<NextCertificate> {
  if (announcement.form === 'thumbprint') {
    const { thumbprint, subject, notAfter } = announcement;
    return { thumbprint, sha1Thumbprint: null, subject, notBefore: 0, notAfter };
  }
  if (announcement.form === 'csr') return issueNext(options, nodeId, announcement.csr, actor.at);
  const chain = parseChain(announcement.certificate);
  if (!wouldChain(chain)) throw forbidden(NOT_TRUSTED, 'certificate_not_trusted');
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
  return (await certificateMaker()).issueNodeCertificate(authority, csr, node.fqdn, now);
}
