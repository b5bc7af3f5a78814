/** A disk that fails or stops at a chosen step. */

import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { AtomicFs } from '../../../src/git/atomic-fs.ts';
import type { GitStore, RepositoryKind } from '../../../src/versions/store.ts';
import { makeStore } from './support.ts';

/** Lets so many changes of the disk happen and fails every later one, as a killed process or a full disk would. */
export class BreakingFs extends AtomicFs {
  left = Number.POSITIVE_INFINITY;
  errno = 'EIO';

  override writePlain(...args: Parameters<AtomicFs['writePlain']>) {
    return this.step(() => super.writePlain(...args));
  }
  override append(path: string, text: string) {
    return this.step(() => super.append(path, text));
  }
  override createEmpty(path: string) {
    return this.step(() => super.createEmpty(path));
  }
  override async fill(...args: Parameters<AtomicFs['fill']>) {
    try {
      await this.step(() => super.fill(...args));
    } catch (error) {
      // As the real one does, whatever comes of it.
      await args[0].close();
      throw error;
    }
  }
  override rename(...args: Parameters<AtomicFs['rename']>) {
    return this.step(() => super.rename(...args));
  }
  override unlink(path: string) {
    return this.step(() => super.unlink(path));
  }
  override discard(path: string) {
    return this.step(() => super.discard(path));
  }
  override discardFile(path: string) {
    return this.step(() => super.discardFile(path));
  }
  override discardEmptyFolder(path: string) {
    return this.step(() => super.discardEmptyFolder(path));
  }
  override makeFolder(path: string, mode?: number) {
    return this.step(() => super.makeFolder(path, mode));
  }

  private async step<T>(work: () => Promise<T>): Promise<T> {
    this.left -= 1;
    if (this.left >= 0) return work();
    throw Object.assign(new Error(`${this.errno}: at /secret/path`), { code: this.errno, syscall: 'write' });
  }
}

/** Locks that an ended process left: the tests have no other process to end. */
export async function ageLocks(folder: string): Promise<void> {
  for (const name of await readdir(folder, { recursive: true })) {
    if (name.endsWith('.lock')) await utimes(join(folder, name), 1, 1);
  }
}

/**
 * Breaks `work` after 0, 1, 2 ... changes of the disk until it gets through; after each break `verify` looks
 * with a store that knows nothing of it. Gives the number of breaks.
 */
export async function breakEverywhere(
  prepare: (store: GitStore) => Promise<void>,
  work: (store: GitStore) => Promise<unknown>,
  verify: (store: GitStore, gitdir: string) => Promise<void>,
  kind: RepositoryKind = 'configurations',
): Promise<number> {
  for (let steps = 0; ; steps += 1) {
    const root = await mkdtemp(join(tmpdir(), 'hawser-git-'));
    const fs = new BreakingFs();
    const store = makeStore(root, [], { fs });
    const later = makeStore(root, []);
    try {
      // It isn't opened, so that no watch takes steps meanwhile.
      await store.prepare();
      await prepare(store);
      fs.left = steps;
      await work(store).catch(() => undefined);
      if (fs.left >= 0) return steps;
      await store.close();
      await ageLocks(root);
      await later.prepare();
      later.open();
      await verify(later, join(root, kind, 'web.git'));
      expect(await readdir(join(root, '.tmp'))).to.deep.equal([]);
    } finally {
      await store.close();
      await later.close();
      await rm(root, { recursive: true, force: true });
    }
  }
}
