/**
 * The forms in which a proxy passes on a client's certificate: `Client-Cert` and `Client-Cert-Chain` (RFC 9440), and
 * URL-encoded PEM under any other name. Pure; whoever calls decides whom to believe.
 */

import { X509Certificate } from 'node:crypto';
import { parseChain } from '../security/certificates.ts';

/** The certificate first, then what came along as its issuers. */
export type CertificateChain = readonly [X509Certificate, ...X509Certificate[]];

export interface FoundHeader {
  values: readonly string[];
  /** Whether the name is there with underscores too, which programs behind CGI take for the same. */
  isMisspelt: boolean;
}

/** RFC 8941 3.3.5; padding may be missing. */
const BYTE_SEQUENCE = /^:([A-Za-z0-9+/]*={0,2}):$/;

/**
 * Looks through the headers as they came in: Node joins some that come twice, and drops others.
 * @param name in lower case, with hyphens
 */
export function findHeader(rawHeaders: readonly string[], name: string): FoundHeader {
  const values: string[] = [];
  let isMisspelt = false;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at] ?? '';
    if (given.length !== name.length) continue;
    const lower = given.toLowerCase();
    if (lower === name) values.push(rawHeaders[at + 1] ?? '');
    else if (lower.replaceAll('_', '-') === name) isMisspelt = true;
  }
  return { values, isMisspelt };
}

/**
 * @param chain the values of `Client-Cert-Chain`, joined by commas; empty for none
 * @throws Error when one of them is malformed
 */
export function readClientCert(value: string, chain: string): CertificateChain {
  const issuers = chain === '' ? [] : chain.split(',').map((member) => readByteSequence(member.trim()));
  return [readByteSequence(value), ...issuers];
}

/**
 * nginx's `$ssl_client_escaped_cert` and its like; issuers may follow.
 * @throws Error when it is malformed
 */
export function readEscapedPem(value: string): CertificateChain {
  return parseChain(decodeURIComponent(value));
}

function readByteSequence(value: string): X509Certificate {
  const base64 = BYTE_SEQUENCE.exec(value)?.[1];
  if (base64 === undefined) throw new Error('not a byte sequence');
  const der = Buffer.from(base64, 'base64');
  const certificate = new X509Certificate(der);
  // It reads PEM as well, and stops at the end of the first certificate.
  if (!certificate.raw.equals(der)) throw new Error('not one certificate in DER form');
  return certificate;
}
