/**
 * Verifies that a certificate from a proxy chains to the node CA, and that no revocation list names it. In a handshake
 * OpenSSL does this. Here it follows RFC 5280 section 6, and is never more lenient: what is not evaluated, such as name
 * constraints, is refused. No URL of a certificate is ever fetched.
 */

import '../lib/reflect.ts';
import { constants, verify, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { UNLIMITED } from './certificate-authority.ts';
import {
  type CertificateRefusal,
  describeCertificate,
  isForClients,
  isIssuedBy,
  isWithinTerm,
  MAX_CHAIN,
  splitCertificates,
  splitCrls,
} from './certificates.ts';

/** Epoch milliseconds. Both ends are included. */
export interface Term {
  notBefore: number;
  notAfter: number;
}

/**
 * The critical extensions that a certificate may have: key usage, names, basic constraints, distribution points,
 * authority key, extended key usage, and policies, which OpenSSL ignores too by default.
 */
const EVALUATED = new Set([15, 17, 18, 19, 31, 32, 33, 35, 36, 37, 54].map((arc) => `2.5.29.${arc}`));
const NAME_CONSTRAINTS = '2.5.29.30';
const MIN_RSA_BITS = 1024;
const WEAK_HASHES = new Set(['SHA-1', 'MD5', 'MD2']);

export class PathValidator {
  private readonly anchors: readonly X509Certificate[];
  /** Null when no lists are configured; else every authority on the path must have one. */
  private readonly lists: readonly RevocationList[] | null;
  /** Whether all lists could be read. A list that cannot be read counts as missing. */
  readonly isComplete: boolean;

  /** Takes PEM that `loadNodeTrust` has checked. */
  constructor({ nodeCa, nodeCrl }: { nodeCa: string; nodeCrl: string | null }) {
    this.anchors = splitCertificates(nodeCa).map((pem) => new X509Certificate(pem));
    const lists = nodeCrl === null ? null : splitCrls(nodeCrl).map(readList);
    this.lists = lists?.filter((list) => list !== null) ?? null;
    this.isComplete = this.lists?.length === lists?.length;
  }

  /**
   * @param leaf a client's certificate
   * @param issuers the untrusted certificates that came with it, in any order
   * @returns the time in which the path and its lists are valid, or why no path is valid at `now`
   */
  validate(
    leaf: X509Certificate,
    issuers: readonly X509Certificate[],
    now: number,
  ): Term | CertificateRefusal {
    try {
      if (!isForClients(leaf) || !mayUseKeyFor(leaf, HANDSHAKE)) return 'certificate_untrusted';
      if (!isUsable(leaf, now) || !isStrong(leaf)) return 'certificate_untrusted';
      const path = this.climb([leaf], issuers.slice(0, MAX_CHAIN).filter(isStrong), now);
      return path === null ? 'certificate_untrusted' : this.termOf(path, now);
    } catch {
      return 'certificate_untrusted'; // A certificate cannot be read.
    }
  }

  /** Extends the path up to a self-signed authority of the node CA; null when there is no such path. */
  private climb(
    path: readonly [X509Certificate, ...X509Certificate[]],
    issuers: readonly X509Certificate[],
    now: number,
  ): readonly X509Certificate[] | null {
    const top = path.at(-1) ?? path[0];
    const isAnchor = this.anchors.some(({ fingerprint256 }) => fingerprint256 === top.fingerprint256);
    if (isAnchor && isIssuedBy(top, top)) return path;
    if (path.length > MAX_CHAIN) return null;
    for (const issuer of [...this.anchors, ...issuers]) {
      if (path.some(({ fingerprint256 }) => fingerprint256 === issuer.fingerprint256)) continue;
      if (!isIssuedBy(top, issuer) || !mayIssue(issuer, path.length - 1, now)) continue;
      const found = this.climb([...path, issuer], issuers, now);
      if (found !== null) return found;
    }
    return null;
  }

  /** When the path and its lists are valid, or why they are not: a list that is not in force is not looked into. */
  private termOf(path: readonly X509Certificate[], now: number): Term | CertificateRefusal {
    const terms: Term[] = path.map(describeCertificate);
    if (this.lists !== null) {
      for (const [index, certificate] of path.entries()) {
        const issuer = path[index + 1] ?? certificate;
        const all = this.lists.filter((list) => list.isOf(issuer));
        const lists = all.filter((list) => isWithinTerm(list, now));
        if (lists.length === 0) return all.length === 0 ? 'certificate_untrusted' : 'crl_expired';
        if (lists.some((list) => list.revokes(certificate))) return 'certificate_revoked';
        terms.push(...lists);
      }
    }
    return {
      notBefore: Math.max(...terms.map(({ notBefore }) => notBefore)),
      notAfter: Math.min(...terms.map(({ notAfter }) => notAfter)),
    };
  }
}

function readList(pem: string): RevocationList | null {
  try {
    return new RevocationList(pem);
  } catch {
    return null;
  }
}

const HANDSHAKE = x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyAgreement;

/** @param below the number of authorities between this one and the client's certificate */
function mayIssue(certificate: X509Certificate, below: number, now: number): boolean {
  if (!certificate.ca || !isForClients(certificate) || !isUsable(certificate, now)) return false;
  const constraints = new x509.X509Certificate(certificate.raw).getExtension(x509.BasicConstraintsExtension);
  return constraints !== null && below <= (constraints.pathLength ?? Number.POSITIVE_INFINITY);
}

function isUsable(certificate: X509Certificate, now: number): boolean {
  if (!isWithinTerm(describeCertificate(certificate), now)) return false;
  return new x509.X509Certificate(certificate.raw).extensions.every(
    ({ type, critical }) => type !== NAME_CONSTRAINTS && (!critical || EVALUATED.has(type)),
  );
}

/** OpenSSL's security level 1, which applies to all certificates except the operator's own authorities. */
function isStrong(certificate: X509Certificate): boolean {
  const { signatureAlgorithm } = new x509.X509Certificate(certificate.raw);
  const hash: { name: string } | undefined = signatureAlgorithm.hash;
  const bits = certificate.publicKey.asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS;
  return !WEAK_HASHES.has(hash?.name ?? '') && bits >= MIN_RSA_BITS;
}

/** The critical extensions that a list may have: its number, and the key of its issuer (RFC 5280 5.2). */
const UNDERSTOOD = new Set(['2.5.29.20', '2.5.29.35']);

class RevocationList {
  /** Epoch milliseconds; `notAfter` is infinite for a list without a next update. */
  readonly notBefore: number;
  readonly notAfter: number;
  private readonly list: x509.X509Crl;
  private readonly serials: ReadonlySet<string>;
  /** Whether an authority has signed this list, by the fingerprint of the authority. */
  private readonly issuers = new Map<string, boolean>();

  /** @throws Error when the PEM block cannot be read */
  constructor(pem: string) {
    this.list = new x509.X509Crl(pem, UNLIMITED);
    this.notBefore = this.list.thisUpdate.getTime();
    this.notAfter = this.list.nextUpdate?.getTime() ?? Number.POSITIVE_INFINITY;
    this.serials = new Set(this.list.entries.map(({ serialNumber }) => plainSerial(serialNumber)));
  }

  /** Whether the authority has signed this list, and it covers all certificates of that authority. */
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
    // A critical extension marks delta lists, and lists for some reasons or some certificates only.
    if (this.list.extensions.some(({ critical, type }) => critical && !UNDERSTOOD.has(type))) return false;
    if (!mayUseKeyFor(issuer, x509.KeyUsageFlags.cRLSign)) return false;
    const { name, hash, saltLength } = this.list.signatureAlgorithm as SignatureAlgorithm;
    const isPss = name === 'RSA-PSS' && saltLength !== undefined;
    const pss = isPss ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength } : {};
    const key = { key: issuer.publicKey, ...pss };
    // `X509Crl.verify` returns a promise, which requests cannot wait for. It verifies these bytes, which are not public.
    const { tbs } = this.list as unknown as { tbs: ArrayBuffer };
    return verify(
      hash?.name.replace('-', '') ?? null,
      Buffer.from(tbs),
      key,
      Buffer.from(this.list.signature),
    );
  }
}

/** A signature algorithm under the names of Web Cryptography. */
interface SignatureAlgorithm {
  name: string;
  hash?: { name: string };
  /** Bytes. */
  saltLength?: number;
}

/** Whether the certificate's key may be used for one of these (RFC 5280 4.2.1.3). Without the extension it may. */
function mayUseKeyFor(certificate: X509Certificate, usages: x509.KeyUsageFlags): boolean {
  const extension = new x509.X509Certificate(certificate.raw).getExtension(x509.KeyUsagesExtension);
  return extension === null || (extension.usages & usages) !== 0;
}

function plainSerial(hex: string): string {
  return hex.toLowerCase().replace(/^0+/, '');
}
