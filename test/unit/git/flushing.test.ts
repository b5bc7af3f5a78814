import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { AtomicFs } from '../../../src/git/atomic-fs.ts';
import { DISK, type Disk } from '../../../src/git/disk.ts';
import { inFolder } from '../../support/temporary.ts';
import { makePublishedWeb, makeStore, onStore, WEB } from './support.ts';

/** A disk that tells which folders were flushed. */
function listeningDisk(root: string): { disk: Disk; flushed: Set<string> } {
  const flushed = new Set<string>();
  const open: Disk['open'] = async (path, flags) => {
    const file = await DISK.open(path, flags);
    if (flags !== 'r') return file;
    const sync = async () => {
      flushed.add(relative(root, path));
      await file.sync();
    };
    return {
      sync,
      writeFile: (data) => file.writeFile(data),
      utimes: (accessed, modified) => file.utimes(accessed, modified),
      close: () => file.close(),
    };
  };
  return { disk: { ...DISK, open }, flushed };
}

describe('what a killed process did not come to flush', () => {
  it('is flushed before anything is told of it or built upon it', async () => {
    await onStore(async ({ root, gitdir, store: before }) => {
      await makePublishedWeb(before);
      const { disk, flushed } = listeningDisk(root);
      const store = makeStore(root, [], { fs: new AtomicFs(disk) });
      await store.prepare();
      expect([...flushed]).to.include.members(['', 'configurations', 'composites', 'parameters']);
      store.open();
      await store.versions(WEB);
      const inside = (path: string) => relative(root, join(gitdir, path));
      const ofRefs = ['', 'refs/heads', 'refs/heads/draft', 'refs/tags'].map(inside);
      expect([...flushed]).to.include.members(ofRefs);
      await store.exclusive(WEB, async () => undefined);
      const folders = (await readdir(join(gitdir, 'objects'))).filter((name) => name.length === 2);
      const ofObjects = ['', ...folders].map((name) => inside(join('objects', name)));
      expect([...flushed]).to.include.members(ofObjects);
      await store.close();
    });
  });
});

describe('the removal of a file', () => {
  it('is flushed where its folder is gone too, in the nearest one that is left', () =>
    inFolder(async (root) => {
      const { disk, flushed } = listeningDisk(root);
      const fs = new AtomicFs(disk);
      await fs.makeFolder(join(root, 'refs'));
      flushed.clear();
      await fs.unlink(join(root, 'refs/tags/Site/v1.0.0'));
      expect([...flushed]).to.deep.equal(['refs']);
    }));
});
