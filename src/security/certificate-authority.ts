/**
 * The built-in certificate authority: its own certificate, the server's, and nodes' from their requests.
 * Keys and certificates are PEM text throughout, times are epoch milliseconds.
 */

import '../lib/reflect.ts';
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  webcrypto,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import * as x509 from '@peculiar/x509';
import { DAY, MINUTE } from '../lib/clock.ts';
import { type HawserError, invalid, invalidField } from '../lib/errors.ts';
import { type CertificateDescription, describeCertificate } from './certificates.ts';

/** A certificate with the private key that belongs to it (PKCS#8). */
export interface KeyedCertificate {
  certificate: string;
  key: string;
}

/** What a node receives: its certificate as PEM, and the description that is pinned. */
export interface IssuedCertificate extends CertificateDescription {
  certificate: string;
}

const AUTHORITY_LIFETIME = 10 * 365 * DAY;
const SERVER_LIFETIME = 397 * DAY;
const NODE_LIFETIME = 90 * DAY;
/** Certificates begin a little in the past, so that a node whose clock is behind takes them at once. */
const CLOCK_SKEW = 5 * MINUTE;

const MAX_REQUEST_BYTES = 16 * 1024;
const REQUEST_PEM =
  /^\s*-----BEGIN (NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END \1?CERTIFICATE REQUEST-----\s*$/;
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;
/** Larger exponents than 32 bits buy nothing and make every handshake of that node slow. */
const MAX_RSA_EXPONENT = 2n ** 32n;
/** For the administrator's own lists: the parser's limits are meant for strangers, and a fleet's list exceeds them. */
export const UNLIMITED = { berOptions: { maxNodes: Infinity, maxContentLength: Infinity } };
/** A first label may be a wildcard. */
const HOST_NAME = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;
const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/**
 * Makes the authority: ECDSA P-256, self-signed, ten years. With `key` (PKCS#8 PEM, P-256) it certifies that
 * key again instead of a new one, so that what the key has signed before stays valid.
 */
export async function createAuthority(now: number, key = newKey()): Promise<KeyedCertificate> {
  const publicKey = publicKeyOf(key);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: commonName('Hawser CA'),
    issuer: commonName('Hawser CA'),
    notBefore: new Date(now - CLOCK_SKEW),
    notAfter: new Date(now + AUTHORITY_LIFETIME),
    publicKey,
    signingKey: await importSigningKey(key),
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return { certificate: toPem(certificate), key };
}

/**
 * Issues the server's certificate with a fresh P-256 key.
 * @param names host names and IP addresses, at least one; `invalid_tls_name` for what is neither.
 */
export async function issueServerCertificate(
  ca: KeyedCertificate,
  names: readonly string[],
  now: number,
): Promise<KeyedCertificate> {
  const key = newKey();
  const certificate = await issueLeaf(ca, {
    subject: names.find((name) => isIP(name) === 0) ?? 'Hawser',
    names,
    usage: x509.ExtendedKeyUsage.serverAuth,
    publicKey: publicKeyOf(key),
    now,
    lifetime: SERVER_LIFETIME,
  });
  return { certificate, key };
}

/**
 * Issues a node's certificate for the key in its PKCS#10 request. The request proves possession of the key
 * and nothing else: the name is the one the caller has checked, whatever subject or extensions it asks for.
 * @param csrPem one `CERTIFICATE REQUEST` block of at most 16 KiB.
 * @throws HawserError `validation_failed`, in it `invalid_csr`
 */
export async function issueNodeCertificate(
  ca: KeyedCertificate,
  csrPem: string,
  fqdn: string,
  now: number,
): Promise<IssuedCertificate> {
  const publicKey = await provenKeyOf(csrPem);
  const certificate = await issueLeaf(ca, {
    subject: fqdn,
    names: [fqdn],
    usage: x509.ExtendedKeyUsage.clientAuth,
    publicKey,
    now,
    lifetime: NODE_LIFETIME,
  });
  return { certificate, ...describeCertificate(new X509Certificate(certificate)) };
}

/** Whether the certificate (PEM) carries exactly these names, in any order. */
export function hasNames(certificate: string, names: readonly string[]): boolean {
  const present = new x509.X509Certificate(certificate).getExtension(x509.SubjectAlternativeNameExtension);
  return present?.equal(toAlternativeNames(names)) ?? false;
}

/** When the issuer promised the next revocation list (PEM); null if that is not said or not readable here. */
export function nextUpdateOf(crl: string): number | null {
  try {
    return new x509.X509Crl(crl, UNLIMITED).nextUpdate?.getTime() ?? null;
  } catch {
    return null;
  }
}

interface Leaf {
  subject: string;
  names: readonly string[];
  usage: x509.ExtendedKeyUsage;
  publicKey: x509.PublicKey;
  now: number;
  lifetime: number;
}

async function issueLeaf(ca: KeyedCertificate, leaf: Leaf): Promise<string> {
  const issuer = new x509.X509Certificate(ca.certificate);
  // A certificate that outlives its issuer would fail in the middle of its own term.
  const notAfter = Math.min(leaf.now + leaf.lifetime, issuer.notAfter.getTime());
  const certificate = await x509.X509CertificateGenerator.create({
    subject: commonName(leaf.subject),
    issuer: issuer.subjectName,
    notBefore: new Date(leaf.now - CLOCK_SKEW),
    notAfter: new Date(notAfter),
    publicKey: leaf.publicKey,
    signingKey: await importSigningKey(ca.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([leaf.usage]),
      toAlternativeNames(leaf.names),
      await x509.SubjectKeyIdentifierExtension.create(leaf.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return toPem(certificate);
}

/** The public key of a request whose signature it has made itself, re-encoded by OpenSSL. */
async function provenKeyOf(csrPem: string): Promise<x509.PublicKey> {
  const request = parseRequest(csrPem);
  const key = readPublicKey(request);
  // Strength first: verifying with an oversized key is the expensive step.
  checkStrength(key);
  if (!(await verifies(request))) throw invalidRequest('its signature does not match its key');
  return new x509.PublicKey(key.export({ type: 'spki', format: 'der' }));
}

function parseRequest(csrPem: string): x509.Pkcs10CertificateRequest {
  if (Buffer.byteLength(csrPem) > MAX_REQUEST_BYTES) throw invalidRequest('it is larger than 16 KiB');
  const base64 = REQUEST_PEM.exec(csrPem)?.[2];
  if (base64 === undefined) throw invalidRequest('it is not one PEM block of type CERTIFICATE REQUEST');
  try {
    return new x509.Pkcs10CertificateRequest(Buffer.from(base64, 'base64'));
  } catch {
    throw invalidRequest('it is not a PKCS#10 certificate request');
  }
}

function readPublicKey(request: x509.Pkcs10CertificateRequest): KeyObject {
  try {
    return createPublicKey({ key: Buffer.from(request.publicKey.rawData), type: 'spki', format: 'der' });
  } catch {
    throw invalidRequest('its public key cannot be read');
  }
}

function checkStrength(key: KeyObject): void {
  const { modulusLength = 0, publicExponent = 0n, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa') {
    if (modulusLength < MIN_RSA_BITS || modulusLength > MAX_RSA_BITS) {
      throw invalidRequest(
        `its RSA key has ${modulusLength} bits, allowed are ${MIN_RSA_BITS} to ${MAX_RSA_BITS}`,
      );
    }
    if (publicExponent < 3n || publicExponent > MAX_RSA_EXPONENT) {
      throw invalidRequest('its RSA key has an unusual public exponent');
    }
  } else if (key.asymmetricKeyType === 'ec') {
    if (!CURVES.has(namedCurve)) throw invalidRequest('its curve is none of P-256, P-384 and P-521');
  } else if (key.asymmetricKeyType !== 'ed25519') {
    throw invalidRequest('its key is none of RSA, ECDSA and Ed25519');
  }
}

async function verifies(request: x509.Pkcs10CertificateRequest): Promise<boolean> {
  try {
    return await request.verify();
  } catch {
    return false; // an algorithm that is unknown, or does not go with the key
  }
}

function invalidRequest(fault: string): HawserError {
  return invalidField('/csr', `The certificate request is refused: ${fault}.`, 'invalid_csr');
}

/** Sorted and without repetition, so that equal sets of names have equal encodings. */
function toAlternativeNames(names: readonly string[]): x509.SubjectAlternativeNameExtension {
  const unique = [...new Set(names.map(toAsciiName))].sort();
  return new x509.SubjectAlternativeNameExtension(
    unique.map((name) => ({ type: isIP(name) === 0 ? 'dns' : 'ip', value: name })),
  );
}

function toAsciiName(name: string): string {
  const lower = name.toLowerCase();
  // An address with a zone (fe80::1%eth0) means something on one machine only and has no encoding here.
  if (isIP(lower) !== 0 && !lower.includes('%')) return lower;
  if (HOST_NAME.test(lower)) return lower;
  // Line breaks and tabs are refused here, because the conversion would drop them without a word.
  const ascii = /[\s\p{Cc}]/u.test(lower) ? '' : domainToASCII(lower);
  if (!HOST_NAME.test(ascii)) {
    throw invalid('invalid_tls_name', `'${name}' is neither a host name nor an IP address.`);
  }
  return ascii;
}

/** Built from parts, never parsed from text: a name cannot smuggle in another attribute. */
function commonName(value: string): x509.Name {
  return new x509.Name([{ CN: [{ utf8String: value }] }]);
}

function newKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();
}

function publicKeyOf(key: string): x509.PublicKey {
  return new x509.PublicKey(createPublicKey(key).export({ type: 'spki', format: 'der' }));
}

function importSigningKey(key: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']);
}

function toPem(certificate: x509.X509Certificate): string {
  return `${certificate.toString('pem').trim()}\n`;
}
