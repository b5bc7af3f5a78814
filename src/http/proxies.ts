/** What trusted proxies say of their clients, and from whom such talk is ignored, with a warning. */

import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { CLIENT_CERT } from '../config.ts';
import { AddressSet } from '../lib/address-set.ts';
import { type Clock, MINUTE } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { findHeader, readClientCert, readEscapedPem } from './client-certificate-header.ts';
import { ForwardedCertificate } from './forwarded-certificate.ts';
import { clientAddress } from './forwarded-for.ts';

export interface ProxySettings {
  /** Addresses and CIDR ranges. */
  trusted: readonly string[];
  /** `Client-Cert` is read as RFC 9440 has it, any other as URL-encoded PEM. */
  certificateHeader: string;
}

/** Characters of header; no certificate in use is nearly as large. */
const MAX_LENGTH = 12 * 1024;
/** Of certificates seen lately, as text: enough for some 20,000 nodes. */
const CACHE_BYTES = 64 * 1024 * 1024;
/** What is kept of one beside its text, roughly. */
const ENTRY_BYTES = 1024;
/** A warning is given once in this time for each reason. */
const WARNING_INTERVAL = MINUTE;

export class Proxies {
  /** Of the header with the certificate, in lower case. */
  readonly headerName: string;
  private readonly isStandard: boolean;
  private readonly trusted: AddressSet;
  private readonly clock: Clock;
  private readonly log: Log;
  private readonly certificates = new LRUCache<string, ForwardedCertificate>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (_, text) => text.length + ENTRY_BYTES,
  });
  private readonly warnings = new Map<string, { at: number; more: number }>();

  constructor({ trusted, certificateHeader }: ProxySettings, clock: Clock, log: Log) {
    this.headerName = certificateHeader.toLowerCase();
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
    if (value === '' || value === '::') return null;
    const chain = takesChain && this.isStandard ? chainIn(rawHeaders) : '';
    if (value.length + chain.length > MAX_LENGTH) return this.ignore('too large', proxy);
    return this.recall(value, chain) ?? this.ignore('malformed', proxy);
  }

  /** For requests that come from elsewhere. */
  noteStray({ rawHeaders }: IncomingMessage, address: string): void {
    const { values, isMisspelt } = findHeader(rawHeaders, this.headerName);
    if (isMisspelt || values.length > 0)
      this.ignore('not from an address in HAWSER_TRUSTED_PROXIES', address);
  }

  private recall(value: string, chain: string): ForwardedCertificate | null {
    // No header holds a line break, so no other pair makes the same key.
    const key = chain === '' ? value : `${value}\n${chain}`;
    const known = this.certificates.get(key);
    if (known !== undefined) return known;
    try {
      const read = () => (this.isStandard ? readClientCert(value, chain) : readEscapedPem(value));
      const certificate = new ForwardedCertificate(read(), read);
      this.certificates.set(key, certificate);
      return certificate;
    } catch {
      return null;
    }
  }

  /** Never with the value, which may be anything. */
  private ignore(reason: string, address: string): null {
    const now = this.clock.now();
    const last = this.warnings.get(reason);
    if (last !== undefined && now - last.at < WARNING_INTERVAL) {
      last.more += 1;
      return null;
    }
    this.warnings.set(reason, { at: now, more: 0 });
    const { headerName: header } = this;
    this.log.warn(
      { header, reason, address, moreBefore: last?.more ?? 0 },
      'client certificate header ignored',
    );
    return null;
  }
}

/** It is a list, which may come in parts (RFC 9440 2.3). */
function chainIn(rawHeaders: readonly string[]): string {
  return findHeader(rawHeaders, `${CLIENT_CERT}-chain`.toLowerCase()).values.join(',');
}
