/** Knows every connection of the listener: who is at the other end, whether they are trusted, and what is in progress. */

import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type CertificateRefusal, chainsTo, isWithinTerm } from '../security/certificates.ts';
import type { PathValidator } from '../security/certification-path.ts';
import type { NodeTrust } from '../security/tls-settings.ts';
import { type Client, type Distrust, PeerCertificate, ProxiedClient, type ProxiedTrust } from './client.ts';
import type { Proxies } from './proxies.ts';

/** What is known of a connection from its handshake on, or from its start without TLS. */
class Connection implements Client {
  readonly address: string;
  readonly peer: PeerCertificate | null;
  /** Why OpenSSL found no valid chain, by the authorities in force at the handshake; null if it found one. */
  readonly refusal: CertificateRefusal | null;
  /** The authorities at the handshake; null when it may have begun under others. */
  readonly trust: NodeTrust | null;
  readonly table: ConnectionTable;
  /** Whether it comes from a trusted proxy. Each of its requests may then be another client's. */
  readonly isProxied: boolean;

  constructor(
    socket: Socket,
    table: ConnectionTable,
    { peer, refusal, trust }: Pick<Connection, 'peer' | 'refusal' | 'trust'>,
  ) {
    this.address = socket.remoteAddress ?? '';
    this.peer = peer;
    this.refusal = refusal;
    this.trust = trust;
    this.table = table;
    this.isProxied = table.proxies.includes(this.address);
  }

  get distrust(): Distrust | null {
    return this.table.distrustOf(this);
  }
}

const connections = new WeakMap<Socket, Connection>();
const proxiedClients = new WeakMap<IncomingMessage, ProxiedClient>();
const NOBODY: Client = { address: '', peer: null, distrust: 'certificate_untrusted' };

/** Who makes the request. Every poll asks, so this does next to nothing where no proxy stands between. */
export function clientOf(request: IncomingMessage): Client {
  const connection = connections.get(request.socket);
  if (connection === undefined) return NOBODY;
  if (connection.isProxied) return proxiedClientOf(request, connection);
  const { table, peer, address } = connection;
  if (peer === null || request.headers[table.proxies.headerName] !== undefined)
    table.proxies.noteStray(request, address);
  return connection;
}

/** Whether the connection comes from a trusted proxy. Each of its requests may then be another client's. */
export function isProxied(socket: Socket): boolean {
  return connections.get(socket)?.isProxied ?? false;
}

/** Makes this answer the last on its connection, unless that is a proxy's, which carries many clients. */
export function endAfterAnswer(response: ServerResponse): void {
  if (!isProxied(response.req.socket)) response.shouldKeepAlive = false;
}

function proxiedClientOf(request: IncomingMessage, { address, table }: Connection): ProxiedClient {
  const known = proxiedClients.get(request);
  if (known !== undefined) return known;
  const client = new ProxiedClient(request, address, table);
  proxiedClients.set(request, client);
  return client;
}

/**
 * Whether a certificate that comes as text, with its issuers behind it, chains to `HAWSER_NODE_CA`. Without a node CA it is
 * always true. Whether the certificate is revoked is judged when it connects.
 */
export function wouldChain(socket: Socket, chain: readonly X509Certificate[]): boolean {
  const nodeCa = connections.get(socket)?.table.nodeCa ?? null;
  return nodeCa === null || chainsTo(chain, nodeCa);
}

export class ConnectionTable implements ProxiedTrust {
  readonly proxies: Proxies;
  private trust: NodeTrust;
  /** It is made when first needed, because without proxies OpenSSL judges. */
  private paths: PathValidator | null = null;
  private readonly clock: Clock;
  private readonly log: Log;
  /** Accepted sockets by the peer's address. The handshake hands out another object for the same peer. */
  private readonly accepted = new Map<string, { socket: Socket; trust: NodeTrust }>();
  /**
   * Sockets on which requests can come, which with TLS is after the handshake, with the answers in progress. Most answers
   * are sent at once, so most sockets never have a set.
   */
  private readonly open = new Map<Socket, Set<ServerResponse> | null>();
  /** All sockets share this listener, and all responses the other one. */
  private readonly removeSocket: (this: Socket) => void;
  private readonly removeAnswer: (this: ServerResponse) => void;
  private draining = false;

  constructor(trust: NodeTrust, proxies: Proxies, { clock, log }: { clock: Clock; log: Log }) {
    this.trust = trust;
    this.proxies = proxies;
    this.clock = clock;
    this.log = log;
    const table = this;
    this.removeSocket = function () {
      table.open.delete(this);
    };
    this.removeAnswer = function () {
      const { socket } = this.req;
      table.open.get(socket)?.delete(this);
      if (table.draining) table.endIfIdle(socket);
    };
  }

  addAccepted(socket: Socket): void {
    const address = addressOf(socket);
    const entry = { socket, trust: this.trust };
    this.accepted.set(address, entry);
    socket.on('close', () => {
      if (this.accepted.get(address) === entry) this.accepted.delete(address);
    });
  }

