/** Finds the withdrawn versions in the history of a commit. */

import { damagedRepository } from '../git/disk-errors.ts';
import { contentCache } from '../git/object-caches.ts';
import type { ObjectStore } from '../git/objects.ts';
import type { Log } from '../lib/log.ts';
import { Pace } from '../lib/pace.ts';
import { follow } from './object-walk.ts';
import type { VersionRef } from './types.ts';

/** Commits that are looked at for one answer: as many as ten of the largest pushes bring. The nearest come first. */
const MOST_COMMITS = 10_000;
/** The memory for parents of commits, which never change: those of some 20,000. */
const CACHE_BYTES = 4 * 1024 * 1024;
const ID = /.{40}/g;
const NOWHERE: ReadonlySet<string> = new Set();

/** A repository, with the commits at which its history ends. */
interface HistorySite {
  gitdir: string;
  shallow: ReadonlySet<string>;
}

export class WithdrawnHistory {
  private readonly objects: ObjectStore;
  private readonly log: Log;
  /** The ids of the parents, in bytes: as text they would keep the whole commit in memory. */
  private readonly parents = contentCache(CACHE_BYTES);

  constructor(objects: ObjectStore, log: Log) {
    this.objects = objects;
    this.log = log;
  }

  /**
   * Those versions whose commit is `tip` or one that it comes from, in their order. Beyond 10,000 commits nothing is looked
   * for, which the log says.
   * @throws HawserError `repository_damaged` when a commit cannot be read
   */
  async find(
    { gitdir, shallow }: HistorySite,
    tip: string,
    versions: readonly VersionRef[],
  ): Promise<VersionRef[]> {
    const missing = new Set(versions.flatMap(({ commit }) => commit ?? []));
    const seen = new Set([tip]);
    const pace = new Pace();
    let looked = 0;
    for (const commit of seen) {
      missing.delete(commit);
      if (missing.size === 0) break;
      if (looked === MOST_COMMITS) {
        this.log.warn(
          { gitdir, commit: tip, looked },
          'a history is too long to look for withdrawn versions',
        );
        break;
      }
      looked += 1;
      // The set is walked while it grows, which is breadth first.
      if (!shallow.has(commit)) for (const parent of await this.parentsOf(gitdir, commit)) seen.add(parent);
      if (pace.isDue) await pace.rest();
    }
    return versions.filter(({ commit }) => commit !== null && !missing.has(commit));
  }

  private async parentsOf(gitdir: string, oid: string): Promise<readonly string[]> {
    const known = this.parents.get(oid);
    if (known !== undefined) return known.toString('hex').match(ID) ?? [];
    const links = follow({ oid, type: 'commit' }, await this.objects.readProven(gitdir, oid), NOWHERE);
    if (typeof links === 'string') throw damagedRepository(links);
    const parents = links.flatMap((link) => (link.type === 'commit' ? [link.oid] : []));
    this.parents.set(oid, Buffer.from(parents.join(''), 'hex'));
    return parents;
  }
}
