/** Reads certificates: what Hawser keeps and shows of them, PEM text with several, and whether they form a chain. */

import { X509Certificate } from 'node:crypto';
import { MINUTE, toTimestamp } from '../lib/clock.ts';
import { type HawserError, invalid, invalidField } from '../lib/errors.ts';

export interface CertificateDescription {
  /** The SHA-256 of the DER form as 64 upper-case hexadecimal digits. */
  thumbprint: string;
  /** The SHA-1 in the same form. Agents know it, but no node is identified by it. */
  sha1Thumbprint: string;
  /** One line, similar to RFC 4514, with the most specific part first: `CN=web-01, O=Example`. */
  subject: string;
  /** Epoch milliseconds; 0 when the date cannot be read, so that the certificate counts as expired. */
  notBefore: number;
  notAfter: number;
}

/** Why the node CA does not accept a certificate. Each is the code of a problem. */
export type CertificateRefusal = 'certificate_revoked' | 'certificate_untrusted' | 'crl_expired';

/** The certificate of a connection. Its description is made only when somebody asks for it. */
export interface PresentedCertificate {
  readonly thumbprint: string;
  describe(): CertificateDescription;
  der(): Buffer;
}

const MAX_BYTES = 32 * 1024;
/** The clocks of a machine, its authority and this server may differ by this much. */
const CLOCK_SKEW = 5 * MINUTE;
/** The certificate and its issuers. */
export const MAX_CHAIN = 5;
const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
const CRL_BLOCK = /-----BEGIN X509 CRL-----[^-]+-----END X509 CRL-----/g;
/** A block without anything that the PEM reader would skip. */
const STRICT_BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const MAX_SUBJECT = 1024;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DATE = /^([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.\d+)? (\d{1,4}) GMT$/;
/** Control, format (such as right-to-left overrides), surrogate and line separator characters. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

export function thumbprintOf(certificate: X509Certificate): string {
  return certificate.fingerprint256.replaceAll(':', '');
}

/** Never throws, because clients can present any certificate. */
export function describeCertificate(certificate: X509Certificate): CertificateDescription {
  return {
    thumbprint: thumbprintOf(certificate),
    sha1Thumbprint: certificate.fingerprint.replaceAll(':', ''),
    subject: describeSubject(certificate),
    notBefore: parseDate(certificate.validFrom),
    notAfter: parseDate(certificate.validTo),
  };
}

/** Whether the certificate or list is valid at this moment. */
export function isWithinTerm(
  term: Pick<CertificateDescription, 'notBefore' | 'notAfter'>,
  now: number,
): boolean {
  return term.notBefore <= now && now <= term.notAfter;
}

/**
 * Why the certificate of a node cannot be taken before its term begins, as text for people; null where it has begun. A
 * term that is not known, because the certificate was only described, has begun.
 */
export function faultOfBeginning(
  { notBefore }: Pick<CertificateDescription, 'notBefore'>,
  now: number,
): string | null {
  if (notBefore <= now + CLOCK_SKEW) return null;
  return (
    `The certificate is not valid before ${toTimestamp(notBefore)}, and by the clock of this server it is ` +
    `${toTimestamp(now)}. Set the clock that is wrong: that of the machine, of the authority that made the ` +
    'certificate, or of this server. If it was not that of the server, make a new certificate'
  );
}

/**
 * Refuses a certificate that a node brings as its own from now on.
 * @throws HawserError invalid (`certificate_expired`, `certificate_not_yet_valid`)
 */
export function requireWithinTerm(
  term: Pick<CertificateDescription, 'notBefore' | 'notAfter'>,
  now: number,
): void {
  if (term.notAfter <= now) throw invalid('certificate_expired', 'The certificate has expired');
  const fault = faultOfBeginning(term, now);
  if (fault !== null) throw invalid('certificate_not_yet_valid', fault);
}

function describeSubject(certificate: X509Certificate): string {
  // Node declares a string, but returns undefined for a subject that OpenSSL cannot print.
  const lines: string | undefined = certificate.subject;
  const subject = (lines ?? '').split('\n').reverse().join(', ').replace(UNSAFE, escapeCharacter);
  return subject.length > MAX_SUBJECT ? `${subject.slice(0, MAX_SUBJECT - 1)}…` : subject;
}

/** Writes each byte as RFC 4514 does for characters that cannot be printed, such as `\0A`. */
function escapeCharacter(character: string): string {
  return Buffer.from(character).reduce(
    (text, byte) => `${text}\\${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    '',
  );
}

/** `Date.parse` cannot be used: it reads the year 49 as 2049, and a certificate may contain 49. */
function parseDate(text: string | undefined): number {
  const match = DATE.exec(text ?? '');
  if (!match) return 0;
  const [, month = '', day, hours, minutes, seconds, year] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), MONTHS.indexOf(month), Number(day));
  date.setUTCHours(Number(hours), Number(minutes), Number(seconds));
  return date.getTime();
}

/** The PEM block of each certificate in the text. */
export function splitCertificates(pem: string): string[] {
  return pem.match(CERTIFICATE_BLOCK) ?? [];
}

/** The PEM block of each revocation list, for interfaces that read only the first block of a text. */
export function splitCrls(pem: string): string[] {
  return pem.match(CRL_BLOCK) ?? [];
}

/**
 * @param pem one to five `CERTIFICATE` blocks and nothing else: the certificate first, then its issuers, if any
 * @throws HawserError `validation_failed`, in it `invalid_certificate`
 */
export function parseChain(pem: string): [X509Certificate, ...X509Certificate[]] {
  if (Buffer.byteLength(pem) > MAX_BYTES) throw refused('it is larger than 32 KiB');
  const blocks = splitCertificates(pem);
  // Nothing else is accepted, and above all no private key, because it must not leave its machine.
  if (pem.replace(STRICT_BLOCK, '').trim() !== '')
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
 * Whether the first certificate is for clients, and an authority has issued it directly or through the others. Validity,
 * revocation and constraints are not checked here: the handshake checks them.
 * @param authorities PEM of one or more certificates
 */
export function chainsTo(chain: readonly X509Certificate[], authorities: string): boolean {
  const [leaf, ...others] = chain;
  if (leaf === undefined || !isForClients(leaf)) return false;
  const anchors = splitCertificates(authorities).map((block) => new X509Certificate(block));
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

/** A certificate without extended key usage (RFC 5280 4.2.1.12) is for all purposes. */
export function isForClients(certificate: X509Certificate): boolean {
  // Node declares an array, but returns undefined without the extension.
  const usages: string[] | undefined = certificate.keyUsage;
  return usages === undefined || usages.length === 0 || usages.includes(CLIENT_AUTH);
}

export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
