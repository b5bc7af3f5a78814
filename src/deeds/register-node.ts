/**
 * Registration: with a registration key and a certificate a node becomes known, or a known one is recognised. A refused
 * registration leaves a line in the log and an entry in the audit trail, with its reason.
 */

import { countAttempt } from '../db/accounts.ts';
import type { Db } from '../db/database.ts';
import { findNodeByFqdn, insertNode, type ReportedSettings, updateReported } from '../db/nodes.ts';
import {
  findKeyBySecret,
  hasRegisteredBy,
  noteUse,
  profileOf,
  type RegistrationKeyRow,
} from '../db/registration-keys.ts';
import { matchesName } from '../domain/name-patterns.ts';
import { normalizeHostName } from '../domain/names.ts';
import { MINUTE } from '../lib/clock.ts';
import { conflict, forbidden, HawserError, invalid, invalidField } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { sourceOf } from '../lib/source-address.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import { bindWithin, isExpected, type ShownCertificate } from '../security/awaiting-certificates.ts';
import type { KeyedCertificate } from '../security/certificate-authority.ts';
import { requireWithinTerm } from '../security/certificates.ts';
import { type CertificateRow, hasAnnounced, requireOwnOrFree } from '../security/node-certificates.ts';
import { pinCertificate } from '../security/pending-certificates.ts';
import { certificateMaker } from '../security/tls-files.ts';
import type { AssignmentTools } from './assign.ts';
import { applyPlan, type JoiningPlan, ProfileFault, whileJoining } from './joining.ts';

export interface RegistrationRequest {
  registrationKey: string;
  fqdn: string;
  settings: ReportedSettings;
  /** A PKCS#10 request in PEM, for which the built-in CA issues the certificate. */
  csr: string | null;
  /** The certificate of the connection, and whether it chains to the configured node CA. */
  certificate: (ShownCertificate & { isTrusted: boolean }) | null;
  actor: Actor;
}

export interface RegistrationResult {
  nodeId: string;
  /** The certificate in PEM, where one was issued for a CSR. */
  certificate: string | null;
}

export interface RegistrationOptions extends AssignmentTools {
  authority: KeyedCertificate;
  log: Log;
  /** False where the operator has configured a node CA, which would refuse certificates of the built-in CA. */
  issuesCertificates: boolean;
  /** Called after each registration with the reason of its refusal, one of a few fixed texts, or null. */
  onRegistration(refusal: string | null): void;
}

/**
 * Registers a node. Every refusal is logged and recorded in the audit trail, with its reason.
 * @throws HawserError invalid (`client_certificate_required`, `certificate_expired`, `certificate_not_yet_valid`,
 *   `validation_failed`), forbidden `registration_key_rejected`, conflict (`certificate_in_use`, `node_exists`)
 */
export async function registerNode(
  options: RegistrationOptions,
  request: RegistrationRequest,
): Promise<RegistrationResult> {
  const fqdn = normalizeHostName(request.fqdn);
  try {
    if (fqdn === null) throw invalidField('/fqdn', faultOfName(request.fqdn), 'invalid_host_name');
    const result = await register(options, request, fqdn);
    options.onRegistration(null);
    return result;
  } catch (error) {
    if (error instanceof HawserError) await recordRefusal(options, request.actor, fqdn, error);
    throw error;
  }
}

/** Why the name is no host name, as a sentence. */
export function faultOfName(name: string): string {
  const rule = 'Not a host name: labels of letters, digits, hyphens and underscores, with dots between them';
  const isAscii = /^\p{ASCII}*$/u.test(name);
  return isAscii ? rule : 'Not a host name in ASCII: write it in punycode, such as xn--bcher-kva.example';
}

