/**
 * What trusted proxies say of their clients, and from whom such talk is ignored, with a warning: the address in
 * `X-Forwarded-For`, and the certificate in `Client-Cert` and `Client-Cert-Chain` (RFC 9440), or in a header of another
 * name and its form.
 */

import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { CLIENT_CERT } from '../config.ts';
import { AddressSet, plainAddress } from '../lib/address-set.ts';
import { type Clock, MINUTE } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import {
  type CertificateDescription,
  type CertificateRefusal,
  describeCertificate,
  isWithinTerm,
  type PresentedCertificate,
  thumbprintOf,
} from '../security/certificates.ts';
import type { PathValidator, Term } from '../security/certification-path.ts';
import {
  type CertificateChain,
  type CertificateFormat,
  formatOf,
  NoCertificate,
} from './certificate-formats.ts';

export interface ProxySettings {
  /** Addresses and CIDR ranges. */
  trusted: readonly string[];
  /** Its name says in which form it is read. */
  certificateHeader: string;
  /** Whether certificates are taken at all. By default they are. */
  takesCertificates?: boolean;
}

/** Characters of header; no certificate in use is nearly as large. */
const MAX_LENGTH = 12 * 1024;
/** Bytes of certificates seen lately, as text: enough for some 20,000 nodes. */
const CACHE_BYTES = 64 * 1024 * 1024;
/** Bytes that are kept of a certificate beside its text, roughly. */
const ENTRY_BYTES = 1024;
/** A warning is given once in this time for each reason. */
const WARNING_INTERVAL = MINUTE;
/** How long a refusal by the node CA stands without being examined again. */
const REFUSED_FOR = MINUTE;

export class Proxies {
  /** The name of the header with the certificate, in lower case. */
  readonly headerName: string;
  readonly takesCertificates: boolean;
  private readonly format: CertificateFormat;
  private readonly isStandard: boolean;
  private readonly trusted: AddressSet;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly certificates = new LRUCache<string, ForwardedCertificate>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (_, text) => text.length + ENTRY_BYTES,
  });
  private readonly warnings = new Map<string, { at: number; more: number }>();

  constructor(settings: ProxySettings, clock: Clock, log: Log) {
    const { trusted, certificateHeader, takesCertificates = true } = settings;
    this.takesCertificates = takesCertificates;
    this.headerName = certificateHeader.toLowerCase();
    this.format = formatOf(certificateHeader);
    this.isStandard = this.headerName === CLIENT_CERT.toLowerCase();
    this.trusted = new AddressSet(trusted);
    this.clock = clock;
    this.log = log;
  }

  includes(address: string): boolean {
    return this.trusted.has(address);
  }

  clientAddress({ headers }: IncomingMessage, proxy: string): string {
    return clientAddress(proxy, headers['x-forwarded-for']?.toString() ?? '', this.trusted);
  }

  /** Null where the proxy has sent none, and where what came cannot be relied on. */
  certificateOf(
    { rawHeaders }: IncomingMessage,
    { proxy, takesChain }: { proxy: string; takesChain: boolean },
  ): ForwardedCertificate | null {
    const { values, isMisspelt } = findHeader(rawHeaders, this.headerName);
    const [value = '', ...more] = values;
    if (isMisspelt) return this.ignore('spelt with an underscore', proxy);
    if (more.length > 0) return this.ignore('more than once in a request', proxy);
    // Some cannot leave out the header, and send it empty where there is no certificate.
    if (value === '' || value === this.format.none) return null;
    if (!this.takesCertificates) return this.ignore('sent to the port of HAWSER_UI_PORT', proxy);
    // It is a list, which may come in parts (RFC 9440 2.3).
    const chain =
      takesChain && this.isStandard
        ? findHeader(rawHeaders, `${CLIENT_CERT}-chain`.toLowerCase()).values.join(',')
        : '';
    if (value.length + chain.length > MAX_LENGTH) return this.ignore('too large', proxy);
    const found = this.recall(value, chain);
    return typeof found === 'string' ? this.ignore(found, proxy, this.format.expected) : found;
  }

  /** For requests that come from elsewhere. */
  noteStray({ rawHeaders }: IncomingMessage, address: string): void {
    const { values, isMisspelt } = findHeader(rawHeaders, this.headerName);
    if (isMisspelt || values.length > 0)
      this.ignore('not from an address in HAWSER_TRUSTED_PROXIES', address);
  }

  /** @returns why there is no certificate, if there is none */
  private recall(value: string, chain: string): ForwardedCertificate | string {
    // No header holds a line break, so no other pair makes the same key.
    const key = chain === '' ? value : `${value}\n${chain}`;
    const known = this.certificates.get(key);
    if (known !== undefined) return known;
    try {
      const read = () => this.format.read(value, chain);
      const certificate = new ForwardedCertificate(read(), read);
      this.certificates.set(key, certificate);
      return certificate;
    } catch (error) {
      return error instanceof NoCertificate ? 'without a certificate' : 'malformed';
    }
  }

  /**
   * The log line never has the value, which may be anything.
   * @param expected what should have been there
   */
  private ignore(reason: string, address: string, expected?: string): null {
    const now = this.clock.now();
    const last = this.warnings.get(reason);
    if (last !== undefined && now - last.at < WARNING_INTERVAL) {
      last.more += 1;
      return null;
    }
    this.warnings.set(reason, { at: now, more: 0 });
    const { headerName: header } = this;
    this.log.warn(
      { header, reason, ...(expected && { expected }), address, moreBefore: last?.more ?? 0 },
      'client certificate header ignored',
    );
    return null;
  }
}

