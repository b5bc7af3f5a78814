/** Walks the history of a repository to find where it must end, so that nothing leads to what is to go. */

import type { CommitObject } from 'isomorphic-git';
import { damagedRepository } from './disk-errors.ts';
import type { ObjectStore } from './objects.ts';

const MAX_TAG_CHAIN = 8;

export class History {
  private readonly objects: ObjectStore;
  private readonly gitdir: string;
  private readonly shallow: ReadonlySet<string>;
  /** By commit; null of an object that is none. */
  private readonly commits = new Map<string, CommitObject | null>();

  /** @param shallow the commits at which history ends already */
  constructor(objects: ObjectStore, gitdir: string, shallow: ReadonlySet<string>) {
    this.objects = objects;
    this.gitdir = gitdir;
    this.shallow = shallow;
  }

  /**
   * The commits reached from `tips` that have one of `removed` as a parent. What a tip itself leads to is kept, so
   * nothing ends above it.
   * @param tips oids of commits or tags
   */
  async boundaries(tips: Iterable<string>, removed: ReadonlySet<string>): Promise<string[]> {
    const kept = new Set<string>();
    for (const tip of tips) {
      const commit = await this.peel(tip);
      if (commit !== null) kept.add(commit);
    }
    const isCut = (commit: string) => removed.has(commit) && !kept.has(commit);
    const [found, seen, next]: [string[], Set<string>, string[]] = [[], new Set(), [...kept]];
    for (let oid = next.pop(); oid !== undefined; oid = next.pop()) {
      if (seen.has(oid)) continue;
      seen.add(oid);
      const parents = await this.parentsOf(oid);
      if (parents.some(isCut)) found.push(oid);
      else next.push(...parents);
    }
    return found;
  }

  /** The commits from this one back along first parents, newest first, to where history ends. */
  async *firstParents(tip: string): AsyncGenerator<{ oid: string; commit: CommitObject }> {
    for (let oid: string | undefined = tip; oid !== undefined; [oid] = await this.parentsOf(oid)) {
      const commit: CommitObject | null = await this.read(oid);
      if (commit === null) throw damagedRepository();
      yield { oid, commit };
    }
  }

  private async parentsOf(oid: string): Promise<readonly string[]> {
    if (this.shallow.has(oid)) return [];
    const commit = await this.read(oid);
    if (commit === null) throw damagedRepository();
    return commit.parent;
  }

  /** Null for a ref that leads to no commit in the end. */
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

  private async read(oid: string): Promise<CommitObject | null> {
    const known = this.commits.get(oid);
    if (known !== undefined) return known;
    const commit = await this.objects.readParsed(this.gitdir, oid, 'commit');
    this.commits.set(oid, commit);
    return commit;
  }
}
