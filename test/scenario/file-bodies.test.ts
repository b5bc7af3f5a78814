// full: SQLite
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { create, fileOf, MAIN } from '../support/configurations.ts';
import { refsOf, save } from '../support/draft-files.ts';
import { startHawser } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { Wire, type WireReply } from '../support/wire.ts';

const LIMIT = 3_000_000;

describe('the body of a file that is saved', () => {
  const hawser = started(() => startHawser({ HAWSER_UPLOAD_LIMIT: String(LIMIT) }));
  const wires: Wire[] = [];

  before(async () => {
    await ok(201, create(hawser.admin, 'web'));
  });

  afterEach(() => {
    for (const wire of wires.splice(0)) wire.destroy();
  });

  /** Sends the head of a PUT. @param length null sends the body in chunks */
  const begin = async (path: string, length: number | null) => {
    const wire = await Wire.open(hawser.target());
    wires.push(wire);
    wire.head('PUT', fileOf('web', '1.0.0', path), { Cookie: hawser.session }, length);
    return wire;
  };
  const codeOf = (reply: WireReply | null) => JSON.parse(reply?.text ?? '{}').code;
  const read = async (path: string) => (await hawser.admin.get(fileOf('web', '1.0.0', path))).bytes;

  it('comes in chunks of a byte each, and in one block', async () => {
    const bytes = randomBytes(100_000);
    const wire = await begin('bytes', null);
    for (let at = 0; at < bytes.length; at += 1) wire.chunk(bytes.subarray(at, at + 1));
    wire.chunk(Buffer.alloc(0));
    expect((await wire.reply())?.status).to.equal(201);
    expect((await read('bytes')).equals(bytes)).to.equal(true);
    const large = randomBytes(LIMIT - 200_000);
    await ok(200, save(hawser.admin, ['web', '1.0.0', 'bytes'], large));
    expect((await read('bytes')).equals(large)).to.equal(true);
    await ok(200, save(hawser.admin, ['web', '1.0.0', 'bytes'], ''));
  });

  it('is refused as soon as it is too large, said or unsaid, and the connection goes on', async () => {
    const before = refsOf(hawser, 'web');
    const said = await begin('large', LIMIT + 1);
    expect(codeOf(await said.reply())).to.equal('payload_too_large');
    const unsaid = await begin('large', null);
    for (let sent = 0; sent <= LIMIT; sent += 100_000) unsaid.chunk(Buffer.alloc(100_000));
    const reply = await unsaid.reply();
    expect(reply?.status, reply?.text).to.equal(413);
    expect(reply?.text).to.include('HAWSER_UPLOAD_LIMIT');
    unsaid.chunk(Buffer.alloc(0));
    unsaid.head('PUT', fileOf('web', '1.0.0', MAIN), { Cookie: hawser.session }, 1);
    unsaid.write('y');
    expect((await unsaid.reply())?.status).to.equal(200);
    expect(refsOf(hawser, 'web')).to.not.equal(before);
  });

  it('changes nothing where it is cut off', async () => {
    const before = refsOf(hawser, 'web');
    const wire = await begin('cut', 1_000);
    wire.write('half of it');
    wire.destroy();
    await ok(200, hawser.admin.get('/api/v1/configurations/web'));
    expect(refsOf(hawser, 'web')).to.equal(before);
  });

  it('takes its turn with the uploads of its sender, and 408 frees its place', async () => {
    const slow = [await begin('slow-1', 1_000_000), await begin('slow-2', 1_000_000)];
    await sleep(50);
    const waiting = await begin('waiting', 1);
    waiting.write('x');
    const beat = setInterval(() => {
      for (const wire of slow) wire.write('x');
    }, 500);
    try {
      for (const wire of slow) expect(codeOf(await wire.reply())).to.equal('upload_too_slow');
      expect((await waiting.reply())?.status).to.equal(201);
    } finally {
      clearInterval(beat);
    }
  });
});
