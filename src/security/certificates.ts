/** What Hawser keeps and shows of a certificate. Reads what strangers present, so nothing here throws. */

import type { X509Certificate } from 'node:crypto';

export interface CertificateDescription {
  /** SHA-256 over the DER form, 64 upper-case hex digits. */
  thumbprint: string;
  /** SHA-1 likewise: known to agents, never what a node is pinned by. */
  sha1Thumbprint: string;
  /** One line in the manner of RFC 4514, most specific part first: `CN=web-01, O=Example`. */
  subject: string;
  /** Epoch milliseconds; 0 where the certificate holds no readable date, which counts as expired. */
  notBefore: number;
  notAfter: number;
}

/** The certificate of a connection: what most ask for at hand, the rest when it is asked for. */
export interface PresentedCertificate {
  readonly thumbprint: string;
  describe(): CertificateDescription;
}

const MAX_SUBJECT = 1024;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DATE = /^([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.\d+)? (\d{1,4}) GMT$/;
/** Control, format (such as right-to-left overrides), surrogate and line separator characters. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

export function thumbprintOf(certificate: X509Certificate): string {
  return certificate.fingerprint256.replaceAll(':', '');
}

export function describeCertificate(certificate: X509Certificate): CertificateDescription {
  return {
    thumbprint: thumbprintOf(certificate),
    sha1Thumbprint: certificate.fingerprint.replaceAll(':', ''),
    subject: describeSubject(certificate),
    notBefore: parseDate(certificate.validFrom),
    notAfter: parseDate(certificate.validTo),
  };
}

/** Whether the moment lies within the certificate's term. */
export function isWithinTerm(
  term: Pick<CertificateDescription, 'notBefore' | 'notAfter'>,
  now: number,
): boolean {
  return term.notBefore <= now && now <= term.notAfter;
}

function describeSubject(certificate: X509Certificate): string {
  // Node declares a string, and answers undefined for a subject that OpenSSL cannot print.
  const lines: string | undefined = certificate.subject;
  const subject = (lines ?? '').split('\n').reverse().join(', ').replace(UNSAFE, escapeCharacter);
  return subject.length > MAX_SUBJECT ? `${subject.slice(0, MAX_SUBJECT - 1)}…` : subject;
}

/** `\0A` for each byte, the way RFC 4514 writes what does not print. */
function escapeCharacter(character: string): string {
  return Buffer.from(character).reduce(
    (text, byte) => `${text}\\${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    '',
  );
}

/** Not `Date.parse`: it reads the year 49 as 2049, and a certificate may well say 49. */
function parseDate(text: string | undefined): number {
  const match = DATE.exec(text ?? '');
  if (!match) return 0;
  const [, month = '', day, hours, minutes, seconds, year] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), MONTHS.indexOf(month), Number(day));
  date.setUTCHours(Number(hours), Number(minutes), Number(seconds));
  return date.getTime();
}
