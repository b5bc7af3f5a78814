/**
 * The folders in which a server caches repositories of PostgreSQL. Stock git works on them, so each is brought to the
 * state of PostgreSQL before git is started. They may be deleted at any time, and nothing in them is ever flushed.
 */

import { join } from 'node:path';
import type { StoredRefs } from '../db/git-tables.ts';
import { sortByBytes } from '../lib/byte-order.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import { LocalLocks } from '../lib/locks.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { makeCacheFolder } from './cache-root.ts';
import { missingRepository } from './disk-errors.ts';
import { loosePath } from './loose-objects.ts';
import { listLooseRefs } from './ref-reader.ts';
import { gitdirOf, makeSkeleton } from './repository-layout.ts';
import type { SharedRepositories } from './shared-repositories.ts';
import type { RepositorySettings, StoredRef } from './types.ts';

/** The word `peeled` is left out, so that git finds out by itself what a tag leads to. */
const PACKED_HEADER = '# pack-refs with: sorted ';
const WRITES_AT_ONCE = 8;

/** What a folder was brought to. */
interface Brought {
  state: string;
  /** Tells whether `packed-refs` has been changed or removed since. */
  stamp: string;
}

export class CacheFolders {
  private readonly shared: SharedRepositories;
  private readonly fs: AtomicFs;
  private readonly root: string;
  private readonly brought = new Map<string, Brought>();
  /** The branches that clones check out, by the folder. PostgreSQL knows nothing of them: they follow from what is there. */
  private readonly heads = new Map<string, string>();
  private readonly locks = new LocalLocks();

  constructor(shared: SharedRepositories, { cache, root }: { cache: AtomicFs; root: string }) {
    this.shared = shared;
    this.fs = cache;
    this.root = root;
  }

  /**
   * Brings the folder of a repository to the state that PostgreSQL has now. Refs that another program made there go.
   * @throws HawserError `repository_missing`; unavailable; or what the disk says
   */
  materialise(ref: StoredRef): Promise<void> {
    const gitdir = gitdirOf(this.root, ref);
    return this.locks.run(gitdir, async () => {
      const stored = await this.shared.reader.find(ref);
      if (stored === undefined) throw missingRepository();
      if (this.isCurrent(gitdir, stored.state)) return;
      const all = await this.shared.reader.refs(ref);
      if (all === undefined) throw missingRepository();
      await this.bring(gitdir, all);
    });
  }

  /** The branch that a clone checks out; null where none was chosen. */
  headOf(ref: StoredRef): string | null {
    return this.heads.get(gitdirOf(this.root, ref)) ?? null;
  }

  /** Chooses the branch that a clone checks out. The folder follows before git reads it. */
  pointHead(ref: StoredRef, branch: string): void {
    const gitdir = gitdirOf(this.root, ref);
    this.heads.set(gitdir, branch);
    this.brought.delete(gitdir);
  }

  /** Empties the folder of a repository, because git has found it damaged. */
  async distrust(ref: StoredRef): Promise<void> {
    const gitdir = gitdirOf(this.root, ref);
    this.brought.delete(gitdir);
    await this.fs.discard(gitdir);
  }

  private isCurrent(gitdir: string, state: string): boolean {
    const brought = this.brought.get(gitdir);
    const isSame = brought?.state === state && brought.stamp === this.stampOf(gitdir);
    return isSame && listLooseRefs(this.fs, gitdir).length === 0;
  }

  private async bring(gitdir: string, { repository, refs }: StoredRefs): Promise<void> {
    this.brought.delete(gitdir);
    const { id, settings, shallow, state } = repository;
    await makeCacheFolder(this.fs, this.root, gitdir);
    const head = this.heads.get(gitdir);
    await makeSkeleton(this.fs, gitdir, settings as RepositorySettings | null, head);
    await this.fetchObjects(gitdir, id);
    const ends = join(gitdir, 'shallow');
    if (shallow.length === 0) await this.fs.discardFile(ends);
    else await this.fs.writeFile(ends, shallow.map((commit) => `${commit}\n`).join(''));
    const lines = sortByBytes([...refs], ([name]) => name).map(([name, oid]) => `${oid} ${name}\n`);
    await this.fs.writeFile(join(gitdir, 'packed-refs'), `${PACKED_HEADER}\n${lines.join('')}`);
    for (const name of listLooseRefs(this.fs, gitdir)) await this.fs.discardFile(join(gitdir, name));
    this.brought.set(gitdir, { state, stamp: this.stampOf(gitdir) });
  }

  /** Makes the objects of the folder those that PostgreSQL has. */
  private async fetchObjects(gitdir: string, id: string): Promise<void> {
    const oids = new Set((await this.shared.reader.objectTypes(id)).keys());
    const cached = listObjects(this.fs, gitdir);
    // What was pruned in PostgreSQL must not be fetched from here by whoever knows its id.
    for (const oid of cached) if (!oids.has(oid)) await this.fs.discardFile(loosePath(gitdir, oid));
    const absent = [...oids].filter((oid) => !cached.has(oid));
    for await (const objects of this.shared.reader.readObjects(id, absent))
      await forEachOf(objects, WRITES_AT_ONCE, ({ oid, deflated }) =>
        this.fs.writeFile(loosePath(gitdir, oid), deflated),
      );
  }

  private stampOf(gitdir: string): string {
    const stats = this.fs.lstatNow(join(gitdir, 'packed-refs'));
    return stats ? `${stats.ino} ${stats.mtimeNs} ${stats.size}` : '';
  }
}

/** The ids of the loose objects of a repository. */
function listObjects(fs: AtomicFs, gitdir: string): Set<string> {
  const folders = fs.readdirNow(join(gitdir, 'objects')).filter(({ name }) => /^[0-9a-f]{2}$/.test(name));
  return new Set(
    folders.flatMap((folder) =>
      fs
        .readdirNow(join(gitdir, 'objects', folder.name))
        .filter(({ name }) => /^[0-9a-f]{38}$/.test(name))
        .map(({ name }) => folder.name + name),
    ),
  );
}