async function register(
  options: RegistrationOptions,
  request: RegistrationRequest,
  fqdn: string,
): Promise<RegistrationResult> {
  const { database, authority, log, issuesCertificates } = options;
  const { csr, actor } = request;
  if (csr === null) checkPresented(request);
  else if (!issuesCertificates) throw certificateRequired(NOT_ISSUING);
  // No certificate may be signed without a valid key. The transaction below checks the key again.
  const key = await requireUsableKey(database.read, request, fqdn);
  const knownId = (await findNodeByFqdn(database.read, fqdn))?.id ?? null;
  return orRejected(() =>
    whileJoining(options, { key, fqdn, knownId }, async (plan) => {
      const issued =
        csr === null
          ? null
          : await (await certificateMaker()).issueNodeCertificate(authority, csr, fqdn, actor.at);
      const certificate = issued ?? request.certificate;
      if (certificate === null) throw certificateRequired(CONNECT_OR_SEND);
      const { nodeId, isPinned } = await database.write
        .transaction()
        .execute((trx) => storeRegistration(trx, request, { fqdn, certificate, plan }));
      if (isPinned) database.nodeLookup.noteEnded(nodeId, certificate.thumbprint);
      const { requestId, address } = actor;
      log.info({ requestId, nodeId, fqdn, address, thumbprint: certificate.thumbprint }, 'node registered');
      return { nodeId, certificate: issued?.certificate ?? null };
    }),
  );
}

/** A key that cannot give what it was made to give is no good. */
async function orRejected<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProfileFault) throw new KeyRejected('with a profile at fault', error.message);
    throw error;
  }
}

const CONNECT_OR_SEND = 'Connect with a client certificate, or send a csr';
/** The codes with which a certificate is refused, at registration and at rotation. */
export const CERTIFICATE_PROBLEMS = [
  'client_certificate_required',
  'certificate_expired',
  'certificate_not_yet_valid',
  'certificate_not_trusted',
  'certificate_in_use',
] as const;

/** The message for a certificate that the configured node CA did not issue. */
export const NOT_TRUSTED = 'The certificate does not chain to the node CA of this server';
const NOT_ISSUING = 'This server issues no certificates: connect with one of its node CA, and send no csr';

const certificateRequired = (message: string) => invalid('client_certificate_required', message);

function checkPresented({ certificate, actor }: RegistrationRequest): void {
  if (certificate === null) throw certificateRequired(CONNECT_OR_SEND);
  requireWithinTerm(certificate, actor.at);
  if (!certificate.isTrusted) throw forbidden(NOT_TRUSTED, 'certificate_not_trusted');
}

/**
 * Stores the node and its certificate. The use of the key is counted in the same transaction, so `maxUses` holds when
 * several nodes register at once.
 * @returns the node's id, and whether this is its only certificate from now on
 */
async function storeRegistration(
  trx: Db,
  request: RegistrationRequest,
  { fqdn, certificate, plan }: { fqdn: string; certificate: CertificateRow; plan: JoiningPlan },
): Promise<{ nodeId: string; isPinned: boolean }> {
  const { settings, actor } = request;
  const key = await requireUsableKey(trx, request, fqdn);
  const known = await findNodeByFqdn(trx, fqdn);
  const isOwn = await requireOwnOrFree(trx, known?.id, certificate);
  // A node that has announced this certificate for its rotation is recognised by it too.
  const isKnown =
    known !== undefined &&
    (isOwn ||
      (await hasAnnounced(trx, known.id, certificate, actor.at)) ||
      (await bindShown(trx, known.id, request)));
  if (known && isKnown) {
    await updateReported(trx, known.id, settings);
    return { nodeId: known.id, isPinned: false };
  }
  const isNew = known === undefined || (await isExpected(trx, known.id));
  if (!isNew && key.allow_reregistration !== 1) {
    throw conflict('node_exists', 'A node of this name is registered with another certificate');
  }
  const nodeId = known?.id ?? newId();
  if (known) await updateReported(trx, nodeId, settings);
  else await insertNode(trx, { id: nodeId, fqdn, now: actor.at, settings });
  await pinCertificate(trx, nodeId, certificate, actor.at);
  await noteUse(trx, key.id, nodeId, actor.at);
  const details = { fqdn, thumbprint: certificate.thumbprint };
  const joiner = { ...actor, registrationKeyId: key.id };
  const action = isNew ? 'node.registered' : 'node.reregistered';
  await recordAudit(trx, joiner, { action, resourceId: nodeId, details });
  if (isNew) await applyPlan(trx, joiner, nodeId, plan);
  return { nodeId, isPinned: true };
}

