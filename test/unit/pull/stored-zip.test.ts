import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { ZipFile } from 'yazl';
import { type BundleEntry, buildBundle } from '../../../src/pull/bundle.ts';
import { unzip } from '../../support/unzip.ts';

/** Another writer's ZIP of the same entries. */
async function zipByYazl(entries: readonly BundleEntry[]): Promise<Buffer> {
  const options = { mtime: new Date(1980, 0, 1), mode: 0o100644, compress: false, forceDosTimestamp: true };
  const zip = new ZipFile();
  for (const { path, content } of entries) zip.addBuffer(content, path, options);
  zip.end();
  const pieces: Buffer[] = [];
  for await (const piece of zip.outputStream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

const CASES: Record<string, BundleEntry[]> = {
  'no files': [],
  'an empty file': [{ path: 'empty', content: Buffer.alloc(0) }],
  'names beyond ASCII': [{ path: 'straße/木.txt', content: Buffer.from('x') }],
  'a file of many slices': [
    { path: 'a.bin', content: randomBytes(1_500_000) },
    { path: 'b', content: Buffer.from('behind it') },
  ],
};

describe('the ZIP of a bundle', () => {
  for (const [name, entries] of Object.entries(CASES)) {
    it(`has the bytes that yazl makes of ${name}`, async () => {
      const made = await buildBundle(entries);
      expect(made.equals(await zipByYazl(entries))).to.equal(true);
    });
  }

  it('is a ZIP64 of more files than a ZIP can count', async () => {
    const entries = Array.from({ length: 65_537 }, (_, at) => ({ path: `f${at}`, content: Buffer.alloc(0) }));
    const unzipped = await unzip(await buildBundle(entries));
    expect(unzipped.map(({ path }) => path)).to.deep.equal(entries.map(({ path }) => path));
  });

  it('is made in many turns, so that others get theirs', async () => {
    let isDone = false;
    let turns = 0;
    const counting = (async () => {
      for (; !isDone; turns += 1) await nextTurn();
    })();
    await buildBundle([{ path: 'large', content: Buffer.alloc(20 * 1024 * 1024) }]);
    isDone = true;
    await counting;
    expect(turns).to.be.greaterThan(40);
  });
});
