/** Who makes a request. The connection itself shows it, or a trusted proxy tells it. */

import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  type CertificateDescription,
  type CertificateRefusal,
  describeCertificate,
  type PresentedCertificate,
  thumbprintOf,
} from '../security/certificates.ts';
import type { PathValidator } from '../security/certification-path.ts';
import type { ForwardedCertificate, Proxies } from './proxies.ts';

/** Why a client is not trusted. A connection from before a change of authorities must be made anew. */
export type Distrust = CertificateRefusal | 'connected_before';

export interface Client {
  /** The IP address. */
  readonly address: string;
  /** The certificate whose key the client has proven to hold; null without one. */
  readonly peer: PresentedCertificate | null;
  /**
   * Null if the certificate satisfies `HAWSER_NODE_CA` and `HAWSER_NODE_CRL` as they stand now, and is within its term.
   * It is always null without a node CA, where the fingerprint alone decides.
   */
  readonly distrust: Distrust | null;
}

/**
 * The certificate of a connection. It is described only when somebody asks, because few need more than the thumbprint and
 * a description takes a tenth of a handshake.
 */
export class PeerCertificate implements PresentedCertificate {
  readonly certificate: X509Certificate;
  /** The SHA-256 of the DER form in 64 upper-case hexadecimal digits. */
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

  der(): Buffer {
    return this.certificate.raw;
  }
}

/** What proxied requests are judged by. The authorities change while the server runs. */
export interface ProxiedTrust {
  readonly proxies: Proxies;
  /** The result is null without a node CA. */
  validator(): PathValidator | null;
  now(): number;
}

/**
 * A client behind a trusted proxy. The proxy's own certificate says who the proxy is and never who the client is, also
 * where the proxy passes on no certificate, which means that the client has none.
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

  get distrust(): Distrust | null {
    const validator = this.trust.validator();
    if (validator === null) return null;
    return this.peer === null ? 'certificate_untrusted' : this.peer.refusalBy(validator, this.trust.now());
  }
}
