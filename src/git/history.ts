/**
 * Where history ends, and the removal of versions for good. Git's own file `shallow` names the commits whose parents
 * nobody is to look for.
 */

import { join } from 'node:path';
import { conflict } from '../lib/errors.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { damagedRepository, unlessAbsent } from './disk-errors.ts';
import { type GitFolder, withLock } from './lock-file.ts';
import type { ObjectStore } from './objects.ts';
import type { ParsedCommit } from './parsed-objects.ts';
import type { RefValue } from './ref-reader.ts';
import { deleteRefs } from './refs.ts';

const SHALLOW = 'shallow';
/** So few refs are removed at once that the locks which a killed process leaves do not delay the next one for long. */
const REMOVED_AT_ONCE = 20;
const MAX_TAG_CHAIN = 8;

/**
 * Removes versions for good. History is first made to end behind what is kept, then the refs are removed: cut off
 * anywhere, the repository is whole, and what was not removed yet is a version as before. The objects stay until
 * maintenance removes them.
 * @param boundaries the commits at which history is to end
 * @param withdrawals refs that say of some of these versions that they are withdrawn. They go last, so that a crash in
 *   between offers none of them again
 * @throws HawserError conflict `versions_changed` when another program moved one of the refs meanwhile
 */
export async function removeRefs(
  folder: GitFolder,
  boundaries: readonly string[],
  refs: readonly RefValue[],
  withdrawals: readonly RefValue[],
): Promise<void> {
  await endHistoryAt(folder, boundaries);
  await removeSome(folder, refs);
  await removeSome(folder, withdrawals);
}

async function removeSome(folder: GitFolder, refs: readonly RefValue[]): Promise<void> {
  for (let at = 0; at < refs.length; at += REMOVED_AT_ONCE) {
    if (!(await deleteRefs(folder, refs.slice(at, at + REMOVED_AT_ONCE))))
      throw conflict('versions_changed', 'A version was changed by another program meanwhile; try again.');
  }
}

/** The commits at which history was made to end; none in a repository from which nothing was removed. */
export async function readShallow(fs: AtomicFs, gitdir: string): Promise<Set<string>> {
  const text = await unlessAbsent(fs.readFile(join(gitdir, SHALLOW)), Buffer.alloc(0));
  return new Set(text.toString('latin1').match(/^[0-9a-f]{40}$/gm));
}

/**
 * Removes git's cache of the graph of commits. Git does not use it where history has an end, and `git fsck` takes what it
 * says about the removed commits for damage.
 */
export async function dropCommitGraph(fs: AtomicFs, gitdir: string): Promise<void> {
  for (const name of ['commit-graph', 'commit-graphs']) await fs.discard(join(gitdir, 'objects/info', name));
}

/** Ends history at these commits too, flushed. `git gc` removes from the file the commits that no ref leads to. */
async function endHistoryAt(folder: GitFolder, commits: readonly string[]): Promise<void> {
  const { fs, gitdir } = folder;
  if (commits.length === 0) return;
  await withLock(folder, join(gitdir, SHALLOW), async (lock) => {
    const known = await readShallow(fs, gitdir);
    const all = [...new Set([...known, ...commits])].sort();
    if (all.length > known.size) await lock.commit(all.map((commit) => `${commit}\n`).join(''));
  });
  // Git makes no other once there is an end of history.
  await dropCommitGraph(fs, gitdir);
}

/** What is kept when versions are removed. */
export interface KeptTips {
  whole: Iterable<string>;
  others: Iterable<string>;
}

/** Walks the history of a repository to find where it must end. */
export class History {
  private readonly objects: ObjectStore;
  private readonly gitdir: string;
  private readonly shallow: ReadonlySet<string>;
  /** What was read, by oid; null for an object that is no commit. */
  private readonly commits = new Map<string, ParsedCommit | null>();

  /** @param shallow the commits at which history ends already */
  constructor(objects: ObjectStore, gitdir: string, shallow: ReadonlySet<string>) {
    this.objects = objects;
    this.gitdir = gitdir;
    this.shallow = shallow;
  }

