/** Registration: a key and a certificate make a node, or bring a known one back. */

import type { Database, Db } from '../../db/open.ts';
import { normalizeHostName } from '../../domain/names.ts';
import { conflict, forbidden, HawserError, invalid, invalidField } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { issueNodeCertificate, type KeyedCertificate } from '../../security/certificate-authority.ts';
import { pinCertificate } from '../../security/pending-certificates.ts';
import { countUse, findKeyBySecret, type RegistrationKeyRow } from '../registration-keys/queries.ts';
import { type CertificateRow, hasAnnounced, listCertificateHolders } from './certificate-queries.ts';
import { findNodeByFqdn, insertNode, type ReportedSettings, updateReported } from './queries.ts';
import { KeyRejected, noteRefusal } from './registration-refusal.ts';

export interface RegistrationRequest {
  registrationKey: string;
  fqdn: string;
  settings: ReportedSettings;
  /** PKCS#10 in PEM: the built-in CA issues the certificate. */
  csr: string | null;
  /** Certificate of the connection, and whether the configured node CA stands behind it. */
  certificate: (CertificateRow & { isTrusted: boolean }) | null;
  actor: Actor;
  now: number;
}

export interface RegistrationResult {
  nodeId: string;
  /** PEM, when it was issued for a CSR. */
  certificate: string | null;
}

export interface RegistrationOptions {
  database: Database;
  authority: KeyedCertificate;
  log: Log;
  /** With a node CA of the operator's own, certificates of the built-in CA would be refused at every call. */
  issuesCertificates: boolean;
  /** Told of each registration why it was refused, in a few fixed words; null when it was not. */
  onRegistration(refusal: string | null): void;
}

/**
 * Every refusal is logged and recorded in the audit trail, with its reason.
 * @throws HawserError invalid (`client_certificate_required`, `certificate_expired`, `validation_failed`), forbidden
 *   `registration_key_rejected`, conflict (`certificate_in_use`, `node_exists`)
 */
export async function registerNode(
  options: RegistrationOptions,
  request: RegistrationRequest,
): Promise<RegistrationResult> {
  const fqdn = normalizeHostName(request.fqdn);
  try {
    if (fqdn === null) throw invalidField('/fqdn', 'Not a host name', 'invalid_host_name');
    const result = await register(options, request, fqdn);
    options.onRegistration(null);
    return result;
  } catch (error) {
    if (error instanceof HawserError) await noteRefusal(options, request.actor, fqdn, error);
    throw error;
  }
}

async function register(
  options: RegistrationOptions,
  request: RegistrationRequest,
  fqdn: string,
): Promise<RegistrationResult> {
  const { database } = options;
  if (request.csr === null) checkPresented(request);
  else if (!options.issuesCertificates) throw certificateRequired(NOT_ISSUING);
  // Before anything is signed for a stranger; the transaction below asks again.
  await requireGoodKey(database.read, request);
  const issued =
    request.csr === null
      ? null
      : await issueNodeCertificate(options.authority, request.csr, fqdn, request.now);
  const certificate = issued ?? request.certificate;
  if (certificate === null) throw certificateRequired('Connect with a client certificate, or send a csr');
  const nodeId = await database.write.transaction().execute((trx) => admit(trx, request, fqdn, certificate));
  const { requestId, address } = request.actor;
  options.log.info(
    { requestId, nodeId, fqdn, address, thumbprint: certificate.thumbprint },
    'node registered',
  );
  return { nodeId, certificate: issued?.certificate ?? null };
}

const NOT_ISSUING = 'This server issues no certificates: connect with one of its node CA, and send no csr';

const certificateRequired = (message: string) => invalid('client_certificate_required', message);

function checkPresented({ certificate, now }: RegistrationRequest): void {
  if (certificate === null) throw certificateRequired('Connect with a client certificate, or send a csr');
  if (certificate.notAfter <= now) throw invalid('certificate_expired', 'The client certificate has expired');
  if (!certificate.isTrusted) {
    throw forbidden(
      'The certificate does not chain to the node CA of this server',
      'certificate_not_trusted',
    );
  }
}

/** The node's id; the key's use is counted in the same transaction, so `maxUses` holds under concurrency. */
async function admit(
  trx: Db,
  request: RegistrationRequest,
  fqdn: string,
  certificate: CertificateRow,
): Promise<string> {
  const key = await requireGoodKey(trx, request);
  const known = await findNodeByFqdn(trx, fqdn);
  const holders = await listCertificateHolders(trx, certificate);
  if (holders.some((holder) => holder !== known?.id)) {
    throw conflict('certificate_in_use', 'Another node holds this certificate');
  }
  // With the one that it is about to rotate to, the node is the one it was too.
  if (known && (holders.length > 0 || (await hasAnnounced(trx, known.id, certificate, request.now)))) {
    await updateReported(trx, known.id, request.settings);
    return known.id;
  }
  if (known && key.allow_reregistration !== 1) {
    throw conflict('node_exists', 'A node of this name is registered with another certificate');
  }
  const nodeId = known?.id ?? newId();
  if (known) await updateReported(trx, nodeId, request.settings);
  else await insertNode(trx, { id: nodeId, fqdn, now: request.now, settings: request.settings });
  await pinCertificate(trx, nodeId, certificate, request.now);
  await countUse(trx, key.id);
  const details = { fqdn, registrationKeyId: key.id, thumbprint: certificate.thumbprint };
  const action = known ? 'node.reregistered' : 'node.registered';
  await recordAudit(trx, request.actor, { action, resourceId: nodeId, details });
  return nodeId;
}

async function requireGoodKey(db: Db, request: RegistrationRequest): Promise<RegistrationKeyRow> {
  const key = await findKeyBySecret(db, request.registrationKey);
  if (!key) throw new KeyRejected('unknown');
  if (key.revoked_at !== null) throw new KeyRejected('revoked');
  if (key.expires_at <= request.now) throw new KeyRejected('expired');
  if (key.max_uses !== null && key.current_uses >= key.max_uses) throw new KeyRejected('used up');
  return key;
}
