/**
 * The built-in certificate authority. It makes its own certificate, the server's, and those of nodes from their requests.
 * Keys and certificates are PEM text, and times are epoch milliseconds.
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
import * as x509 from '@peculiar/x509';
import { DAY, MINUTE } from '../lib/clock.ts';
import { type HawserError, invalidField } from '../lib/errors.ts';
import { toAsciiName } from './certificate-names.ts';
import { type CertificateDescription, describeCertificate } from './certificates.ts';

/** A certificate and its private key (PKCS#8). */
export interface KeyedCertificate {
  certificate: string;
  key: string;
}

/** The certificate for a node as PEM, and its description, which is stored. */
export interface IssuedCertificate extends CertificateDescription {
  certificate: string;
}

const AUTHORITY_LIFETIME = 10 * 365 * DAY;
const SERVER_LIFETIME = 397 * DAY;
const NODE_LIFETIME = 90 * DAY;
/** Certificates start a little in the past, so that a node whose clock is behind accepts them at once. */
const CLOCK_SKEW = 5 * MINUTE;

const MAX_REQUEST_BYTES = 16 * 1024;
const REQUEST_PEM =
  /^\s*-----BEGIN (NEW )?CERTIFICATE REQUEST-----([A-Za-z0-9+/=\s]+)-----END \1?CERTIFICATE REQUEST-----\s*$/;
const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;
/** An exponent of more than 32 bits has no benefit, and makes every handshake of the node slow. */
const MAX_RSA_EXPONENT = 2n ** 32n;
/** For the operator's own revocation lists. The limits of the parser are for strangers, and too low for a large list. */
export const UNLIMITED = { berOptions: { maxNodes: Infinity, maxContentLength: Infinity } };
const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

/**
 * Makes the authority: ECDSA P-256, self-signed, valid for ten years.
 * @param key an older P-256 key (PKCS#8 PEM) that is certified again, so that what it has signed stays valid
 */
export async function createAuthority(now: number, key = newKey()): Promise<KeyedCertificate> {
  const name = commonName('Hawser CA');
  const certificate = await sign(key, {
    ...{ subject: name, issuer: name, publicKey: publicKeyOf(key) },
    ...{ notBefore: now - CLOCK_SKEW, notAfter: now + AUTHORITY_LIFETIME },
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ],
  });
  return { certificate, key };
}

/**
 * Issues the server's certificate with a fresh P-256 key.
 * @param names at least one host name or IP address
 * @throws HawserError `invalid_tls_name` for a name that is neither
 */
export async function issueServerCertificate(
  ca: KeyedCertificate,
  names: readonly string[],
  now: number,
): Promise<KeyedCertificate> {
  const key = newKey();
  const certificate = await issueLeaf(ca, {
    subject: names.find((name) => isIP(name) === 0) ?? 'Hawser',
    ...{ names, usage: x509.ExtendedKeyUsage.serverAuth, publicKey: publicKeyOf(key) },
    ...{ now, lifetime: SERVER_LIFETIME },
  });
  return { certificate, key };
}

/**
 * Issues a node's certificate for the key in its PKCS#10 request. The request only proves that the node has the key: its
 * subject and extensions are ignored.
 * @param csrPem one `CERTIFICATE REQUEST` block of at most 16 KiB
 * @param fqdn the name of the node, which the caller has checked
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
    ...{ subject: fqdn, names: [fqdn], usage: x509.ExtendedKeyUsage.clientAuth, publicKey },
    ...{ now, lifetime: NODE_LIFETIME },
  });
  return { certificate, ...describeCertificate(new X509Certificate(certificate)) };
}

/** When the next update of a revocation list (PEM) is due; null when the list does not say it or cannot be read. */
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
  return sign(ca.key, {
    ...{ subject: commonName(leaf.subject), issuer: issuer.subjectName, publicKey: leaf.publicKey },
    notBefore: leaf.now - CLOCK_SKEW,
    // A certificate must not be valid for longer than its issuer.
    notAfter: Math.min(leaf.now + leaf.lifetime, issuer.notAfter.getTime()),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([leaf.usage]),
      toAlternativeNames(leaf.names),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
}

interface Unsigned {
  subject: x509.Name;
  issuer: x509.Name;
  publicKey: x509.PublicKey;
  notBefore: number;
  notAfter: number;
  extensions: x509.Extension[];
}

/** @returns the certificate as PEM, with the identifier of its key as one more extension */
async function sign(key: string, { notBefore, notAfter, extensions, ...rest }: Unsigned): Promise<string> {
  const der = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' });
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const certificate = await x509.X509CertificateGenerator.create({
    ...rest,
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    signingKey: await webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']),
    extensions: [...extensions, await x509.SubjectKeyIdentifierExtension.create(rest.publicKey)],
  });
  return `${certificate.toString('pem').trim()}\n`;
}

/** The public key of a request that is signed with this key, as OpenSSL encodes it. */
async function provenKeyOf(csrPem: string): Promise<x509.PublicKey> {
  const request = parseRequest(csrPem);
  const key = readPublicKey(request);
  // The strength is checked first, because verifying with a very large key is expensive.
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
    return false; // The algorithm is unknown, or does not fit the key.
  }
}

function invalidRequest(fault: string): HawserError {
  return invalidField('/csr', `The certificate request is refused: ${fault}.`, 'invalid_csr');
}

/** The names are sorted and without repetition, so that equal sets of names have equal encodings. */
function toAlternativeNames(names: readonly string[]): x509.SubjectAlternativeNameExtension {
  const unique = [...new Set(names.map(toAsciiName))].sort();
  return new x509.SubjectAlternativeNameExtension(
    unique.map((name) => ({ type: isIP(name) === 0 ? ('dns' as const) : ('ip' as const), value: name })),
  );
}

/** The name is built from parts and not parsed from text, so that it cannot contain another attribute. */
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
