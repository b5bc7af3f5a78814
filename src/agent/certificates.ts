/** The agent's own certificate: made by itself, or asked for from the server's authority. Everything is PEM text. */

import '../lib/reflect.ts';
import { createPrivateKey, webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { DAY, MINUTE } from '../lib/clock.ts';

/** A certificate with the private key that belongs to it (PKCS#8). */
export interface Identity {
  certificate: string;
  key: string;
}

/** Epoch milliseconds. */
export interface Term {
  notBefore: number;
  notAfter: number;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const LIFETIME = 90 * DAY;
/** A certificate begins a little in the past, so that a server whose clock is behind takes it at once. */
const CLOCK_SKEW = 5 * MINUTE;
/** The upper bound of a common name (RFC 5280 appendix A, ub-common-name). */
const MAX_COMMON_NAME = 64;

/** A new P-256 key with a certificate that it has signed itself, for TLS clients, 90 days. */
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
  return { certificate: `${certificate.toString('pem').trim()}\n`, key: await exportKey(keys) };
}

/** A new P-256 key with a request (PKCS#10) for a certificate. */
export async function makeRequest(name: string): Promise<{ csr: string; key: string }> {
  const keys = await makeKeys();
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: commonName(name),
    signingAlgorithm: ALGORITHM,
    keys,
  });
  return { csr: `${request.toString('pem').trim()}\n`, key: await exportKey(keys) };
}

/** Whether the two can be used together. */
export function belongTogether({ certificate, key }: Identity): boolean {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

export function termOf(certificate: string): Term {
  const { validFrom, validTo } = new X509Certificate(certificate);
  return { notBefore: Date.parse(validFrom), notAfter: Date.parse(validTo) };
}

export function isSelfSigned(certificate: string): boolean {
  const parsed = new X509Certificate(certificate);
  // Not `checkIssued`: that wants a key that may sign certificates, which this one may not.
  return parsed.issuer === parsed.subject && parsed.verify(parsed.publicKey);
}

/** SHA-256, 64 upper-case hex digits, as the server shows it. */
export function thumbprintOf(certificate: string): string {
  return new X509Certificate(certificate).fingerprint256.replaceAll(':', '');
}

/**
 * Whether it is time for the next certificate: two thirds of its life are over, or it is older than the server
 * wants certificates to grow.
 * @param interval milliseconds; null where the server says nothing
 */
export function isRotationDue({ notBefore, notAfter }: Term, interval: number | null, now: number): boolean {
  const age = now - notBefore;
  return age >= ((notAfter - notBefore) * 2) / 3 || (interval !== null && age - CLOCK_SKEW >= interval);
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function exportKey({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey));
  return `${x509.PemConverter.encode(der, 'PRIVATE KEY').trim()}\n`;
}

function commonName(name: string): x509.Name {
  return new x509.Name([{ CN: [{ utf8String: name.slice(0, MAX_COMMON_NAME) }] }]);
}