  /** The accepted socket beneath one of TLS. */
  acceptedOf(socket: Socket): Socket | undefined {
    return this.accepted.get(addressOf(socket))?.socket;
  }

  addSecured(socket: TLSSocket): void {
    const trust = this.accepted.get(addressOf(socket))?.trust ?? null;
    const { takesCertificates } = this.proxies;
    const peer = takesCertificates ? readPeer(socket) : null;
    this.add(socket, new Connection(socket, this, { peer, refusal: refusalOf(socket), trust }));
    if (takesCertificates && trust?.nodeCa && !socket.authorized) {
      const { authorizationError: reason, remoteAddress } = socket;
      this.log.debug({ reason, remoteAddress }, 'client certificate does not satisfy the node CA');
    }
  }

  addPlain(socket: Socket): void {
    this.add(
      socket,
      new Connection(socket, this, { peer: null, refusal: 'certificate_untrusted', trust: null }),
    );
  }

  private add(socket: Socket, connection: Connection): void {
    connections.set(socket, connection);
    this.open.set(socket, null);
    socket.on('close', this.removeSocket);
    if (this.draining) socket.destroySoon();
  }

  /** Notes an answer for as long as it is being made or on its way. */
  addAnswer(response: ServerResponse): void {
    const { socket } = response.req;
    const answers = this.open.get(socket);
    if (answers) answers.add(response);
    else if (answers === null) this.open.set(socket, new Set([response]));
    response.on('close', this.removeAnswer);
  }

  /** Whether each answer is the last on its connection. */
  get isDraining(): boolean {
    return this.draining;
  }

  /** The open answers of a connection, oldest first. There are several when a client pipelines. */
  openAnswersOf(socket: Socket): readonly ServerResponse[] {
    return [...(this.open.get(socket) ?? [])];
  }

  get nodeCa(): string | null {
    return this.trust.nodeCa;
  }

  now(): number {
    return this.clock.now();
  }

  validator(): PathValidator | null {
    const { newValidator } = this.trust;
    if (newValidator === null) return null;
    if (this.paths === null) {
      this.paths = newValidator();
      if (!this.paths.isComplete)
        this.log.error(
          'a list in HAWSER_NODE_CRL cannot be read: proxied nodes under its issuer are refused',
        );
    }
    return this.paths;
  }

  distrustOf({ peer, refusal, trust }: Connection): Distrust | null {
    if (this.trust.nodeCa === null) return null;
    if (trust !== this.trust) return 'connected_before';
    // The handshake alone is not enough: OpenSSL finds no fault in a TLS 1.3 session resumed without any certificate.
    if (peer === null) return 'certificate_untrusted';
    if (refusal !== null) return refusal;
    return isWithinTerm(peer.describe(), this.clock.now()) ? null : 'certificate_untrusted';
  }

  /**
   * Takes other authorities and lists. Earlier connections are not trusted from then on, and idle ones end. Connections of
   * proxies stay, because their certificates are checked with every request.
   */
  changeTrust({ nodeCa, nodeCrl, newValidator }: NodeTrust): void {
    if (nodeCa === this.trust.nodeCa && nodeCrl === this.trust.nodeCrl) return;
    this.trust = { nodeCa, nodeCrl, newValidator };
    this.paths = null;
    for (const socket of this.open.keys()) {
      if (connections.get(socket)?.isProxied === false) this.endIfIdle(socket);
    }
  }

  /** Ends idle connections, and lets each answer in progress be the last on its connection. */
  drain(): void {
    this.draining = true;
    for (const [socket, responses] of this.open) {
      // This stays where error handlers drop headers that were set before.
      for (const response of responses ?? []) response.shouldKeepAlive = false;
      this.endIfIdle(socket);
    }
    const open = new Set([...this.open.keys()].map(addressOf));
    for (const [address, { socket }] of this.accepted) if (!open.has(address)) socket.destroy();
  }

  destroyAll(): void {
    for (const socket of this.open.keys()) socket.destroy();
    for (const { socket } of this.accepted.values()) socket.destroy();
  }

  private endIfIdle(socket: Socket): void {
    if ((this.open.get(socket)?.size ?? 0) === 0) socket.destroySoon();
  }
}

/** Resumed sessions of TLS 1.2 and 1.3 have the certificate too (measured on Node 20). */
function readPeer(socket: TLSSocket): PeerCertificate | null {
  // The peer has gone, so nobody knows whether it was a proxy.
  if (socket.remoteAddress === undefined) return null;
  const certificate = socket.getPeerX509Certificate();
  return certificate ? new PeerCertificate(certificate) : null;
}

/** What OpenSSL says of revocation. All else that it finds means that the certificate is not of the node CA. */
const REVOCATION: Readonly<Record<string, CertificateRefusal>> = {
  CERT_REVOKED: 'certificate_revoked',
  CRL_HAS_EXPIRED: 'crl_expired',
  CRL_NOT_YET_VALID: 'crl_expired',
};

function refusalOf({ authorized, authorizationError }: TLSSocket): CertificateRefusal | null {
  return authorized ? null : (REVOCATION[String(authorizationError)] ?? 'certificate_untrusted');
}

function addressOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