/** A node that came from another server may register before it calls, and then this is its first call. */
async function bindShown(
  trx: Db,
  nodeId: string,
  { csr, certificate, actor: { requestId, address, at: now } }: RegistrationRequest,
): Promise<boolean> {
  // With a request for a certificate the node asks for another one than it has.
  if (csr !== null || certificate === null) return false;
  return bindWithin(trx, nodeId, certificate, { requestId, address, now });
}

/** Whether the node has registered by this key with this certificate before. It may never have got the answer. */
async function isRepeated(
  db: Db,
  keyId: string,
  { csr, certificate }: RegistrationRequest,
  fqdn: string,
): Promise<boolean> {
  if (csr !== null || certificate === null) return false;
  return hasRegisteredBy(db, keyId, fqdn, certificate.thumbprint);
}

async function requireUsableKey(
  db: Db,
  request: RegistrationRequest,
  fqdn: string,
): Promise<RegistrationKeyRow> {
  const key = await findKeyBySecret(db, request.registrationKey);
  if (!key) throw new KeyRejected('unknown');
  if (key.revoked_at !== null) throw new KeyRejected('revoked');
  if (key.expires_at <= request.actor.at) throw new KeyRejected('expired');
  const isUsedUp = key.max_uses !== null && key.current_uses >= key.max_uses;
  if (isUsedUp && !(await isRepeated(db, key.id, request, fqdn))) throw new KeyRejected('used up');
  const pattern = profileOf(key)?.fqdnPattern ?? null;
  if (pattern !== null && !matchesName(pattern, fqdn)) throw new KeyRejected('for other names');
  return key;
}

type Rejection =
  | 'unknown'
  | 'revoked'
  | 'expired'
  | 'used up'
  | 'for other names'
  | 'with a profile at fault';

/** Its reason goes to the log and the audit trail only. The answer is the same for all reasons. */
class KeyRejected extends HawserError {
  readonly reason: string;
  /** What is at fault, for those who made the key. */
  readonly fault: string | null;

  constructor(reason: Rejection, fault: string | null = null) {
    super('forbidden', 'registration_key_rejected', 'The registration key is not accepted');
    this.reason = `registration key ${reason}`;
    this.fault = fault;
  }
}

/** Audit entries per address (IPv6: /64) and window, so that a flood of refusals does not fill the disk. */
const MAX_ENTRIES_PER_WINDOW = 100;
const WINDOW = MINUTE;

/** @param fqdn null where the request had no valid host name; that text is not recorded, since it may be a key */
async function recordRefusal(
  { database, log, onRegistration }: RegistrationOptions,
  actor: Actor,
  fqdn: string | null,
  error: HawserError,
): Promise<void> {
  const { address, requestId } = actor;
  const reason = error instanceof KeyRejected ? error.reason : reasonOf(error);
  const why = { reason, ...(error instanceof KeyRejected && error.fault !== null && { fault: error.fault }) };
  log.warn({ requestId, fqdn, address, ...why }, 'registration refused');
  onRegistration(reason);
  const source = `registration ${sourceOf(address ?? '')}`;
  await database.write.transaction().execute(async (trx) => {
    const { attempts } = await countAttempt(trx, source, actor.at, WINDOW);
    if (attempts > MAX_ENTRIES_PER_WINDOW) return;
    const last = attempts === MAX_ENTRIES_PER_WINDOW ? { furtherNotRecorded: true } : {};
    const details = { fqdn, ...why, ...last };
    await recordAudit(trx, actor, { action: 'node.registration_refused', resourceId: null, details });
  });
}

/** Where a field is invalid, its code says more than that of the whole request. */
function reasonOf({ code, data }: HawserError): string {
  const [fault] = (data['errors'] as { code: string }[] | undefined) ?? [];
  return fault?.code ?? code;
}