  /**
   * The commits at which history must end so that nothing leads to `removed` any more. A commit that a tip names is kept
   * even if it is one of `removed`.
   * @param tips oids of commits or tags. Between `whole` and a removed commit nothing stays, because the commits of a push
   *   may hold what was removed. Of what leads to `others`, all stays but the removed commits and what is below them
   */
  async boundaries(tips: KeptTips, removed: ReadonlySet<string>): Promise<string[]> {
    const whole = await this.peelAll(tips.whole);
    const others = await this.peelAll(tips.others);
    const tipped = [...new Set([...whole, ...others])];
    const isCut = (commit: string) => removed.has(commit) && !whole.has(commit) && !others.has(commit);
    const children = await this.childrenOf(tipped, isCut);
    const ends = new Set<string>();
    const cut = [...children.keys()].filter(isCut);
    for (const oid of cut) for (const child of children.get(oid) ?? []) ends.add(child);
    // What stands on these, up to the next whole version, ends there.
    const next = [...ends].filter((oid) => !whole.has(oid));
    const seen = new Set(next);
    for (let oid = next.pop(); oid !== undefined; oid = next.pop()) {
      for (const child of children.get(oid) ?? []) {
        if (whole.has(child)) ends.add(child);
        else if (!seen.has(child)) next.push(child);
        seen.add(child);
      }
    }
    const reached = await this.childrenOf(tipped, (oid) => ends.has(oid));
    return [...ends].filter((oid) => reached.has(oid));
  }

  /** The commits from `tip` back along the first parents to where history ends, newest first. */
  async *firstParents(tip: string): AsyncGenerator<{ oid: string; commit: ParsedCommit }> {
    for (let oid: string | undefined = tip; oid !== undefined; [oid] = await this.parentsOf(oid)) {
      const commit: ParsedCommit | null = await this.read(oid);
      if (commit === null) throw damagedRepository();
      yield { oid, commit };
    }
  }

  /** The commits that the tips lead to, each with those that stand on it. It ends where `isEnd` says. */
  private async childrenOf(
    tips: readonly string[],
    isEnd: (commit: string) => boolean,
  ): Promise<Map<string, string[]>> {
    const children = new Map<string, string[]>(tips.map((oid) => [oid, []]));
    const next = [...children.keys()];
    for (let oid = next.pop(); oid !== undefined; oid = next.pop()) {
      if (isEnd(oid)) continue;
      for (const parent of await this.parentsOf(oid)) {
        const known = children.get(parent);
        if (known !== undefined) known.push(oid);
        else {
          children.set(parent, [oid]);
          next.push(parent);
        }
      }
    }
    return children;
  }

  private async peelAll(tips: Iterable<string>): Promise<Set<string>> {
    const commits = new Set<string>();
    for (const tip of tips) {
      const commit = await this.peel(tip);
      if (commit !== null) commits.add(commit);
    }
    return commits;
  }

  private async parentsOf(oid: string): Promise<readonly string[]> {
    if (this.shallow.has(oid)) return [];
    const commit = await this.read(oid);
    if (commit === null) throw damagedRepository();
    return commit.parent;
  }

  /** The commit that a commit or a chain of tags leads to; null when it leads to none. */
  private async peel(tip: string): Promise<string | null> {
    let oid = tip;
    for (let step = 0; step < MAX_TAG_CHAIN; step += 1) {
      if ((await this.read(oid)) !== null) return oid;
      const tag = await this.objects.readParsed(this.gitdir, oid, 'tag');
      if (tag === null) return null;
      oid = tag.object;
    }
    return null;
  }

  private async read(oid: string): Promise<ParsedCommit | null> {
    const known = this.commits.get(oid);
    if (known !== undefined) return known;
    const commit = await this.objects.readParsed(this.gitdir, oid, 'commit');
    this.commits.set(oid, commit);
    return commit;
  }
}
