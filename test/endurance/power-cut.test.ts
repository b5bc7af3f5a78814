/** The store after a power cut; and the crash test's own power cut, which must be able to take something. */

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { AtomicFs } from '../../src/git/atomic-fs.ts';
import { Failpoints } from '../support/crash/failpoints.ts';
import { Journal, readLines } from '../support/crash/journal.ts';
import { cutPower } from '../support/crash/power-cut.ts';
import { Random } from '../support/crash/random.ts';
import { RecordingDisk } from '../support/crash/recording-disk.ts';
import { Unflushed } from '../support/crash/unflushed.ts';
import { inFolder } from '../support/temporary.ts';
import {
  addVersion,
  makePublishedWeb,
  makeStore,
  replace,
  runGit,
  summary,
  WEB,
} from '../unit/git/support.ts';

const CUTS = 5;

/** Says that it has flushed and has not. */
class LyingFs extends AtomicFs {
  override async flushFolder(): Promise<void> {}
}

/** @returns what is left of a store's work after a power cut; null where the repository is gone */
async function workAndCut(Fs: typeof AtomicFs, seed: number, folder: string): Promise<string[] | null> {
  const [root, kept, path] = ['repos', 'kept', 'journal'].map((name) => join(folder, name));
  if (!root || !kept || !path) throw new Error('no folders');
  for (const made of [root, kept]) mkdirSync(made);
  const journal = new Journal(path);
  const disk = new RecordingDisk({ journal, failpoints: new Failpoints(journal, null), root, kept });
  const store = makeStore(root, [], { fs: new Fs(disk) });
  const later = makeStore(root, []);
  try {
    await store.prepare();
    store.open();
    await makePublishedWeb(store);
    await addVersion(store, '1.1.0');
    await replace(store, '1.1.0', [{ path: 'main.dsc.yaml', content: Buffer.from(`new ${seed}`) }]);
    await store.close();
    const unflushed = new Unflushed(kept);
    for (const line of readLines(readFileSync(path, 'utf8'))) unflushed.add(line);
    unflushed.end();
    cutPower(unflushed, kept, new Random(seed));
    await later.prepare();
    later.open();
    if (!(await later.has(WEB))) return null;
    const gitdir = join(root, 'configurations/web.git');
    expect(runGit(gitdir, 'show', 'draft/1.1.0:main.dsc.yaml')).to.equal(`new ${seed}`);
    expect(runGit(gitdir, 'fsck', '--strict')).to.not.contain('error');
    return await summary(later);
  } finally {
    journal.close();
    await later.close();
  }
}

describe('a power cut', () => {
  it('takes nothing that the store has acknowledged', async () => {
    for (let seed = 1; seed <= CUTS; seed += 1) {
      expect(await inFolder((folder) => workAndCut(AtomicFs, seed, folder))).to.deep.equal([
        '1.1.0 Draft',
        '1.0.0 Published',
      ]);
    }
  }).timeout(300_000);

  it('takes what a store has acknowledged that does not flush its folders', async () => {
    let losses = 0;
    for (let seed = 1; seed <= CUTS; seed += 1) {
      const left = await inFolder((folder) => workAndCut(LyingFs, seed, folder)).catch(() => null);
      if (left === null) losses += 1;
    }
    expect(losses).to.be.greaterThan(CUTS / 5);
  }).timeout(300_000);
});
