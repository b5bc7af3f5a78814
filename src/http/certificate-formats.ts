/**
 * How proxies write a client's certificate into a header: `Client-Cert` (RFC 9440), the headers that IIS, Traefik and
 * Envoy each have a form of their own for, and PEM in a header of any other name. The name of the header says which.
 */

import { X509Certificate } from 'node:crypto';
import { CLIENT_CERT } from '../config.ts';
import { MAX_CHAIN, parseChain } from '../security/certificates.ts';

/** The certificate first, then what came along as its issuers. */
export type CertificateChain = readonly [X509Certificate, ...X509Certificate[]];

export interface CertificateFormat {
  /** What the header should hold, for the log. */
  readonly expected: string;
  /** What the proxy writes, beside nothing, where the client has no certificate. */
  readonly none: string | null;
  /**
   * @param issuers the values of `Client-Cert-Chain`, joined by commas; empty for none
   * @throws Error when it is malformed, or NoCertificate
   */
  read(value: string, issuers: string): CertificateChain;
}

/** The header is as it should be, but says nothing of a certificate. */
export class NoCertificate extends Error {}

/** The formats that are known. The keys are the names of their headers in lower case. */
const FORMATS: ReadonlyMap<string, CertificateFormat> = new Map(
  Object.entries<CertificateFormat>({
    [CLIENT_CERT.toLowerCase()]: {
      expected: 'the certificate as RFC 9440 has it: base64 of its DER form between two colons',
      none: '::',
      read: readClientCert,
    },
    'x-arr-clientcert': {
      expected: 'the certificate as IIS and Azure send it: base64 of its DER form in one line',
      none: null,
      read: (value) => [readBase64(value)],
    },
    'x-forwarded-tls-client-cert': {
      expected:
        'the certificate as Traefik sends it: base64 of its DER form, perhaps URL-encoded, its issuers after commas',
      none: null,
      read: readTraefik,
    },
    'x-forwarded-client-cert': {
      expected: 'the certificate as Envoy sends it: Cert="<URL-encoded PEM>" in the last element',
      none: null,
      read: readEnvoy,
    },
  }),
);

const PEM: CertificateFormat = {
  expected: 'the certificate in PEM, URL-encoded or in one line with blanks in place of its line breaks',
  // Apache's mod_headers writes this for a variable that is not set.
  none: '(null)',
  read: readPem,
};

/** @param headerName in any case */
export function formatOf(headerName: string): CertificateFormat {
  return FORMATS.get(headerName.toLowerCase()) ?? PEM;
}

function readClientCert(value: string, issuers: string): CertificateChain {
  const more = issuers === '' ? [] : issuers.split(',').map((member) => readByteSequence(member.trim()));
  return [readByteSequence(value), ...more];
}

/** RFC 8941 3.3.5; padding may be missing. */
function readByteSequence(value: string): X509Certificate {
  const base64 = /^:(.*):$/.exec(value)?.[1];
  if (base64 === undefined) throw new Error('not a byte sequence');
  return readBase64(base64);
}

function readBase64(base64: string): X509Certificate {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) throw new Error('not base64');
  const der = Buffer.from(base64, 'base64');
  const certificate = new X509Certificate(der);
  // It reads PEM as well, and stops at the end of the first certificate.
  if (!certificate.raw.equals(der)) throw new Error('not one certificate in DER form');
  return certificate;
}

/**
 * Reads nginx's `$ssl_client_escaped_cert` and its like, and Apache's `%{SSL_CLIENT_CERT}s`, which has blanks in place of
 * line breaks. Issuers may follow the certificate.
 */
function readPem(value: string): CertificateChain {
  const pem = decodeURIComponent(value);
  return parseChain(
    pem.replace(PEM_BLOCK, (_, begin, body, end) => [begin, ...linesOf(body), end].join('\n')),
  );
}

const PEM_BLOCK = /(-----BEGIN CERTIFICATE-----)([^-]*)(-----END CERTIFICATE-----)/g;

/** OpenSSL reads PEM by lines, and none that are long. */
function linesOf(base64: string): string[] {
  return base64.replace(/\s+/g, '').match(/.{1,64}/g) ?? [];
}

/** Traefik sends all that the client has shown. Its releases before 2.9.4 escape it, later ones do not. */
function readTraefik(value: string): CertificateChain {
  const [first = '', ...more] = decodeURIComponent(value).split(',');
  if (more.length >= MAX_CHAIN) throw new Error('too many certificates');
  return [readBase64(first), ...more.map(readBase64)];
}

function readEnvoy(value: string): CertificateChain {
  const [cert, ...more] = lastElement(value)
    .filter(([key]) => key.toLowerCase() === 'cert')
    .map(([, text]) => text);
  if (cert === undefined) throw new NoCertificate('the last element has no Cert');
  if (more.length > 0) throw new Error('two certificates in one element');
  return parseChain(decodeURIComponent(cert));
}

/** A key, its value in quotes or without any, and what follows it. In quotes `\"` stands for a quote. */
const PAIR = /[ \t]*([A-Za-z]+)=(?:"((?:[^"\\]|\\"|\\(?!"))*)"|([^",;]*))([,;]|$)/y;

/**
 * Reads `X-Forwarded-Client-Cert`: elements with commas between them, pairs of a key and a value with semicolons between
 * them. Elements before the last one may be the client's own words, so a fault in them makes all of it worthless.
 * @returns the pairs of the last element, which the proxy has written that is nearest to this server
 * @throws Error when it is malformed
 */
export function lastElement(header: string): (readonly [key: string, value: string])[] {
  let element: (readonly [string, string])[] = [];
  for (let at = 0, follower: string | undefined; follower !== ''; ) {
    PAIR.lastIndex = at;
    const pair = PAIR.exec(header);
    if (pair === null) throw new Error('not a list of elements');
    const [whole, key = '', quoted, plain = ''] = pair;
    if (follower === ',') element = [];
    element.push([key, quoted?.replaceAll('\\"', '"') ?? plain]);
    follower = pair[4] ?? '';
    at += whole.length;
  }
  return element;
}
