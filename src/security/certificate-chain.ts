/** Certificates that come as text: reading them, and whether they chain to an authority. */

import { X509Certificate } from 'node:crypto';
import { type HawserError, invalidField } from '../lib/errors.ts';

const MAX_BYTES = 32 * 1024;
/** The certificate itself and its issuers; nobody has a longer way to the authority. */
export const MAX_CHAIN = 5;
const ONE_BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/**
 * @param pem one to five `CERTIFICATE` blocks and nothing else: the certificate first, then its issuers, if any
 * @throws HawserError `validation_failed`, in it `invalid_certificate`
 */
export function parseChain(pem: string): [X509Certificate, ...X509Certificate[]] {
  if (Buffer.byteLength(pem) > MAX_BYTES) throw refused('it is larger than 32 KiB');
  const blocks = pem.match(ONE_BLOCK) ?? [];
  // Above all no private key, which would then have left its machine.
  if (pem.replace(ONE_BLOCK, '').trim() !== '')
    throw refused('there is more than PEM blocks of certificates');
  if (blocks.length > MAX_CHAIN) throw refused(`it holds more than ${MAX_CHAIN} certificates`);
  try {
    const [first, ...issuers] = blocks.map((block) => new X509Certificate(block));
    if (first) return [first, ...issuers];
  } catch {
    throw refused('it cannot be read');
  }
  throw refused('it is not a PEM block of type CERTIFICATE');
}

function refused(fault: string): HawserError {
  return invalidField('/certificate', `The certificate is refused: ${fault}.`, 'invalid_certificate');
}

/**
 * Whether the first certificate is one for clients that an authority of the bundle (PEM) has issued, directly or by
 * way of the others. A first look only: the handshake decides, with terms, revocation and constraints.
 */
export function chainsTo(chain: readonly X509Certificate[], authorities: string): boolean {
  const [leaf, ...others] = chain;
  if (leaf === undefined || !isForClients(leaf)) return false;
  const anchors = (authorities.match(ONE_BLOCK) ?? []).map((block) => new X509Certificate(block));
  const issuers = others.filter((certificate) => certificate.ca);
  let current = leaf;
  for (let length = 0; length < MAX_CHAIN; length += 1) {
    if (anchors.some((anchor) => isIssuedBy(current, anchor))) return true;
    const next = issuers.find((issuer) => isIssuedBy(current, issuer));
    if (next === undefined) return false;
    current = next;
  }
  return false;
}

/** Without the extension (RFC 5280 4.2.1.12) a certificate is for every purpose. */
export function isForClients(certificate: X509Certificate): boolean {
  // Node declares an array, and answers undefined without the extension.
  const usages: string[] | undefined = certificate.keyUsage;
  return usages === undefined || usages.length === 0 || usages.includes(CLIENT_AUTH);
}

export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
