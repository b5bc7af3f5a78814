import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import {
  FAR_TOO_MUCH,
  fileNamed,
  head,
  makeBody,
  named,
  openSocket,
  outcomes,
  postBody,
  until,
  url,
  useUploadServer,
} from '../../support/upload-server.ts';

describe('readUpload: limits', () => {
  useUploadServer();

  it('takes exactly as much as is allowed', async () => {
    const body = (extra: string) =>
      makeBody([
        [named('name="name"'), 'n'.repeat(1000)],
        [fileNamed('a'), 'x'.repeat(50_000)],
        [fileNamed('b'), 'y'.repeat(50_000) + extra],
      ]);
    expect((await postBody(body(''))).status).to.equal(200);
    expect(await postBody(body('y'))).to.include({ status: 413, code: 'payload_too_large' });
  });

  it('counts files and the bytes of a field', async () => {
    const parts = Array.from({ length: 6 }, (_, index): [string, string] => [fileNamed(`f${index}`), '']);
    expect((await postBody(makeBody(parts.slice(1)))).status).to.equal(200);
    expect((await postBody(makeBody(parts))).status).to.equal(413);
    expect((await postBody(makeBody([[named('name="name"'), 'n'.repeat(1001)]]))).status).to.equal(413);
  });

  it('refuses a declared length before it reads', async () => {
    const socket = await openSocket();
    socket.write(head(1_000_000_000));
    socket.setEncoding('latin1');
    const [answer] = await new Promise<string[]>((resolve) =>
      socket.once('data', (data) => resolve([String(data)])),
    );
    expect(answer).to.match(/^HTTP\/1.1 413 /);
    socket.destroy();
  });

  it('answers 413 while the body still comes, and the connection serves on', async () => {
    const sizes: [string, Buffer][] = [
      ['a file', makeBody([[fileNamed('a'), Buffer.alloc(FAR_TOO_MUCH)]])],
      ['a field', makeBody([[named('name="name"'), Buffer.alloc(FAR_TOO_MUCH)]])],
      ['an archive', makeBody([[named('name="archive"; filename="a"'), Buffer.alloc(FAR_TOO_MUCH)]])],
      ['a preamble', Buffer.alloc(FAR_TOO_MUCH, 'x')],
      ['an epilogue', Buffer.concat([makeBody([]), Buffer.alloc(FAR_TOO_MUCH)])],
      ['a header', Buffer.concat([Buffer.from('--B\r\nX: '), Buffer.alloc(FAR_TOO_MUCH, 'x')])],
    ];
    for (const [what, body] of sizes) {
      for (const framing of ['length', 'chunked']) {
        const socket = await openSocket();
        let received = '';
        socket.on('data', (data) => {
          received += data.toString('latin1');
        });
        socket.write(head(framing === 'length' ? body.length : 'chunked'));
        for (let at = 0; at < body.length; at += 50_000) {
          const piece = body.subarray(at, at + 50_000);
          if (framing === 'chunked') socket.write(`${piece.length.toString(16)}\r\n`);
          socket.write(piece);
          if (framing === 'chunked') socket.write('\r\n');
          await sleep(1);
        }
        if (framing === 'chunked') socket.write('0\r\n\r\n');
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        await until(() => received.endsWith('here'));
        expect(received, `${what}, ${framing}`).to.match(
          /^HTTP\/1.1 413 [\s\S]*HTTP\/1.1 200 OK[\s\S]*here$/,
        );
        socket.destroy();
      }
    }
  });

  it('serves on after any other refusal in the middle of a body', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports = new Set<number | undefined>();
    for (const bad of [fileNamed('../x'), named('name="unknown"'), 'X: y', fileNamed('ok')]) {
      const body = makeBody([
        [bad, 'x'.repeat(40_000)],
        [fileNamed('b'), 'x'.repeat(40_000)],
      ]);
      const headers = { 'content-type': 'multipart/form-data; boundary=B', 'content-length': body.length };
      await new Promise<void>((resolve, reject) => {
        const req = request(url(), { method: 'POST', agent, headers, timeout: 60_000 }, (res) => {
          ports.add(req.socket?.localPort);
          res.resume().once('end', resolve);
        });
        req.once('error', reject).once('timeout', () => req.destroy(new Error('it hangs')));
        req.end(body);
      });
    }
    expect(outcomes.map((outcome) => outcome.status)).to.deep.equal([400, 400, 400, 200]);
    expect(ports.size).to.equal(1);
    agent.destroy();
  });

  it('cuts off a sender that does not end after the refusal', async () => {
    const socket = await openSocket();
    let closed = false;
    socket.once('close', () => {
      closed = true;
    });
    socket.resume();
    socket.write(head(1_000_000_000));
    const block = Buffer.alloc(1024 * 1024);
    for (let sent = 0; sent < 200 && !closed; sent += 1) {
      await new Promise((resolve) => socket.write(block, resolve));
    }
    await until(() => closed);
    expect(outcomes.map((outcome) => outcome.status)).to.deep.equal([413]);
  });
});

