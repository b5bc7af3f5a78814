/** Who makes a request: known from the connection itself, or told by a trusted proxy that the connection is from. */

import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  type CertificateDescription,
  describeCertificate,
  type PresentedCertificate,
  thumbprintOf,
} from '../security/certificates.ts';
import type { PathValidator } from '../security/certification-path.ts';
import type { ForwardedCertificate, Proxies } from './proxies.ts';

export interface Client {
  /** IP address. */
  readonly address: string;
  /** The certificate whose key the client has proven to hold; null if it showed none. */
  readonly peer: PresentedCertificate | null;
  /**
   * Whether the certificate satisfies `HAWSER_NODE_CA` and `HAWSER_NODE_CRL` as they stand now, and is within its term.
   * Always true without a node CA, where the fingerprint alone decides.
   */
  readonly isTrusted: boolean;
}

/** Of a connection. Few ask for more than the thumbprint, and to describe a certificate takes a tenth of a handshake. */
export class PeerCertificate implements PresentedCertificate {
  readonly certificate: X509Certificate;
  /** SHA-256 over the DER form, 64 upper-case hex digits. */
  readonly thumbprint: string;
  private description: CertificateDescription | undefined;

  constructor(certificate: X509Certificate) {
    this.certificate = certificate;
    this.thumbprint = thumbprintOf(certificate);
  }

  describe(): CertificateDescription {
    this.description ??= describeCertificate(this.certificate);
    return this.description;
  }
}

/** What proxied requests are judged by; the authorities change while the server runs. */
export interface ProxiedTrust {
  readonly proxies: Proxies;
  /** Null without a node CA. */
  validator(): PathValidator | null;
  now(): number;
}

/**
 * Behind a trusted proxy, whose own certificate, if it showed one, says who the proxy is and never who the client is: not
 * even where it sends none, which is how it says that the client has none.
 */
export class ProxiedClient implements Client {
  private readonly request: IncomingMessage;
  private readonly proxy: string;
  private readonly trust: ProxiedTrust;
  private certificate: ForwardedCertificate | null | undefined;

  /** @param proxy its address */
  constructor(request: IncomingMessage, proxy: string, trust: ProxiedTrust) {
    this.request = request;
    this.proxy = proxy;
    this.trust = trust;
  }

  get address(): string {
    return this.trust.proxies.clientAddress(this.request, this.proxy);
  }

  get peer(): ForwardedCertificate | null {
    const takesChain = this.trust.validator() !== null;
    if (this.certificate === undefined)
      this.certificate = this.trust.proxies.certificateOf(this.request, { proxy: this.proxy, takesChain });
    return this.certificate;
  }

  get isTrusted(): boolean {
    const validator = this.trust.validator();
    return validator === null || (this.peer?.isAcceptedBy(validator, this.trust.now()) ?? false);
  }
}
