/**
 * Whether a certificate that a proxy passes on chains to the node CA. In a handshake OpenSSL finds that out; here it is
 * done by hand after RFC 5280 section 6, and never more leniently: what is not evaluated, name constraints above all,
 * is refused. Nothing is ever fetched.
 */

import '../lib/reflect.ts';
import { X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { isForClients, isIssuedBy, MAX_CHAIN } from './certificate-chain.ts';
import { describeCertificate, isWithinTerm } from './certificates.ts';
import { mayUseKeyFor, RevocationList } from './revocation-list.ts';
import { type NodeTrust, splitCertificates, splitCrls } from './tls-settings.ts';

/** Epoch milliseconds, both ends included. */
export interface Term {
  notBefore: number;
  notAfter: number;
}

/**
 * Key usage, names, basic constraints, distribution points, authority key, extended key usage; and policies, which
 * OpenSSL does not hold anybody to either unless it is told to.
 */
const EVALUATED = new Set([15, 17, 18, 19, 31, 32, 33, 35, 36, 37, 54].map((arc) => `2.5.29.${arc}`));
const NAME_CONSTRAINTS = '2.5.29.30';
const MIN_RSA_BITS = 1024;
const WEAK_HASHES = new Set(['SHA-1', 'MD5', 'MD2']);

export class PathValidator {
  private readonly anchors: readonly X509Certificate[];
  /** Null where nobody asks for lists; else every authority on the path must have one. */
  private readonly lists: readonly RevocationList[] | null;
  /** Whether every list could be read; one that cannot be counts as missing. */
  readonly isComplete: boolean;

  /** @param trust as `loadNodeTrust` has checked it */
  constructor({ nodeCa, nodeCrl }: NodeTrust) {
    this.anchors = splitCertificates(nodeCa ?? '').map((pem) => new X509Certificate(pem));
    const lists = nodeCrl === null ? null : splitCrls(nodeCrl).map(readList);
    this.lists = lists?.filter((list) => list !== null) ?? null;
    this.isComplete = this.lists?.length === lists?.length;
  }

  /**
   * @param leaf a client's certificate
   * @param issuers what came along with it, in any order, by nobody vouched for
   * @returns how long the path and its lists hold, at most; null when there is none that is good at `now`
   */
  validate(leaf: X509Certificate, issuers: readonly X509Certificate[], now: number): Term | null {
    try {
      if (!isForClients(leaf) || !mayUseKeyFor(leaf, HANDSHAKE)) return null;
      if (!isUsable(leaf, now) || !isStrong(leaf)) return null;
      const path = this.climb([leaf], issuers.slice(0, MAX_CHAIN).filter(isStrong), now);
      return path && this.termOf(path, now);
    } catch {
      return null; // one of them cannot be read
    }
  }

  /** The way from the first certificate to an authority of the bundle that has signed itself. */
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

  /** Of the path and of the lists that speak for it; null when one certificate of it is revoked, or without a list. */
  private termOf(path: readonly X509Certificate[], now: number): Term | null {
    const terms: Term[] = path.map(describeCertificate);
    if (this.lists !== null) {
      for (const [index, certificate] of path.entries()) {
        const issuer = path[index + 1] ?? certificate;
        const lists = this.lists.filter((list) => isWithinTerm(list, now) && list.isOf(issuer));
        if (lists.length === 0 || lists.some((list) => list.revokes(certificate))) return null;
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

/** @param below how many authorities are between this one and the certificate at the end of the path */
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

/** OpenSSL's security level 1, which is asked of everybody but the operator's own authorities. */
function isStrong(certificate: X509Certificate): boolean {
  const { signatureAlgorithm } = new x509.X509Certificate(certificate.raw);
  const hash: { name: string } | undefined = signatureAlgorithm.hash;
  const bits = certificate.publicKey.asymmetricKeyDetails?.modulusLength ?? MIN_RSA_BITS;
  return !WEAK_HASHES.has(hash?.name ?? '') && bits >= MIN_RSA_BITS;
}
