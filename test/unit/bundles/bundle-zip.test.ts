import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { writeZip } from '../../../src/bundles/bundle-zip.ts';
import { type BundleEntry, buildBundle } from '../../support/bundles.ts';
import { failureOf } from '../../support/failures.ts';
import { inFolder } from '../../support/temporary.ts';
import { unzip } from '../../support/unzip.ts';

const MIB = 1024 * 1024;
const ENTRIES: BundleEntry[] = [
  { path: 'empty', content: Buffer.alloc(0) },
  { path: 'straße/木.txt', content: Buffer.from('x') },
  { path: 'z/large.bin', content: Buffer.alloc(5 * MIB, 'large') },
  { path: 'z/last', content: Buffer.from('behind it') },
];

describe('the ZIP of a bundle', () => {
  it('holds its files as they are, in their order, large ones too', async () => {
    const unzipped = await unzip(await buildBundle(ENTRIES));
    expect(unzipped.map(({ path }) => path)).to.deep.equal(ENTRIES.map(({ path }) => path));
    for (const [at, { path, content }] of ENTRIES.entries())
      expect(unzipped[at]?.content.equals(content), path).to.equal(true);
  });

  it('is taken by stock unzip, which checks each sum', () =>
    inFolder(async (folder) => {
      const file = join(folder, 'bundle.zip');
      writeFileSync(file, await buildBundle(ENTRIES));
      execFileSync('unzip', ['-q', file, '-d', folder]);
      expect(readFileSync(join(folder, 'z/large.bin')).equals(Buffer.alloc(5 * MIB, 'large'))).to.equal(true);
    }));

  it('has the same bytes in every time zone', () => {
    const helper = JSON.stringify(join(import.meta.dirname, '../../support/bundles.js'));
    const program = `const { buildBundle } = await import(${helper});
      process.stdout.write(await buildBundle([{ path: 'a', content: Buffer.from('x') }]));`;
    const [east, west] = ['Pacific/Auckland', 'America/St_Johns'].map((TZ) =>
      execFileSync(process.execPath, ['--input-type=module', '-e', program], {
        env: { ...process.env, TZ },
      }).toString('hex'),
    );
    expect(east).to.equal(west);
  });

  it('has the same bytes at every time, on every server, in every release', async () => {
    const digest = createHash('sha256')
      .update(await buildBundle(ENTRIES))
      .digest('hex');
    expect(digest).to.equal('863987828bc4045a2d3f530f785dff56d43be8909e8f419655a48ac047448bcf');
  });

  it('is made in many turns, so that others get theirs, and holds one file at a time', async () => {
    let isDone = false;
    let turns = 0;
    const counting = (async () => {
      for (; !isDone; turns += 1) await nextTurn();
    })();
    let [read, taken, ahead] = [0, 0, 0];
    const entries = Array.from({ length: 5 }, (_, at) => ({
      path: `f${at}`,
      executable: false,
      read: async () => {
        ahead = Math.max(ahead, read - taken);
        read += 8 * MIB;
        return Buffer.alloc(8 * MIB);
      },
    }));
    for await (const piece of writeZip(entries)) {
      taken += piece.length;
      await nextTurn();
    }
    isDone = true;
    await counting;
    expect(turns).to.be.greaterThan(40);
    expect(ahead).to.be.lessThan(MIB);
  });

  it('fails with what the reading of a file fails with', async () => {
    const entries = [
      { path: 'a', executable: false, read: async () => Buffer.from('a') },
      { path: 'b', executable: false, read: () => Promise.reject(new Error('no such blob')) },
    ];
    const taken: Buffer[] = [];
    const write = async () => {
      for await (const piece of writeZip(entries)) taken.push(piece);
    };
    expect((await failureOf(write())).message).to.equal('no such blob');
  });
});
