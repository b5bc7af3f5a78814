/** Revocation lists of `HAWSER_NODE_CRL`, read by hand for certificates that no handshake with us has verified. */

import '../lib/reflect.ts';
import { constants, verify, type X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { UNLIMITED } from './certificate-authority.ts';

/** Extensions of a list that only say what its issuer and number are: RFC 5280 5.2. */
const UNDERSTOOD = new Set(['2.5.29.20', '2.5.29.35']);

export class RevocationList {
  /** Epoch milliseconds; a list that names no end has none. */
  readonly notBefore: number;
  readonly notAfter: number;
  private readonly list: x509.X509Crl;
  private readonly serials: ReadonlySet<string>;
  /** By fingerprint: of authorities only, since nobody else's certificates are asked about. */
  private readonly issuers = new Map<string, boolean>();

  /** @param pem one block. @throws Error when it cannot be read */
  constructor(pem: string) {
    this.list = new x509.X509Crl(pem, UNLIMITED);
    this.notBefore = this.list.thisUpdate.getTime();
    this.notAfter = this.list.nextUpdate?.getTime() ?? Number.POSITIVE_INFINITY;
    this.serials = new Set(this.list.entries.map(({ serialNumber }) => plainSerial(serialNumber)));
  }

  /** Whether the authority has signed this list; one that covers only some of its certificates is of nobody. */
  isOf(issuer: X509Certificate): boolean {
    const known = this.issuers.get(issuer.fingerprint256);
    if (known !== undefined) return known;
    const found = this.isSignedBy(issuer);
    this.issuers.set(issuer.fingerprint256, found);
    return found;
  }

  revokes(certificate: X509Certificate): boolean {
    return this.serials.has(plainSerial(new x509.X509Certificate(certificate.raw).serialNumber));
  }

  private isSignedBy(issuer: X509Certificate): boolean {
    if (this.list.issuer !== new x509.X509Certificate(issuer.raw).subject) return false;
    // Delta lists, and lists for some reasons or some holders, say so in a critical extension.
    if (this.list.extensions.some(({ critical, type }) => critical && !UNDERSTOOD.has(type))) return false;
    if (!mayUseKeyFor(issuer, x509.KeyUsageFlags.cRLSign)) return false;
    const { name, hash, saltLength } = this.list.signatureAlgorithm as SignatureAlgorithm;
    const isPss = name === 'RSA-PSS' && saltLength !== undefined;
    const pss = isPss ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength } : {};
    const key = { key: issuer.publicKey, ...pss };
    const signed = firstElement(Buffer.from(this.list.rawData));
    return verify(hash?.name.replace('-', '') ?? null, signed, key, Buffer.from(this.list.signature));
  }
}

/** Of those in which Web Cryptography names them. */
interface SignatureAlgorithm {
  name: string;
  hash?: { name: string };
  /** Bytes. */
  saltLength?: number;
}

/** Whether the certificate's key may be used so (RFC 5280 4.2.1.3); without the extension it may be used for all. */
export function mayUseKeyFor(certificate: X509Certificate, usages: x509.KeyUsageFlags): boolean {
  const extension = new x509.X509Certificate(certificate.raw).getExtension(x509.KeyUsagesExtension);
  return extension === null || (extension.usages & usages) !== 0;
}

function plainSerial(hex: string): string {
  return hex.toLowerCase().replace(/^0+/, '');
}

/** What a SEQUENCE in DER begins with, as encoded: in a signed structure, what is signed. */
function firstElement(der: Buffer): Buffer {
  const start = contentOf(der, 0).start;
  return der.subarray(start, contentOf(der, start).end);
}

function contentOf(der: Buffer, at: number): { start: number; end: number } {
  const first = der.readUInt8(at + 1);
  const more = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + more;
  return { start, end: start + (more === 0 ? first : der.readUIntBE(at + 2, more)) };
}
