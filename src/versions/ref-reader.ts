/** Reads the refs of one repository and checks those that changed. */

import { dirname } from 'node:path';
import type { AtomicFs } from '../git/atomic-fs.ts';
import { damagedRepository, missingRepository } from '../git/disk-errors.ts';
import { changedRefs, oidOf, type RefSnapshot, readSnapshot } from '../git/ref-snapshot.ts';
import type { RepositoryRef } from '../git/types.ts';
import { HawserError } from '../lib/errors.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import type { Log } from '../lib/log.ts';
import type { CorruptionTracker } from './corruption-tracker.ts';
import { parseRefName, type VersionKind } from './kinds.ts';
import { type CheckTools, type NamedRef, type RefCheck, RefChecks } from './ref-checks.ts';

const CONCURRENT_CHECKS = 16;

export class RefReader {
  readonly checks: RefChecks;
  private readonly fs: AtomicFs;
  private readonly log: Log;
  private readonly kind: VersionKind;
  private readonly gitdir: string;
  /** The ids of refs that are named like versions and are none, and that the log has been told of. */
  private readonly warned = new Set<string>();

  constructor(
    tools: CheckTools & { log: Log },
    kind: VersionKind,
    gitdir: string,
    corruption: CorruptionTracker,
  ) {
    this.fs = tools.fs;
    this.log = tools.log;
    this.kind = kind;
    this.gitdir = gitdir;
    this.checks = new RefChecks(tools, kind, gitdir, corruption);
  }

  /** Whether the folder of the repository is on the disk. */
  get isThere(): boolean {
    return this.fs.lstatNow(this.gitdir) !== undefined;
  }

  /**
   * Reads all refs. `previous` saves reading those that did not change.
   * @returns undefined where there is no repository, of a kind that is made on demand
   * @throws HawserError `repository_missing`, `repository_damaged`
   */
  async readRefs(previous: RefSnapshot | undefined): Promise<RefSnapshot | undefined> {
    try {
      return await readSnapshot(this.fs, this.gitdir, previous);
    } catch (error) {
      const isMissing = error instanceof HawserError && error.code === 'repository_missing';
      if (!isMissing || !this.kind.isMadeOnDemand) throw error;
      if (this.isThere) throw damagedRepository(error);
      // Only the folder of all repositories of this kind tells for certain that this one was never made.
      if (this.fs.lstatNow(dirname(this.gitdir)) === undefined) throw missingRepository(error);
      return undefined;
    }
  }

  /**
   * Checks the refs that changed since `previous`, and those in `doubted` even where the result is known.
   * @returns the checks by full name, null for a ref that is gone
   */
  async checkRefs(
    snapshot: RefSnapshot | undefined,
    previous: RefSnapshot | undefined,
    doubted: ReadonlySet<string>,
  ): Promise<Map<string, RefCheck | null>> {
    const found = new Map<string, RefCheck | null>();
    if (snapshot === undefined) return found;
    const unknown: NamedRef[] = [];
    const names = new Set([...changedRefs(previous, snapshot), ...doubted]);
    if (names.size > 0) await this.checks.load();
    for (const name of names) {
      const named = parseRefName(this.kind, name);
      if (named === null) continue;
      const oid = oidOf(snapshot, name);
      const ref = oid === null ? null : { name, oid, named };
      const known = ref && (doubted.has(name) ? undefined : this.checks.known(ref));
      if (known !== undefined) found.set(name, known);
      else if (ref) unknown.push(ref);
    }
    await forEachOf(unknown, CONCURRENT_CHECKS, async (ref) => {
      found.set(ref.name, await this.checks.check(ref));
    });
    return found;
  }

  /** Warns once of each ref that is named like a version and is none. */
  warnOfFaults(repository: RepositoryRef, faults: ReadonlyMap<string, string>, snapshot: RefSnapshot): void {
    for (const [ref, reason] of faults) {
      const oid = oidOf(snapshot, ref) ?? '';
      if (this.warned.has(oid)) continue;
      this.warned.add(oid);
      this.log.warn({ repository, ref, reason }, 'a tag or draft branch is no version');
    }
  }
}
