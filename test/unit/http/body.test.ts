import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { readBytes } from '../../../src/http/body-reader.ts';
import { paceOfWhole } from '../../../src/http/metered-body.ts';
import { HawserError } from '../../../src/lib/errors.ts';

/** A small part of what holds in a server. */
const PACE = { first: 1_000, later: 100, span: 1_000 };
const pace = () => paceOfWhole(PACE.first, PACE.later, PACE.span);

describe('readBytes', () => {
  let server: Server;
  let read: (request: IncomingMessage) => void;
  let socket: Socket;

  before(async () => {
    server = createServer((request) => read(request));
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  afterEach(() => socket.destroy());

  /** Sends the head of a chunked request; gives what becomes of its body: the bytes, or the code of the fault. */
  function begin(framing = 'Transfer-Encoding: chunked') {
    const outcome = new Promise<string>((resolve, reject) => {
      read = (request) =>
        readBytes(request, { limit: 10_000, share: { reserve: () => undefined }, pace: pace() }).then(
          (bytes) => resolve(bytes.toString()),
          (error) => (error instanceof HawserError ? resolve(error.code) : reject(error)),
        );
    });
    socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\n${framing}\r\n\r\n`);
    return outcome;
  }
  const chunk = (size: number) => socket.write(`${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`);

  it('gives a body that comes in time, in chunks of a byte', async () => {
    const outcome = begin();
    for (let count = 0; count < 2_000; count += 1) chunk(1);
    socket.write('0\r\n\r\n');
    expect(await outcome).to.equal('x'.repeat(2_000));
  });

  it('is malformed_body when it comes in far more chunks than bytes can need', async () => {
    const outcome = begin();
    for (let count = 0; count < 9_000; count += 1) chunk(1);
    expect(await outcome).to.equal('malformed_body');
  });

  it('is body_timeout when the first part does not come in time, whole or not', async () => {
    const outcome = begin();
    chunk(999);
    expect(await outcome).to.equal('body_timeout');
    const declared = begin('Content-Length: 10');
    socket.write('123456789');
    expect(await declared).to.equal('body_timeout');
  });

  it('goes on with one that keeps up, and ends one that stops doing so', async () => {
    const outcome = begin();
    chunk(1_000);
    let isOver = false;
    void outcome.then(() => {
      isOver = true;
    });
    // Far more than it must, so that a busy machine does not make it too slow.
    for (let round = 0; round < 25; round += 1) {
      await sleep(PACE.span / 10);
      chunk(PACE.later);
    }
    expect(isOver, 'while it keeps up').to.equal(false);
    expect(await outcome).to.equal('body_timeout');
  });

  it('is malformed_body when the sender goes away', async () => {
    const outcome = begin();
    const arrived = once(server, 'request');
    chunk(10);
    await arrived;
    socket.destroy();
    expect(await outcome).to.equal('malformed_body');
  });

  it('is payload_too_large at the first byte too many, declared or not', async () => {
    const outcome = begin();
    chunk(10_000);
    chunk(1);
    expect(await outcome).to.equal('payload_too_large');
    expect(await begin('Content-Length: 10001')).to.equal('payload_too_large');
  });
});