/**
 * A client's certificate as a proxy has passed it on. Many are kept for the next request, so each is small, and its text
 * is read again when more than the thumbprint is asked for.
 */
export class ForwardedCertificate implements PresentedCertificate {
  /** SHA-256 over the DER form, 64 upper-case hex digits. */
  readonly thumbprint: string;
  private readonly read: () => CertificateChain;
  private description: CertificateDescription | undefined;
  private judgement: { by: PathValidator; refusal: CertificateRefusal | null; term: Term } | null = null;

  /** @param read reads the chain from its text */
  constructor(chain: CertificateChain, read: () => CertificateChain) {
    this.read = read;
    this.thumbprint = thumbprintOf(chain[0]);
  }

  describe(): CertificateDescription {
    this.description ??= describeCertificate(this.read()[0]);
    return this.description;
  }

  der(): Buffer {
    return this.read()[0].raw;
  }

  /** @returns null when the certificate is accepted */
  refusalBy(validator: PathValidator, now: number): CertificateRefusal | null {
    const { judgement } = this;
    if (judgement?.by === validator && isWithinTerm(judgement.term, now)) return judgement.refusal;
    const [certificate, ...issuers] = this.read();
    const verdict = validator.validate(certificate, issuers, now);
    const [refusal, term] =
      typeof verdict === 'string'
        ? [verdict, { notBefore: now, notAfter: now + REFUSED_FOR }]
        : [null, verdict];
    this.judgement = { by: validator, refusal, term };
    return refusal;
  }
}

/**
 * Looks through the headers as they came in: Node joins some that come twice, and drops others.
 * @param name in lower case, with hyphens
 * @returns the values, and whether the name is there with underscores too, which programs behind CGI take for the same
 */
export function findHeader(
  rawHeaders: readonly string[],
  name: string,
): { values: readonly string[]; isMisspelt: boolean } {
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
 * The right-most entry that is not a trusted proxy itself: each proxy adds on the right whom it was called by, and what
 * is further left may be the caller's own invention.
 * @param peer who the connection is from, a trusted proxy
 * @param header the values of `X-Forwarded-For`, joined by commas; empty for none
 */
export function clientAddress(peer: string, header: string, proxies: AddressSet): string {
  let client = plainAddress(peer);
  for (const entry of header.split(',').reverse()) {
    const address = readAddress(entry.trim());
    // Whoever has written that is the last one who is known.
    if (address === null) break;
    client = address;
    if (!proxies.has(address)) break;
  }
  return client;
}

/** An address, perhaps with a port: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]:4711`. */
function readAddress(entry: string): string | null {
  const address = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(entry)?.[1] ?? entry.replace(/^([\d.]+):\d{1,5}$/, '$1');
  return isIP(address) === 0 ? null : plainAddress(address);
}
