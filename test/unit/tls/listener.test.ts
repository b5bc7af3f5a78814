/** The listener over real TLS: who is at the other end, what is answered to broken requests, how it closes. */

import { once } from 'node:events';
import { IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { connect as connectPlain, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { clientOf } from '../../../src/http/connections.ts';
import { createListener, type Listener, type ListenerMaterial } from '../../../src/http/listener.ts';
import { DAY, SECOND } from '../../../src/lib/clock.ts';
import { createLog } from '../../../src/lib/log.ts';
import { createAuthority, issueServerCertificate } from '../../../src/security/certificate-authority.ts';
import { type ClientCertificate, makeClientCertificate } from '../../support/client-certificates.ts';
import { failureOf } from '../../support/failures.ts';
import { type Client, clientOn } from './client.ts';
import { OpensslAuthority, type Pair, Workspace } from './openssl.ts';

const get = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: a', ...headers, '\r\n'].join('\r\n');
const post = (path: string, headers: string, body = '') =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n\r\n${body}`;

interface Seen {
  thumbprint: string | null;
  trusted: boolean;
  distrust: string | null;
  reused: boolean;
  protocol: string;
}

describe('listener', () => {
  let material: ListenerMaterial;
  let agentCertificate: ClientCertificate;
  let listener: Listener;
  let port: number;
  let now: () => number;
  let pending: ServerResponse[];
  const clients: Socket[] = [];

  before(async () => {
    const ca = await createAuthority(Date.now());
    const server = await issueServerCertificate(ca, ['localhost', '127.0.0.1'], Date.now());
    material = { server, nodeCa: null, nodeCrl: null, newValidator: null };
    agentCertificate = await makeClientCertificate({ commonName: 'web-01', rsa: true });
  });

  beforeEach(() => {
    now = Date.now;
    pending = [];
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await listener.close(0);
  });

  function handle(request: IncomingMessage, response: ServerResponse): void {
    if (request.url === '/slow') {
      pending.push(response);
      return;
    }
    const socket = request.socket as TLSSocket;
    const { peer, distrust } = clientOf(request);
    const seen: Seen = {
      thumbprint: peer?.thumbprint ?? null,
      trusted: distrust === null,
      distrust,
      reused: socket.isSessionReused(),
      protocol: socket.getProtocol() ?? '',
    };
    response.end(JSON.stringify(seen));
  }

  function makeListener(changes: Partial<ListenerMaterial> = {}): Listener {
    return createListener({
      material: { ...material, ...changes },
      proxies: { trusted: [], certificateHeader: 'Client-Cert' },
      handler: handle,
      log: createLog('silent'),
      clock: { now: () => now() },
    });
  }

  async function start(changes: Partial<ListenerMaterial> = {}): Promise<void> {
    listener = makeListener(changes);
    port = await listener.listen('127.0.0.1', 0);
  }

  async function open(options: ConnectionOptions = {}): Promise<Client<TLSSocket>> {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
    clients.push(socket);
    return clientOn(socket, 'secureConnect');
  }

  async function until(condition: () => boolean): Promise<void> {
    for (let waited = 0; !condition() && waited < 8 * SECOND; waited += 5) await delay(5);
    expect(condition()).to.equal(true);
  }

  /** Asks once more over the connection, which stays open. */
  async function ask({ socket, received }: Client<TLSSocket>): Promise<Seen> {
    const before = received().length;
    socket.write(get('/'));
    await until(() => received().slice(before).includes('}'));
    return JSON.parse(received().slice(before).split('\r\n\r\n')[1] ?? '');
  }

  async function seenOf(options: ConnectionOptions = {}): Promise<Seen> {
    const client = await open(options);
    const seen = await ask(client);
    client.socket.destroy();
    return seen;
  }

  /** The session of a connection that has asked once: TLS 1.3 hands it out after the handshake. */
  async function sessionOf(options: ConnectionOptions): Promise<Buffer> {
    const client = await open(options);
    const received = new Promise<Buffer>((resolve) => {
      client.socket.on('session', resolve);
    });
    const session = client.socket.getProtocol() === 'TLSv1.2' ? client.socket.getSession() : undefined;
    await ask(client);
    const found = session ?? (await received);
    client.socket.destroy();
    return found;
  }

  describe('peers', () => {
    it('are known by the SHA-256 of their certificate, in upper case and without colons', async () => {
      await start();
      const { cert, key, thumbprint } = agentCertificate;
      expect(await seenOf({ cert, key })).to.include({ thumbprint, trusted: true });
      expect(thumbprint).to.match(/^[0-9A-F]{64}$/);
    });

    it('may come without a certificate', async () => {
      await start();
      expect(await seenOf()).to.include({ thumbprint: null, trusted: true });
    });

    it('keep their certificate over many requests and after the connection is gone', async () => {
      await start();
      const secured = once(listener.server, 'secureConnection');
      const client = await open(agentCertificate);
      const [socket] = (await secured) as [TLSSocket];
      const { peer: first } = clientOf(new IncomingMessage(socket));
      await ask(client);
      await ask(client);
      expect(clientOf(new IncomingMessage(socket)).peer).to.equal(first);
      client.socket.destroy();
      await once(socket, 'close');
      expect(clientOf(new IncomingMessage(socket)).peer).to.equal(first);
      expect(first?.describe().subject).to.equal('CN=web-01');
    });

    it('are nobody on a socket that is not of this listener', () => {
      const socket = connectPlain({ port, host: '127.0.0.1' }).on('error', () => undefined);
      socket.destroy();
      expect(clientOf(new IncomingMessage(socket))).to.include({
        peer: null,
        distrust: 'certificate_untrusted',
      });
    });

    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const only = { minVersion: version, maxVersion: version };

      it(`keep their certificate when a ${version} session is resumed`, async () => {
        await start();
        const { cert, key, thumbprint } = agentCertificate;
        const session = await sessionOf({ ...only, cert, key });
        const seen = { thumbprint, trusted: true, distrust: null, reused: true, protocol: version };
        expect(await seenOf({ ...only, cert, key, session })).to.deep.equal(seen);
        // The session alone proves it: a resumed handshake sends no certificate.
        expect(await seenOf({ ...only, session })).to.deep.equal(seen);
      });

      it(`are not trusted for resuming a ${version} session that had no certificate`, async () => {
        const space = new Workspace();
        await start({ nodeCa: new OpensslAuthority(space).certificate });
        space.remove();
        const session = await sessionOf(only);
        expect(await seenOf({ ...only, session })).to.deep.include({
          thumbprint: null,
          trusted: false,
          reused: true,
        });
      });
    }

    it('cannot renegotiate in TLS 1.2', async () => {
      await start();
      const client = await open({ ...agentCertificate, maxVersion: 'TLSv1.2' });
      client.socket.renegotiate({}, () => undefined);
      await client.closed;
    });

    it('need at least TLS 1.2', async () => {
      await start();
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
      expect(await failureOf(open(old))).to.be.instanceOf(Error);
    });
  });

  describe('with a node CA', () => {
    let space: Workspace;
    let authority: OpensslAuthority;
    let good: Pair;

    before(() => {
      space = new Workspace();
      authority = new OpensslAuthority(space);
      good = authority.issue();
    });

    after(() => space.remove());

    const startUnder = (changes: Partial<ListenerMaterial> = {}) =>
      start({ nodeCa: authority.certificate, ...changes });

    const reloadUnder = (changes: Partial<ListenerMaterial> = {}) =>
      listener.reload({ ...material, nodeCa: authority.certificate, ...changes });

    it('trusts only valid client certificates that chain to it', async () => {
      const past = authority.issue('client', '-startdate', '20200101000000Z', '-enddate', '20210101000000Z');
      await startUnder();
      expect((await seenOf(good)).trusted).to.equal(true);
      for (const other of [authority.issue('server'), agentCertificate, past])
        expect((await seenOf({ ...other })).distrust).to.equal('certificate_untrusted');
      const none = await seenOf();
      expect(none).to.include({ thumbprint: null, distrust: 'certificate_untrusted' });
    });

    it('refuses what its list revokes, and everything under a list that is overdue', async () => {
      const revoked = authority.issue();
      authority.revoke(revoked);
      await startUnder({ nodeCrl: authority.crl() });
      expect((await seenOf(good)).trusted).to.equal(true);
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
        const only = { ...revoked, minVersion: version, maxVersion: version };
        expect((await seenOf(only)).distrust).to.equal('certificate_revoked');
        // The list speaks of its own authority alone.
        const stranger = { ...agentCertificate, minVersion: version, maxVersion: version };
        expect((await seenOf(stranger)).distrust).to.equal('certificate_untrusted');
        const session = await sessionOf(only);
        expect(await seenOf({ ...only, session })).to.include({
          distrust: 'certificate_revoked',
          reused: true,
        });
      }
      const term = ['-crl_lastupdate', '20200101000000Z', '-crl_nextupdate', '20210101000000Z'];
      const overdue = authority.crl(...term);
      reloadUnder({ nodeCrl: overdue });
      for (const pair of [good, revoked])
        expect((await seenOf({ ...pair })).distrust).to.equal('crl_expired');
      expect((await seenOf(agentCertificate)).distrust).to.equal('certificate_untrusted');
    });

    it('reads every authority and every list of its files', async () => {
      const otherSpace = new Workspace();
      const other = new OpensslAuthority(otherSpace, 'Other CA');
      const node = other.issue();
      const nodeCa = authority.certificate + other.certificate;
      await start({ nodeCa, nodeCrl: authority.crl() + other.crl() });
      expect((await seenOf({ ...node })).trusted).to.equal(true);
      other.revoke(node);
      listener.reload({ ...material, nodeCa, nodeCrl: authority.crl() + other.crl() });
      expect((await seenOf({ ...node })).trusted).to.equal(false);
      otherSpace.remove();
    });

    it('stops trusting a connection whose certificate runs out', async () => {
      await startUnder();
      const client = await open(good);
      expect((await ask(client)).trusted).to.equal(true);
      now = () => Date.now() + 6 * DAY;
      expect((await ask(client)).trusted).to.equal(false);
    });

    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      it(`resumes no ${version} session from before another list`, async () => {
        await startUnder();
        const only = { ...good, minVersion: version, maxVersion: version };
        const session = await sessionOf(only);
        expect(await seenOf({ ...only, session })).to.include({ trusted: true, reused: true });
        reloadUnder({ nodeCrl: authority.crl() });
        expect(await seenOf({ ...only, session })).to.include({ trusted: true, reused: false });
      });
    }

    it('trusts no connection from before another list: idle ones end, busy ones are refused', async () => {
      await startUnder();
      const idle = await open(good);
      expect((await ask(idle)).trusted).to.equal(true);
      const busy = await open(good);
      busy.socket.write(get('/slow'));
      await until(() => pending.length === 1);
      reloadUnder({ nodeCrl: authority.crl() });
      await idle.closed;
      pending[0]?.end('{}');
      await until(() => busy.received().includes('}'));
      expect((await ask(busy)).distrust).to.equal('connected_before');
      expect((await seenOf(good)).trusted).to.equal(true);
    });

    it('trusts no connection whose handshake began before the change', async () => {
      await startUnder();
      const raw = connectPlain({ port, host: '127.0.0.1' });
      clients.push(raw);
      await once(listener.server, 'connection');
      reloadUnder({ nodeCrl: authority.crl() });
      const client = await open({ ...good, socket: raw });
      expect((await ask(client)).trusted).to.equal(false);
    });

    it('keeps connections when only the server certificate changes', async () => {
      await startUnder();
      const client = await open(good);
      await ask(client);
      const ca = await createAuthority(Date.now());
      const next = await issueServerCertificate(ca, ['localhost'], Date.now());
      reloadUnder({ server: next });
      expect((await ask(client)).trusted).to.equal(true);
      const { socket } = await open();
      expect(socket.getPeerX509Certificate()?.toString()).to.equal(next.certificate);
    });

    it('begins and ends with a reload', async () => {
      await start();
      const client = await open(agentCertificate);
      client.socket.write(get('/slow'));
      await until(() => pending.length === 1);
      reloadUnder();
      pending[0]?.end('{}');
      await until(() => client.received().includes('}'));
      expect((await ask(client)).trusted).to.equal(false);
      listener.reload(material);
      expect((await seenOf(agentCertificate)).trusted).to.equal(true);
    });

    it('keeps what it has when the new material is refused', async () => {
      await startUnder();
      expect(() =>
        listener.reload({ ...material, server: { certificate: 'nonsense', key: 'nonsense' } }),
      ).to.throw();
      expect((await seenOf(good)).trusted).to.equal(true);
      expect((await seenOf(agentCertificate)).trusted).to.equal(false);
    });
  });

  describe('broken requests', () => {
    /** Sends the text as it is and reads until the server closes. */
    async function answerTo(text: string): Promise<{ status: string; headers: string; problem: unknown }> {
      const client = await open();
      client.socket.write(text);
      await client.closed;
      const [head = '', body = ''] = client.received().split('\r\n\r\n');
      const [status = '', ...headers] = head.split('\r\n');
      return { status, headers: headers.join('\n'), problem: JSON.parse(body) };
    }

    const CHUNKED = 'Transfer-Encoding: chunked';
    const TOO_LARGE = [431, 'header_too_large'] as const;
    const MALFORMED = [400, 'malformed_request'] as const;
    const PROBLEMS: [name: string, text: string, expected: readonly [status: number, code: string]][] = [
      ['oversized headers', get('/', `X: ${'x'.repeat(20_000)}`), TOO_LARGE],
      ['an oversized path', get(`/${'x'.repeat(20_000)}`), TOO_LARGE],
      ['another protocol', 'HELO there\r\n\r\n', MALFORMED],
      ['two lengths', post('/', `Content-Length: 1\r\n${CHUNKED}`), MALFORMED],
      ['a missing Host', 'GET / HTTP/1.1\r\n\r\n', MALFORMED],
      ['a broken chunk', post('/slow', CHUNKED, 'zzz\r\n'), MALFORMED],
    ];
    for (const [name, text, [status, code]] of PROBLEMS) {
      const title = STATUS_CODES[status];
      it(`are answered as problems: ${name}`, async () => {
        await start();
        const answer = await answerTo(text);
        expect(answer.status).to.equal(`HTTP/1.1 ${status} ${title}`);
        expect(answer.headers).to.match(/^Content-Type: application\/problem\+json/m);
        expect(answer.headers)
          .to.match(/^X-Request-Id: [0-9a-f-]{36}$/m)
          .and.to.match(/^Connection: close$/m);
        expect(answer.problem).to.deep.include({ type: 'about:blank', title, status, code });
        expect(await seenOf()).to.have.property('trusted', true);
      });
    }

    it('are answered as problems: one that never ends', async () => {
      await start();
      listener.server.headersTimeout = 100;
      const answer = await answerTo('GET / HTTP/1.1\r\nHost: a\r\n');
      expect(answer.status).to.equal('HTTP/1.1 408 Request Timeout');
      expect(answer.problem).to.deep.include({ status: 408, code: 'request_timeout' });
    });

    it('are not answered ahead of an earlier request, nor behind an answer that has begun', async () => {
      await start();
      const client = await open();
      client.socket.write(`${get('/slow')}nonsense\r\n\r\n`);
      await client.closed;
      expect(client.received()).to.equal('');
      const begun = await open();
      begun.socket.write(post('/slow', 'Transfer-Encoding: chunked'));
      await until(() => pending.some((response) => !response.destroyed));
      pending.at(-1)?.writeHead(200).write('half');
      await until(() => begun.received().includes('half'));
      begun.socket.write('zzz\r\n');
      await begun.closed;
      expect(begun.received()).to.not.contain('problem');
    });

    it('takes a request that expects what nobody knows', async () => {
      await start();
      const client = await open();
      client.socket.write(get('/', 'Expect: wonders', 'Connection: close'));
      await client.closed;
      expect(client.received()).to.match(/^HTTP\/1\.1 200/);
    });

    it('survives plain HTTP, garbage, resets and half handshakes on the port', async () => {
      await start();
      for (const text of [
        'GET / HTTP/1.1\r\n\r\n',
        '\0\0\0',
        '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      ]) {
        const socket = connectPlain({ port, host: '127.0.0.1' }).on('error', () => undefined);
        socket.write(text, 'latin1');
        await delay(20);
        socket.resetAndDestroy();
      }
      const client = await open(agentCertificate);
      client.socket.write(post('/', 'Content-Length: 10', 'half'));
      client.socket.destroy();
      await delay(20);
      expect((await seenOf(agentCertificate)).thumbprint).to.equal(agentCertificate.thumbprint);
    });
  });

  describe('closing', () => {
    it('ends idle and unused connections and half handshakes at once', async () => {
      await start();
      const used = await open();
      await ask(used);
      const unused = await open();
      const raw = connectPlain({ port, host: '127.0.0.1' });
      clients.push(raw);
      await once(raw, 'connect');
      await delay(20);
      const began = Date.now();
      await listener.close(10 * SECOND);
      expect(Date.now() - began).to.be.lessThan(SECOND);
      await Promise.all([used.closed, unused.closed]);
      expect(await failureOf(open())).to.have.property('code', 'ECONNREFUSED');
    });

    it('lets answers in progress finish, as the last ones of their connections', async () => {
      await start();
      const waiting = await open();
      waiting.socket.write(get('/slow'));
      const streaming = await open();
      streaming.socket.write(get('/slow'));
      await until(() => pending.length === 2);
      pending[1]?.writeHead(200).write('first ');
      const closed = listener.close(10 * SECOND);
      expect(listener.close(0)).to.equal(closed);
      await delay(50);
      for (const name of pending[0]?.getHeaderNames() ?? []) pending[0]?.removeHeader(name);
      pending[0]?.end('done');
      pending[1]?.end('second');
      await closed;
      expect(waiting.received())
        .to.match(/^HTTP\/1\.1 200 OK\r\n(.+\r\n)*Connection: close\r\n/)
        .and.to.match(/done$/);
      expect(streaming.received()).to.contain('first ').and.to.contain('second');
    });

    it('cuts off what outlasts the grace', async () => {
      await start();
      const client = await open();
      client.socket.write(get('/slow'));
      await until(() => pending.length === 1);
      const began = Date.now();
      await listener.close(100);
      expect(Date.now() - began).to.be.within(90, 2 * SECOND);
      await client.closed;
    });

    it('is done at once when it never listened', async () => {
      listener = makeListener();
      await listener.close(SECOND);
    });
  });

  it('says why it cannot listen', async () => {
    await start();
    const error = await failureOf(makeListener().listen('127.0.0.1', port));
    expect(error).to.have.property('code', 'EADDRINUSE');
  });

  it('serves a stock keep-alive agent over one connection', async () => {
    await start();
    const agent = new Agent({
      keepAlive: true,
      maxSockets: 1,
      rejectUnauthorized: false,
      ...agentCertificate,
    });
    const headers: unknown[] = [];
    for (let round = 0; round < 3; round += 1) {
      const request = httpsRequest({ host: '127.0.0.1', port, agent }).end();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      headers.push(response.headers['keep-alive']);
      await response.resume().toArray();
      expect(request.reusedSocket).to.equal(round > 0);
    }
    expect(headers).to.deep.equal(['timeout=125', 'timeout=125', 'timeout=125']);
    agent.destroy();
  });
});
