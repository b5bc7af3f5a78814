// full: SQLite
import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { until } from '../../../support/git-client.ts';
import { entry, type Instruction, idOf, packWith, refDelta, zeros } from '../../../support/hand-made-pack.ts';
import { failureOf, MIB, peakDuring, Site, streamOf } from './quarantine-support.ts';

/** More than any git process may have, in MiB. */
const TOO_MUCH = 400;

const BASE = Buffer.alloc(8 * MIB);
const BASE_ID = idOf('blob', BASE);

/** A delta that makes so many MiB, and something of its own at the end. */
function growing(mebibytes: number, own = 'x'): Buffer {
  const copies = Array.from({ length: mebibytes / 8 }, (): Instruction => [0, BASE.length]);
  return refDelta(BASE_ID, BASE.length, [...copies, Buffer.from(own)]);
}

/** Blobs of which each is a delta to the one before. */
function chain(length: number): Buffer[] {
  let content = Buffer.alloc(100, 'x');
  const entries = [entry('blob', content)];
  for (let at = 0; at < length; at += 1) {
    const number = Buffer.from(String(at).padStart(6, '0'));
    entries.push(refDelta(idOf('blob', content), content.length, [[0, 94], number]));
    content = Buffer.concat([content.subarray(0, 94), number]);
  }
  return entries;
}

describe('the bounds of a quarantine', () => {
  let site: Site;
  beforeEach(() => {
    site = new Site();
  });
  afterEach(() => site.close());

  /** What comes of a pack, and the most memory that git had, in MiB. */
  async function outcomeOf(pack: Buffer, tips: string[], cpuSeconds?: number) {
    const bounds = cpuSeconds === undefined ? {} : { bounds: { memoryKib: 320 * 1024, cpuSeconds } };
    let code = '';
    const peak = await peakDuring(site, async () => {
      const work = async () => {
        const options = { have: [], limits: { bytes: 100 * MIB }, ...bounds };
        const quarantine = await site.received(pack, tips, options);
        for await (const _ of quarantine.readAll(quarantine.added.keys()));
      };
      code = (await failureOf(work())).code;
    });
    return { code, peak };
  }

  it('let through what is large, which tells that the memory is looked at', async () => {
    const content = Buffer.concat([...Array.from({ length: 7 }, () => BASE), Buffer.from('x')]);
    const pack = packWith([entry('blob', BASE), growing(56)]);
    const { code, peak } = await outcomeOf(pack, [idOf('blob', content)]);
    expect(code).to.equal('no error');
    expect(peak).to.be.within(56, TOO_MUCH);
  });

  for (const [what, pack] of [
    ['a delta that makes 4 GiB', () => [entry('blob', BASE), growing(4096)]],
    ['a tree that says that it has 4 GiB', () => [entry('tree', Buffer.alloc(100), 4 * 1024 * MIB)]],
    ['a delta that says that it has 300 GB', () => [entry('blob', BASE), hugeDelta()]],
  ] as const) {
    it(`refuse ${what} at once`, async () => {
      const { code, peak } = await outcomeOf(packWith(pack()), []);
      expect(code).to.equal('payload_too_large');
      expect(peak).to.be.lessThan(TOO_MUCH);
    });
  }

  it('refuse a file that is larger than it may be when it is unpacked', async () => {
    const { code, peak } = await outcomeOf(packWith([zeros(112)]), [BASE_ID]);
    expect(code).to.equal('payload_too_large');
    expect(peak).to.be.lessThan(100);
  });

  for (const [what, entries] of [
    ['gigabytes of zeros', () => [zeros(64 * 1024)]],
    [
      'many deltas that make much',
      () => [entry('blob', BASE), ...Array.from({ length: 200 }, (_, at) => growing(64, String(at)))],
    ],
    ['a long chain of deltas', () => chain(40_000)],
  ] as const) {
    it(`end the work on ${what} after some time`, async () => {
      const { code, peak } = await outcomeOf(packWith(entries()), [BASE_ID], 1);
      expect(code).to.equal('payload_too_large');
      expect(peak).to.be.lessThan(TOO_MUCH);
    });
  }
});

/** A delta that says a size which it has not. */
function hugeDelta(): Buffer {
  const delta = growing(8);
  const size = Buffer.from([0xf0, 0xff, 0xff, 0xff, 0xff, 0x7f]);
  // The size takes one byte of the header, and the id of the base follows.
  return Buffer.concat([size, delta.subarray(delta.indexOf(Buffer.from(BASE_ID, 'hex')))]);
}

describe('a client that goes away from a quarantine', () => {
  let site: Site;
  beforeEach(() => {
    site = new Site();
  });
  afterEach(() => site.close());

  it('ends the work while the pack comes', async () => {
    const { folder } = site;
    const leaving = new AbortController();
    const quarantine = await site.open({ gone: leaving.signal });
    const stream = new Readable({ read: () => undefined });
    const receiving = failureOf(quarantine.receive(stream));
    stream.push(packWith([entry('blob', BASE)]).subarray(0, 5_000));
    await until(() => site.processes().length > 0, 'git');
    leaving.abort();
    expect((await receiving).code).to.equal('client_gone');
    expect(site.processes()).to.deep.equal([]);
    expect(stream.destroyed).to.equal(false);
    await quarantine.remove();
    expect(existsSync(folder)).to.equal(false);
  });

  it('ends the work before the pack comes, and all that is begun later', async () => {
    const leaving = new AbortController();
    const quarantine = await site.open({ gone: leaving.signal });
    const receiving = failureOf(quarantine.receive(new Readable({ read: () => undefined })));
    leaving.abort();
    expect((await receiving).code).to.equal('client_gone');
    expect((await failureOf(quarantine.receive(streamOf(packWith([]))))).code).to.equal('client_gone');
    expect((await failureOf(quarantine.findAdded([BASE_ID]))).code).to.equal('client_gone');
  });

  it('ends the work while git looks for what is new', async () => {
    const leaving = new AbortController();
    const quarantine = await site.open({ gone: leaving.signal });
    await quarantine.receive(streamOf(packWith(chain(20_000))));
    const finding = failureOf(quarantine.findAdded([BASE_ID]));
    await until(() => site.processes().length > 0, 'git');
    leaving.abort();
    expect((await finding).code).to.equal('client_gone');
    expect(site.processes()).to.deep.equal([]);
  });

  it('is as a server that ends: whoever still works is told', async () => {
    const { folder } = site;
    const quarantine = await site.open();
    await quarantine.receive(streamOf(packWith(chain(20_000))));
    const finding = failureOf(quarantine.findAdded([BASE_ID]));
    await until(() => site.processes().length > 0, 'git');
    await quarantine.remove();
    expect((await finding).code).to.equal('shutting_down');
    expect(existsSync(folder)).to.equal(false);
    expect((await failureOf(quarantine.findAdded([BASE_ID]))).code).to.equal('shutting_down');
  });
});
