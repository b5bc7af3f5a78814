/**
 * The listener: asks for client certificates, or speaks plain HTTP to a proxy that does, remembers who is at the other
 * end of each connection, takes new certificates while it runs, and closes without cutting off what it is answering.
 */

import { randomBytes, constants as tlsConstants } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer as createPlainServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { type Clock, MINUTE, SECOND } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { splitCrls } from '../security/certificates.ts';
import type { TlsMaterial } from '../security/tls-files.ts';
import { ConnectionTable } from './connections.ts';
import {
  answerBadHost,
  answerClientError,
  answerConnect,
  answerPlainHttp,
  countHosts,
  isPlainHttp,
} from './malformed.ts';
import { Proxies, type ProxySettings } from './proxies.ts';

/** The listener speaks plain HTTP if it has no certificate of the server. */
export type ListenerMaterial = Omit<TlsMaterial, 'ca'>;

export interface ListenerOptions {
  material: ListenerMaterial;
  proxies: ProxySettings;
  /** Whether clients may show certificates, themselves or by a proxy. By default they are asked for one. */
  takesCertificates?: boolean;
  /** 48 bytes, by which other servers can resume TLS sessions too. By default only this one can. */
  ticketKeys?: Buffer;
  handler: (request: IncomingMessage, response: ServerResponse) => void;
  /** Counts each answer to what never became a request, by the code of its problem. */
  onProblem?: (code: string) => void;
  log: Log;
  clock: Clock;
}

export interface Listener {
  server: Server | TlsServer;
  /** Resolves to the port in use, which matters for port 0. */
  listen(host: string, port: number): Promise<number>;
  /** Takes other certificates for new connections. If OpenSSL refuses them it throws, and keeps the old ones. */
  reload(material: ListenerMaterial, ticketKeys?: Buffer): void;
  /** Resolves once every connection is gone. Answers in progress have `graceMs` milliseconds to finish. */
  close(graceMs: number): Promise<void>;
}

/** Names the TLS sessions of a listener that takes no certificates. */
const WITH_CERTIFICATES = 'hawser with certificates';
const WITHOUT_CERTIFICATES = 'hawser without certificates';

const OPTIONS = {
  // The contract promises agents 120 s between polls. A little more spares them a race.
  keepAliveTimeout: 125 * SECOND,
  headersTimeout: 30 * SECOND,
  requestTimeout: 5 * MINUTE,
  connectionsCheckingInterval: 5 * SECOND,
  // Node's own answer would have another form than all other errors.
  requireHostHeader: false,
};

export function createListener(options: ListenerOptions): Listener {
  const { material, ticketKeys, handler, log, clock, takesCertificates = true } = options;
  const watchers = { log, onProblem: options.onProblem ?? (() => undefined) };
  const proxies = { ...options.proxies, takesCertificates };
  if (material.server === null && takesCertificates && proxies.trusted.length === 0)
    log.warn('HAWSER_TLS=off without HAWSER_TRUSTED_PROXIES: no node can show a certificate');
  const connections = new ConnectionTable(material, new Proxies(proxies, clock, log), { clock, log });
  const { server, renew } =
    material.server === null ? plainServer(connections) : tlsServer(material, connections, ticketKeys);
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    if (connections.isDraining) response.shouldKeepAlive = false;
    const hosts = countHosts(request);
    if (hosts === 1 || (hosts === 0 && request.httpVersion === '1.0')) handler(request, response);
    else answerBadHost(response, hosts, watchers);
    // A poll is answered at once and leaves nothing to look after.
    if (!response.writableEnded) connections.addAnswer(response);
  };
  server.on('request', onRequest);
  // An unknown expectation may be ignored (RFC 9110 10.1.1).
  server.on('checkExpectation', onRequest);
  server.on('connect', (_request, socket: Socket) => {
    answerConnect(socket, connections.openAnswersOf(socket), watchers);
  });
  server.on('clientError', (error, socket: Socket) => {
    const accepted = isPlainHttp(error) ? connections.acceptedOf(socket) : undefined;
    if (accepted !== undefined) answerPlainHttp(accepted, watchers);
    else answerClientError(error, socket, connections.openAnswersOf(socket), watchers);
  });
  server.on('error', (error) => log.error({ err: error }, 'listener failed'));
  let closing: Promise<void> | undefined;
  return {
    server,
    listen: (host, port) => listen(server, host, port),
    reload: (next, keys) => {
      renew(next, keys ?? randomBytes(48));
      connections.changeTrust(next);
    },
    close: (graceMs) => {
      closing ??= close(server, connections, graceMs);
      return closing;
    },
  };
}

interface MadeServer {
  server: Server | TlsServer;
  /** It throws if OpenSSL refuses the material. */
  renew(material: ListenerMaterial, ticketKeys: Buffer): void;
}

function plainServer(connections: ConnectionTable): MadeServer {
  const server = createPlainServer(OPTIONS);
  // This comes before the HTTP layer sees the connection, so that each request has a known connection.
  server.prependListener('connection', (socket) => connections.addPlain(socket));
  return { server, renew: () => undefined };
}

function tlsServer(
  material: ListenerMaterial,
  connections: ConnectionTable,
  ticketKeys: Buffer | undefined,
): MadeServer {
  const server = createTlsServer({
    ...OPTIONS,
    ...contextOptions(material),
    handshakeTimeout: 20 * SECOND,
    requestCert: connections.proxies.takesCertificates,
    // A session that began with a certificate is not resumed where none is taken. By default the command line is the
    // context, which differs between servers.
    sessionIdContext: connections.proxies.takesCertificates ? WITH_CERTIFICATES : WITHOUT_CERTIFICATES,
    // Certificates of nodes are mostly self-signed. Who may enter is decided for each request, see clientOf.
    rejectUnauthorized: false,
    ...(ticketKeys && { ticketKeys }),
  });
  server.on('connection', (socket: Socket) => connections.addAccepted(socket));
  server.prependListener('secureConnection', (socket) => connections.addSecured(socket));
  const renew = (next: ListenerMaterial, keys: Buffer) => {
    server.setSecureContext(contextOptions(next));
    // With other keys no earlier session is resumed, because its certificate may no longer be accepted.
    server.setTicketKeys(keys);
  };
  return { server, renew };
}

function contextOptions({ server, nodeCa, nodeCrl }: ListenerMaterial): SecureContextOptions {
  return {
    ...(server === null ? {} : { cert: server.certificate, key: server.key }),
    minVersion: 'TLSv1.2',
    // A renegotiated handshake could change the certificate of a connection that is known already.
    secureOptions: tlsConstants.SSL_OP_NO_RENEGOTIATION,
    ...(nodeCa === null ? {} : { ca: nodeCa }),
    ...(nodeCrl === null ? {} : { crl: splitCrls(nodeCrl) }),
  };
}

async function listen(server: Server | TlsServer, host: string, port: number): Promise<number> {
  await once(server.listen(port, host), 'listening');
  return (server.address() as AddressInfo).port;
}

async function close(
  server: Server | TlsServer,
  connections: ConnectionTable,
  graceMs: number,
): Promise<void> {
  const deadline = setTimeout(() => connections.destroyAll(), graceMs);
  const closed = once(server.close(), 'close');
  connections.drain();
  await closed;
  clearTimeout(deadline);
}
