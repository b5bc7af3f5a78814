import { once } from 'node:events';
import { type ClientRequest, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { openBody } from '../../../src/http/stream-body.ts';
import { refusalOf } from '../../support/failures.ts';

/** Milliseconds that stand for a second, and thirty of them with room to spare. */
const SECOND = 10;
const WINDOW = 60 * SECOND;
const TYPE = 'application/octet-stream';
const BYTES = 4 * 1024 * 1024;

describe('a body that is read as a stream', () => {
  let server: Server;
  let body: Promise<Readable>;
  let outgoing: ClientRequest;

  beforeEach(async () => {
    server = createServer();
    body = once(server, 'request').then(([incoming]) =>
      openBody(
        incoming,
        { kind: 'stream', mediaType: TYPE, bytes: BYTES } as never,
        new AbortController().signal,
        SECOND,
      ),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const headers = { 'Content-Type': TYPE, 'Content-Length': BYTES };
    outgoing = request({ host: '127.0.0.1', port, method: 'POST', agent: false, headers });
    outgoing.on('error', () => undefined);
  });
  afterEach(() => {
    outgoing.destroy();
    server.closeAllConnections();
    server.close();
  });

  it('fails when it stops coming', async () => {
    outgoing.write(Buffer.alloc(1024));
    const failure = await refusalOf(buffer(await body));
    expect(failure).to.include({ kind: 'timed_out', code: 'too_slow' });
  });

  it('fails when it comes too slowly', async () => {
    const timer = setInterval(() => outgoing.write(Buffer.alloc(100)), SECOND);
    const failure = await refusalOf(buffer(await body));
    clearInterval(timer);
    expect(failure.code).to.equal('too_slow');
  });

  it('may wait for its reader as long as it likes', async () => {
    outgoing.end(Buffer.alloc(BYTES));
    const stream = await body;
    await sleep(WINDOW);
    expect((await buffer(stream)).length).to.equal(BYTES);
  });
});
