/** The PEM files that the settings name: the server's certificate, and the authorities of node certificates. */

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { type HawserError, invalid } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { KeyedCertificate } from './certificate-authority.ts';
import { describeCertificate, isWithinTerm, splitCertificates, splitCrls } from './certificates.ts';
import type { PathValidator } from './certification-path.ts';

export interface TlsSettings {
  /** `HAWSER_TLS_CERT` and `HAWSER_TLS_KEY`. With both null the built-in authority makes the certificate. */
  certFile: string | null;
  keyFile: string | null;
  /** `HAWSER_NODE_CA` and `HAWSER_NODE_CRL`. A list without an authority is refused. */
  nodeCaFile: string | null;
  nodeCrlFile: string | null;
  /** Epoch milliseconds. */
  now: number;
  log: Log;
}

export interface NodeTrust {
  /** PEM of the authorities to which node certificates must chain; null when fingerprints alone decide. */
  nodeCa: string | null;
  /** PEM of their revocation lists; null when there are none. */
  nodeCrl: string | null;
  /** Makes what judges the certificates that proxies pass on. It is null if and only if `nodeCa` is. */
  newValidator: (() => PathValidator) | null;
}

/**
 * Reads and checks the certificate and key that the operator gives.
 * @throws HawserError `invalid_tls_setting`, one line that names the setting and never shows the content
 */
export async function loadGivenCertificate({
  certFile,
  keyFile,
  now,
  log,
}: TlsSettings): Promise<KeyedCertificate> {
  if (certFile === null) throw badSetting('HAWSER_TLS_CERT', 'missing while HAWSER_TLS_KEY is set');
  if (keyFile === null) throw badSetting('HAWSER_TLS_KEY', 'missing while HAWSER_TLS_CERT is set');
  const certificate = await readSetting('HAWSER_TLS_CERT', certFile);
  const key = await readSetting('HAWSER_TLS_KEY', keyFile);
  const [leaf] = parseCertificates('HAWSER_TLS_CERT', certificate);
  const privateKey = parseKey(key);
  if (!leaf.checkPrivateKey(privateKey)) {
    throw badSetting('HAWSER_TLS_KEY', 'the key does not belong to the first certificate in HAWSER_TLS_CERT');
  }
  tryContext('HAWSER_TLS_CERT', { cert: certificate, key });
  if (!isWithinTerm(describeCertificate(leaf), now)) {
    const { subject } = describeCertificate(leaf);
    log.warn({ subject }, 'the certificate in HAWSER_TLS_CERT is not valid now');
  }
  // The permissions are not changed: the file may be mounted read-only, or shared with a group on purpose.
  if (((await stat(keyFile)).mode & 0o007) !== 0) {
    log.warn('the file in HAWSER_TLS_KEY can be read by every user of this machine');
  }
  return { certificate, key };
}

/**
 * Refuses a certificate that is not valid now, in place of one that is. A start takes it, because it has no better one.
 * @throws HawserError `invalid_tls_setting`
 */
export function refuseOutOfTerm(
  next: KeyedCertificate | null,
  served: KeyedCertificate | null,
  now: number,
): void {
  if (next === null || served === null) return;
  const [term, before] = [next, served].map((each) =>
    describeCertificate(new X509Certificate(each.certificate)),
  );
  if (term === undefined || before === undefined) return;
  if (isWithinTerm(term, now) || !isWithinTerm(before, now)) return;
  const [from, to] = [term.notBefore, term.notAfter].map((time) => new Date(time).toISOString());
  throw badSetting('HAWSER_TLS_CERT', `the certificate is valid from ${from} to ${to} only, and not now`);
}

/** @throws HawserError `invalid_tls_setting` */
export async function loadNodeTrust(settings: TlsSettings): Promise<NodeTrust> {
  const { nodeCaFile, nodeCrlFile } = settings;
  if (nodeCaFile === null) {
    if (nodeCrlFile !== null) throw badSetting('HAWSER_NODE_CRL', 'has no effect without HAWSER_NODE_CA');
    return { nodeCa: null, nodeCrl: null, newValidator: null };
  }
  const nodeCa = await readSetting('HAWSER_NODE_CA', nodeCaFile);
  if (!parseCertificates('HAWSER_NODE_CA', nodeCa).every((certificate) => certificate.ca)) {
    throw badSetting('HAWSER_NODE_CA', 'holds a certificate that is not one of an authority');
  }
  const nodeCrl = nodeCrlFile === null ? null : await loadRevocations(nodeCrlFile, settings);
  // Without a node CA nobody needs it, and loading it takes a tenth of a second.
  const { PathValidator } = await import('./certification-path.ts');
  return { nodeCa, nodeCrl, newValidator: () => new PathValidator({ nodeCa, nodeCrl }) };
}

async function loadRevocations(path: string, { now, log }: TlsSettings): Promise<string> {
  const nodeCrl = await readSetting('HAWSER_NODE_CRL', path);
  const lists = splitCrls(nodeCrl);
  if (lists.length === 0) throw badSetting('HAWSER_NODE_CRL', 'holds no revocation list in PEM form');
  tryContext('HAWSER_NODE_CRL', { crl: lists });
  if (((await earliestUpdate(nodeCrl)) ?? Number.POSITIVE_INFINITY) < now) {
    log.error('a list in HAWSER_NODE_CRL is past its next update: nodes under its issuer are refused');
  }
  return nodeCrl;
}

/**
 * When the first of the revocation lists (PEM) must be replaced, in epoch milliseconds. Null means that there is none, or
 * none that says it.
 */
export async function earliestUpdate(nodeCrl: string | null): Promise<number | null> {
  if (nodeCrl === null) return null;
  const { nextUpdateOf } = await import('./certificate-authority.ts');
  const updates = splitCrls(nodeCrl).map((list) => nextUpdateOf(list) ?? Number.POSITIVE_INFINITY);
  const earliest = Math.min(...updates);
  return Number.isFinite(earliest) ? earliest : null;
}

/** Lets OpenSSL check what parsing does not, such as the strength of a key. */
function tryContext(setting: string, options: SecureContextOptions): void {
  try {
    createSecureContext(options);
  } catch (error) {
    const reason = (error as { reason?: string }).reason ?? 'cannot be read';
    throw badSetting(setting, `OpenSSL refuses it: ${reason}`);
  }
}

function parseCertificates(setting: string, pem: string): [X509Certificate, ...X509Certificate[]] {
  try {
    const [first, ...others] = splitCertificates(pem).map((block) => new X509Certificate(block));
    if (first) return [first, ...others];
  } catch {
    throw badSetting(setting, 'holds a certificate that cannot be read');
  }
  throw badSetting(setting, 'holds no certificate in PEM form');
}

function parseKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    const encrypted = /^(?:-----BEGIN ENCRYPTED |Proc-Type: 4,ENCRYPTED)/m.test(pem);
    const fault = encrypted
      ? 'the key is encrypted, allowed is one without a passphrase'
      : 'holds no private key in PEM form';
    throw badSetting('HAWSER_TLS_KEY', fault);
  }
}

/** The message is one line, and never contains a part of the file. */
function badSetting(name: string, fault: string): HawserError {
  return invalid('invalid_tls_setting', `${name}: ${fault}`);
}

async function readSetting(name: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw badSetting(name, `the file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}
