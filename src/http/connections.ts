/** Every connection of the listener: the peer's certificate, whether it is trusted, and what it is being answered. */

import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { chainsTo } from '../security/certificate-chain.ts';
import {
  type CertificateDescription,
  describeCertificate,
  isWithinTerm,
  type PresentedCertificate,
} from '../security/certificates.ts';
import type { NodeTrust } from '../security/tls-settings.ts';

/** Of a connection. Few ask for more than the thumbprint, and to describe a certificate takes a tenth of a handshake. */
export class PeerCertificate implements PresentedCertificate {
  readonly certificate: X509Certificate;
  /** SHA-256 over the DER form, 64 upper-case hex digits. */
  readonly thumbprint: string;
  private description: CertificateDescription | undefined;

  constructor(certificate: X509Certificate) {
    this.certificate = certificate;
    this.thumbprint = certificate.fingerprint256.replaceAll(':', '');
  }

  describe(): CertificateDescription {
    this.description ??= describeCertificate(this.certificate);
    return this.description;
  }
}

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

/** What is known of a connection from its handshake on. */
interface Connection {
  peer: PeerCertificate | null;
  /** Whether OpenSSL found a valid chain, by the authorities in force at the handshake. */
  verified: boolean;
  /** Which authorities those were: null when the handshake may have begun under others. */
  trust: NodeTrust | null;
  table: ConnectionTable;
}

const connections = new WeakMap<Socket, Connection>();

/** The client certificate of the connection, which its owner has proven to hold; null if it showed none. */
export function peerCertificate(socket: Socket): PeerCertificate | null {
  return connections.get(socket)?.peer ?? null;
}

/**
 * Whether the connection's certificate satisfies `HAWSER_NODE_CA` and `HAWSER_NODE_CRL` as they stand now, and
 * is within its term. Always true without a node CA, where the fingerprint alone decides.
 */
export function isTrusted(socket: Socket): boolean {
  const connection = connections.get(socket);
  return connection?.table.trusts(connection) ?? false;
}

/**
 * Whether a certificate that comes as text, its issuers behind it, chains to `HAWSER_NODE_CA`; always true without one.
 * Whether it is revoked is seen when it connects.
 */
export function wouldChain(socket: Socket, chain: readonly X509Certificate[]): boolean {
  const nodeCa = connections.get(socket)?.table.nodeCa ?? null;
  return nodeCa === null || chainsTo(chain, nodeCa);
}

export class ConnectionTable {
  private trust: NodeTrust;
  private readonly clock: Clock;
  private readonly log: Log;
  /** Sockets as accepted, by the peer's address: the handshake hands out another object for the same peer. */
  private readonly accepted = new Map<string, { socket: Socket; trust: NodeTrust }>();
  private readonly secured = new Map<Socket, Set<Exchange>>();
  private draining = false;

  constructor(trust: NodeTrust, clock: Clock, log: Log) {
    this.trust = trust;
    this.clock = clock;
    this.log = log;
  }

  addAccepted(socket: Socket): void {
    const address = addressOf(socket);
    const entry = { socket, trust: this.trust };
    this.accepted.set(address, entry);
    socket.once('close', () => {
      if (this.accepted.get(address) === entry) this.accepted.delete(address);
    });
  }

  addSecured(socket: TLSSocket): void {
    const trust = this.accepted.get(addressOf(socket))?.trust ?? null;
    connections.set(socket, { peer: readPeer(socket), verified: socket.authorized, trust, table: this });
    if (trust?.nodeCa && !socket.authorized) {
      const { authorizationError: reason, remoteAddress } = socket;
      this.log.debug({ reason, remoteAddress }, 'client certificate does not satisfy the node CA');
    }
    this.secured.set(socket, new Set());
    socket.once('close', () => this.secured.delete(socket));
    if (this.draining) socket.destroySoon();
  }

  addExchange(request: IncomingMessage, response: ServerResponse): void {
    const exchange = { request, response };
    const { socket } = request;
    this.secured.get(socket)?.add(exchange);
    if (this.draining) response.shouldKeepAlive = false;
    response.once('close', () => {
      this.secured.get(socket)?.delete(exchange);
      if (this.draining) this.endIfIdle(socket);
    });
  }

  /** What is being answered over the connection, oldest first; more than one when a client pipelines. */
  exchangesOf(socket: Socket): readonly Exchange[] {
    return [...(this.secured.get(socket) ?? [])];
  }

  get nodeCa(): string | null {
    return this.trust.nodeCa;
  }

  trusts({ peer, verified, trust }: Connection): boolean {
    if (this.trust.nodeCa === null) return true;
    // `verified` alone is not enough: a TLS 1.3 session resumed without any certificate counts as verified.
    return (
      peer !== null && verified && trust === this.trust && isWithinTerm(peer.describe(), this.clock.now())
    );
  }

  /** Under other authorities or lists, connections made before are not trusted, and idle ones end. */
  changeTrust({ nodeCa, nodeCrl }: NodeTrust): void {
    if (nodeCa === this.trust.nodeCa && nodeCrl === this.trust.nodeCrl) return;
    this.trust = { nodeCa, nodeCrl };
    for (const socket of this.secured.keys()) this.endIfIdle(socket);
  }

  /** Ends what is idle, and lets each answer in progress be the last on its connection. */
  drain(): void {
    this.draining = true;
    for (const [socket, exchanges] of this.secured) {
      // Not the header: error handlers drop headers that were set before, this stays.
      for (const { response } of exchanges) response.shouldKeepAlive = false;
      this.endIfIdle(socket);
    }
    const secured = new Set([...this.secured.keys()].map(addressOf));
    for (const [address, { socket }] of this.accepted) if (!secured.has(address)) socket.destroy();
  }

  destroyAll(): void {
    for (const socket of this.secured.keys()) socket.destroy();
    for (const { socket } of this.accepted.values()) socket.destroy();
  }

  private endIfIdle(socket: Socket): void {
    if ((this.secured.get(socket)?.size ?? 0) === 0) socket.destroySoon();
  }
}

/** Measured on Node 20: present on resumed sessions of TLS 1.2 and 1.3 as well. */
function readPeer(socket: TLSSocket): PeerCertificate | null {
  const certificate = socket.getPeerX509Certificate();
  return certificate ? new PeerCertificate(certificate) : null;
}

function addressOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
