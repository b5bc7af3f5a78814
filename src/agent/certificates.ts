/** The agent's certificate: the agent makes it, or requests it from the server's authority. Everything is PEM text. */

import '../lib/reflect.ts';
import { createPrivateKey, KeyObject, webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { DAY, MINUTE } from '../lib/clock.ts';

/** A certificate and its private key (PKCS#8). */
export interface Identity {
  certificate: string;
  key: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const LIFETIME = 90 * DAY;
/** A certificate starts a little in the past, so that a server whose clock is behind accepts it at once. */
const CLOCK_SKEW = 5 * MINUTE;
/** The longest common name (RFC 5280 appendix A, ub-common-name). */
const MAX_COMMON_NAME = 64;

/** Makes a P-256 key and a self-signed certificate for TLS clients, which is valid for 90 days. */
export async function makeSelfSigned(name: string, now: number): Promise<Identity> {
  const keys = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: commonName(name),
    notBefore: new Date(now - CLOCK_SKEW),
    notAfter: new Date(now + LIFETIME),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
    ],
  });
  return { certificate: `${certificate.toString('pem').trim()}\n`, key: exportKey(keys) };
}

/** Makes a P-256 key and a request (PKCS#10) for a certificate. */
export async function makeRequest(name: string): Promise<{ csr: string; key: string }> {
  const keys = await makeKeys();
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: commonName(name),
    signingAlgorithm: ALGORITHM,
    keys,
  });
  return { csr: `${request.toString('pem').trim()}\n`, key: exportKey(keys) };
}

/** Whether the key is the key of the certificate. */
export function belongTogether({ certificate, key }: Identity): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** The validity of the certificate in epoch milliseconds. */
export function termOf(certificate: string) {
  const { validFrom, validTo } = new X509Certificate(certificate);
  return { notBefore: Date.parse(validFrom), notAfter: Date.parse(validTo) };
}

export function isSelfSigned(certificate: string): boolean {
  const parsed = new X509Certificate(certificate);
  // `checkIssued` is no use here: it requires a key that may sign certificates.
  return parsed.issuer === parsed.subject && parsed.verify(parsed.publicKey);
}

/** The SHA-256 as 64 upper-case hexadecimal digits, as the server shows it. */
export function thumbprintOf(certificate: string): string {
  return new X509Certificate(certificate).fingerprint256.replaceAll(':', '');
}

/**
 * Whether it is time for the next certificate: two thirds of the validity are over, or the server wants it earlier.
 * @param interval the age in milliseconds at which the server wants a new one; null when it does not say
 */
export function isRotationDue(
  { notBefore, notAfter }: ReturnType<typeof termOf>,
  interval: number | null,
  now: number,
): boolean {
  const age = now - notBefore;
  return age >= ((notAfter - notBefore) * 2) / 3 || (interval !== null && age - CLOCK_SKEW >= interval);
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function exportKey({ privateKey }: webcrypto.CryptoKeyPair): string {
  return KeyObject.from(privateKey).export({ type: 'pkcs8', format: 'pem' }).toString();
}

function commonName(name: string): x509.Name {
  return new x509.Name([{ CN: [{ utf8String: name.slice(0, MAX_COMMON_NAME) }] }]);
}