describe('readUpload: clients that go away', () => {
  useUploadServer();

  const cuts: Record<string, string> = {
    'before the body': '',
    'in a header': '--B\r\nContent-Disp',
    'in a file': `--B\r\n${fileNamed('a')}\r\n\r\ncontent`,
    'behind a part': `--B\r\n${fileNamed('a')}\r\n\r\ncontent\r\n--B`,
    'behind the last boundary': `--B\r\n${fileNamed('a')}\r\n\r\ncontent\r\n--B--\r\n`,
  };
  for (const [when, body] of Object.entries(cuts)) {
    it(`answers nobody, but ends, when one leaves ${when}`, async () => {
      const socket = await openSocket();
      socket.write(head(10_000) + body);
      await sleep(30);
      socket.destroy();
      await until(() => outcomes.length === 1);
      expect(outcomes[0]).to.include({ status: 400, fault: 'malformed_multipart' });
    });
  }

  it('ends when one leaves while its refused body is dropped', async () => {
    const socket = await openSocket();
    socket.write(`${head(140_000)}--B\r\n${fileNamed('../x')}\r\n\r\ncontent`);
    await until(() => outcomes.length === 1);
    socket.destroy();
    await sleep(30);
    expect(outcomes[0]?.code).to.equal('invalid_path');
  });

  it('reads four at a time, leaves the others unread, and goes on when one ends', async () => {
    const start = `--B\r\n${fileNamed('a')}\r\n\r\n`;
    const rest = 'content\r\n--B--\r\n';
    const sockets = await Promise.all(Array.from({ length: 5 }, openSocket));
    for (const [at, socket] of sockets.entries()) {
      socket.write(head(start.length + rest.length, at % 2 ? 'ann' : 'bob') + start);
      await sleep(10);
    }
    const [first, , , , fifth] = sockets;
    fifth?.write(rest);
    await sleep(100);
    expect(outcomes).to.deep.equal([]);
    first?.destroy();
    await until(() => outcomes.length === 2);
    expect(outcomes.map((outcome) => outcome.status)).to.deep.equal([400, 200]);
    for (const socket of sockets) socket.destroy();
    await until(() => outcomes.length === 5);
  });

  it('ends for one that left while it waited', async () => {
    const sockets = await Promise.all(Array.from({ length: 5 }, openSocket));
    for (const socket of sockets) {
      socket.write(`${head(1000)}--B\r\n`);
      await sleep(10);
    }
    for (const socket of sockets.slice(2)) socket.destroy();
    await until(() => outcomes.length === 3);
    expect(new Set(outcomes.map(({ code }) => code))).to.deep.equal(new Set(['client_gone']));
    for (const socket of sockets) socket.destroy();
    await until(() => outcomes.length === 5);
    expect(outcomes.slice(3).map(({ fault }) => fault)).to.deep.equal(Array(2).fill('malformed_multipart'));
    expect((await postBody('--B--')).status).to.equal(200);
  });
});
