import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { PlainExchange } from '../../../src/http/exchange.ts';
import { openPieces, piecesOf, watchMade } from '../../../src/http/pieces.ts';
import { failureOf } from '../../support/failures.ts';

/** Far more than the system takes from a server for somebody who does not read. */
const BODY = randomBytes(32 * 1024 * 1024);
const PATIENCE = 1_000;

/** The head of the answer, of which no more is read yet. */
async function askAt(server: Server): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  const outgoing = request({ host: '127.0.0.1', port, agent: false }).end();
  return ((await once(outgoing, 'response')) as [IncomingMessage])[0];
}

describe('an answer that is sent piece by piece', () => {
  let server: Server;
  let opened: number;
  let closed: Promise<unknown>;

  beforeEach(async () => {
    opened = 0;
    server = createServer((req, res) => {
      closed = once(res, 'close');
      const pieces = piecesOf(BODY);
      const open = () => {
        opened += 1;
        return pieces.open();
      };
      const counted = { length: pieces.length, open };
      res.writeHead(200, { 'Content-Length': BODY.length });
      const ctx = new PlainExchange(req, res, { path: '/', querystring: '', params: {} });
      pipeline(openPieces(ctx, counted, PATIENCE), res, () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const ask = () => askAt(server);

  it('arrives whole', async () => {
    expect((await buffer(await ask())).equals(BODY)).to.equal(true);
    expect(opened).to.equal(1);
  });

  it('is closed when nothing of it is taken for too long', async () => {
    const incoming = await ask();
    await closed;
    await failureOf(buffer(incoming));
  });

  it('goes on for as long as something is taken now and then', async () => {
    const incoming = await ask();
    let taken = 0;
    for await (const piece of incoming) {
      const before = Math.floor(taken / 4_000_000);
      taken += piece.length;
      // In all this takes several times longer than the server's patience.
      if (Math.floor(taken / 4_000_000) > before) await sleep(PATIENCE / 2);
    }
    expect(taken).to.equal(BODY.length);
  });
});

describe('an answer that is still being made', () => {
  /** Milliseconds that stand for a second. */
  const SECOND = 10;
  let server: Server;
  let source: Readable;
  let closed: Promise<unknown>;

  beforeEach(async () => {
    source = new Readable({ read: () => undefined });
    server = createServer((req, res) => {
      closed = once(res, 'close');
      const ctx = new PlainExchange(req, res, { path: '/', querystring: '', params: {} });
      res.writeHead(200);
      res.flushHeaders();
      pipeline(watchMade(ctx, source, SECOND), res, () => undefined);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  const ask = () => askAt(server);

  it('is closed when it is not taken', async () => {
    const incoming = await ask();
    source.push(BODY);
    await closed;
    await failureOf(buffer(incoming));
  });

  it('may be long in coming', async () => {
    const incoming = await ask();
    await sleep(60 * SECOND);
    source.push('at last');
    source.push(null);
    expect((await buffer(incoming)).toString()).to.equal('at last');
  });
});
