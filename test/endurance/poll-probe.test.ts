import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createAuthority, issueServerCertificate } from '../../src/security/certificate-authority.ts';
import { openRaw } from '../support/attacks/raw-connection.ts';
import { byteByByte, chunkedHead, halfSent, requestHead } from '../support/attacks/requests.ts';
import type { Target } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign } from '../support/parameter-files.ts';
import {
  answeredBetween,
  machineTime,
  type Poll,
  PollProbe,
  summarize,
  waitOf,
} from '../support/poll-probe.ts';

/** Answers as a test wishes. */
let answer: RequestListener;
let server: Server;
let target: Target;

/** A bare server in this process, so that it stands still when the test does. */
function useBareServer(): void {
  before(async () => {
    const authority = await createAuthority(Date.now());
    const { certificate, key } = await issueServerCertificate(authority, ['localhost'], Date.now());
    server = createServer({ key, cert: certificate }, (request, response) => answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    target = { port: (server.address() as AddressInfo).port, ca: authority.certificate };
  });
  beforeEach(() => {
    answer = (_, response) => response.end('known');
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
}

describe('a probe that polls as a node', () => {
  let probe: PollProbe;
  afterEach(() => probe.kill());

  it('asks for the checksum, and after that whether it has changed', async () => {
    const hawser = await startHawser();
    try {
      await publishConfiguration(hawser.admin, 'web', {
        '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
      });
      const node = await hawser.registerNode('web-01.example.org');
      await assign(hawser, node, 'web');
      probe = await PollProbe.start(hawser.target(), node);
      await probe.answered(10);
      const polls = await probe.stop();
      const { statuses, wrong, longest, p50 } = summarize(polls);
      expect(statuses).to.have.keys('200', '304');
      expect(statuses['200']).to.equal(1);
      expect(wrong).to.equal(0);
      expect(longest).to.be.at.least(p50);
      for (const [at, { start }] of polls.entries()) expect(start).to.be.at.least(polls[at - 1]?.start ?? 0);
    } finally {
      await hawser.close();
    }
  });

  describe('of a bare server', () => {
    useBareServer();

    beforeEach(async () => {
      const identity = await makeClientCertificate({ commonName: 'web-01.example.org' });
      probe = await PollProbe.start(target, { nodeId: 'some-node', identity });
    });

    it('tells how long each poll waited for a server that stood still, those too that were not sent yet', async () => {
      const start = machineTime();
      const before = () => answeredBetween(probe.ended, start, machineTime());
      while (before().length < 2) await probe.answered(1);
      const begin = machineTime();
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      const end = machineTime();
      await probe.answered(5);
      const polls = await probe.stop();
      const held = polls.filter(({ start }) => start > begin && start < end);
      expect(held.length).to.be.greaterThan(3);
      expect(answeredBetween(polls, begin, end)).to.deep.equal([]);
      expect(answeredBetween(polls, start, begin)).to.have.length.of.at.least(2);
      for (const poll of held) expect(poll.end ?? Number.POSITIVE_INFINITY).to.be.at.least(end);
      const [first] = held as [Poll];
      expect(summarize(polls).longest).to.be.at.least(end - first.start);
    });

    it('counts polls without an answer with their age', async () => {
      const release: (() => void)[] = [];
      answer = (_, response) => release.push(() => response.end('late'));
      let polls: Poll[] = [];
      const open = () => polls.filter(({ end }) => end === null);
      while (open().length < 4) polls = await probe.look();
      // Only one call of the probe is open at a time.
      expect(release).to.have.length(1);
      const [first] = open() as [Poll];
      const summary = summarize(polls, first.start + 10_000);
      expect(summary.unanswered).to.equal(open().length);
      expect(summary.longest).to.be.closeTo(10_000, 0.001);
      expect(summary.wrong).to.equal(0);
      answer = (_, response) => response.end('known');
      const waiting = open().length;
      const released = machineTime();
      for (const answerLate of release) answerLate();
      await probe.answered(waiting);
      const late = (await probe.stop()).filter(({ start }) => start >= first.start).slice(0, waiting);
      expect(late.map(({ status }) => status)).to.deep.equal(late.map(() => 200));
      for (const poll of late) expect(waitOf(poll)).to.be.greaterThan(released - poll.start);
    });

    it('tells other statuses, and polls whose connection ended, and comes again', async () => {
      const answers: RequestListener[] = [
        (_, response) => response.writeHead(503).end(),
        ({ socket }) => socket.destroy(),
      ];
      answer = (request, response) =>
        (answers.shift() ?? ((_, last) => last.end('known')))(request, response);
      while (answers.length > 0) await probe.answered(1);
      await probe.answered(1);
      const { statuses, wrong } = summarize(await probe.stop());
      expect(wrong).to.equal(2);
      expect(statuses).to.include({ 503: 1, none: 1 });
    });

    it('is not waited for in vain when its process is gone', async () => {
      probe.kill();
      const outcome = await probe.answered(1_000_000).catch((error: Error) => error.message);
      expect(outcome).to.equal('the process of the probe has ended');
    });
  });
});

describe('the connection of an attacker', () => {
  useBareServer();

  it('sends half of a body and keeps the rest, and counts what it sent', async () => {
    const begun = new Promise<string>((resolve) => {
      answer = (request) => request.once('data', (chunk: Buffer) => resolve(chunk.toString()));
    });
    const connection = await openRaw(target);
    const bytes = halfSent('PUT', '/', '{"a":"12345678"}');
    await connection.send(bytes);
    expect(await begun).to.equal('{"a":"12');
    expect(connection.sent).to.equal(bytes.length);
    expect(connection.isClosed).to.equal(false);
    connection.close();
  });

  it('sends a body in chunks of one byte, and reads the status', async () => {
    const seen = new Promise<string>((resolve) => {
      answer = async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
        response.writeHead(418).end();
        resolve(Buffer.concat(chunks).toString());
      };
    });
    const connection = await openRaw(target);
    await connection.send(chunkedHead('/', 'application/json'));
    await connection.send(byteByByte(Buffer.from('{"é":1}')));
    await connection.send('0\r\n\r\n');
    expect(await seen).to.equal('{"é":1}');
    await connection.answered(1);
    expect(connection.statuses).to.deep.equal([418]);
    connection.close();
  });

  it('reads the answers to requests sent in one go, or leaves them where they are', async () => {
    let answered = 0;
    answer = (_, response) => {
      response.end('x'.repeat(1_000));
      answered += 1;
    };
    const request = requestHead('GET', '/');
    const reader = await openRaw(target);
    await reader.send(request.repeat(20));
    await reader.answered(20);
    expect(reader.statuses).to.deep.equal(Array.from({ length: 20 }, () => 200));
    const other = await openRaw(target, { reads: false });
    await other.send(request.repeat(20));
    while (answered < 40) await sleep(5);
    expect(other.received).to.equal(0);
    expect(other.statuses).to.deep.equal([]);
    for (const connection of [reader, other]) connection.close();
  });
});
