// full: SQLite
import { expect } from 'chai';
import { getOutput } from '../support/dsc-results.ts';
import { eventually } from '../support/eventually.ts';
import { ADMIN_PASSWORD, startHawser } from '../support/hawser.ts';
import { type OpenCall, type OpenRequest, openRequest } from '../support/open-request.ts';
import { startedForEach } from '../support/started.ts';
import { Wire } from '../support/wire.ts';

const MIB = 1024 * 1024;
const LOGIN: OpenCall = { method: 'POST', path: '/api/v1/auth/login' };
const OF_ONE_ADDRESS = 8;

describe('bodies that take their time', () => {
  const hawser = startedForEach(startHawser);

  const open = (call: OpenCall) => openRequest(hawser.target(), null, call);
  const head = { 'Content-Type': 'application/json' };

  it('are at most eight from one address that has not signed in; the ninth is told so before it is read', async () => {
    const held: OpenRequest[] = [];
    for (let count = 0; count < OF_ONE_ADDRESS; count += 1) held.push(await open(LOGIN));
    const ninth = await Wire.open(hawser.target());
    ninth.head('POST', LOGIN.path, head, 100);
    const refused = await ninth.reply();
    expect(refused?.status).to.equal(503);
    expect(JSON.parse(refused?.text ?? '')).to.include({ code: 'unavailable', status: 503 });
    expect(Number(refused?.headers['retry-after'])).to.be.greaterThan(0);
    ninth.destroy();
    const other = await Wire.open(hawser.target(), { localAddress: '127.0.0.2' });
    const empty = '{}';
    other.head('POST', LOGIN.path, head, empty.length);
    other.write(empty);
    expect((await other.reply())?.status, 'from another address').to.equal(400);
    other.destroy();
    const group = { name: 'of somebody who is known' };
    expect((await hawser.admin.post('/api/v1/groups', group)).status).to.equal(201);
    held[0]?.abandon();
    await eventually(async () => expect((await hawser.client().post(LOGIN.path, {})).status).to.equal(400));
    for (const call of held) call.abandon();
  });

  it('may come byte by byte, each a chunk of its own; with very many such chunks they are refused', async () => {
    const credentials = JSON.stringify({ username: 'admin', password: ADMIN_PASSWORD });
    const wire = await Wire.open(hawser.target());
    wire.head('POST', LOGIN.path, head, null);
    for (const byte of Buffer.from(credentials)) wire.chunk(Buffer.from([byte]));
    wire.chunk(Buffer.alloc(0));
    expect((await wire.reply())?.status).to.equal(200);
    wire.head('POST', LOGIN.path, head, null);
    wire.write('1\r\nx\r\n'.repeat(256 * 1024));
    const refused = await wire.reply();
    expect(refused?.status).to.equal(400);
    expect(JSON.parse(refused?.text ?? '').code).to.equal('malformed_body');
    expect(await wire.reply(), 'the connection is over').to.equal(null);
  });

  it('hold no memory for what else a sender of single bytes sends', async () => {
    const before = process.memoryUsage().rss;
    const chunks = Buffer.from('1\r\nx\r\n'.repeat(256 * 1024));
    for (let round = 0; round < 4; round += 1) {
      const wires = await Promise.all(
        Array.from({ length: OF_ONE_ADDRESS }, () => Wire.open(hawser.target())),
      );
      for (const wire of wires) {
        wire.head('POST', LOGIN.path, head, null);
        wire.write(chunks);
      }
      for (const wire of wires) await wire.reply();
      for (const wire of wires) wire.destroy();
    }
    // 8 MiB were sent. An object for each byte would have been 3 GiB.
    expect(process.memoryUsage().rss - before).to.be.lessThan(500 * MIB);
  });

  it('are given up after 30 s, unless a MiB of a larger one has come by then', async () => {
    const node = await hawser.registerNode('slow.example.org');
    const path = `/api/v1/nodes/${node.nodeId}/reports`;
    const report = JSON.stringify({
      operation: 'Get',
      result: { ...getOutput(), padding: 'x'.repeat(2 * MIB) },
    });
    const form = {
      method: 'POST',
      path: '/login',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    };
    const slow = [await open(LOGIN), await open(form)];
    for (const call of slow) call.write('u');
    const large = await openRequest(hawser.target(), node.identity, { method: 'POST', path });
    large.write(report.slice(0, MIB));
    const answers = await Promise.all(slow.map(async ({ status, code }) => [await status, await code]));
    expect(answers[0]).to.deep.equal([408, 'body_timeout']);
    expect(answers[1]?.[0]).to.equal(408);
    large.end(report.slice(MIB));
    expect(await large.status).to.equal(201);
  });
});
