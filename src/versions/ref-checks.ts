/**
 * Reads the refs of a repository and checks, once for each, whether the objects behind it are those of the version that
 * its name says.
 */

import type { RolloutRecord } from '../domain/rollout.ts';
import { isVersion } from '../domain/version-order.ts';
import type { AtomicFs } from '../git/atomic-fs.ts';
import { isCorruption } from '../git/disk-errors.ts';
import type { ObjectStore } from '../git/objects.ts';
import type { RefBackend } from '../git/ref-backend.ts';
import { changedRefs, oidOf, type RefSnapshot } from '../git/ref-reader.ts';
import type { RepositoryRef } from '../git/types.ts';
import { HawserError } from '../lib/errors.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import type { Log } from '../lib/log.ts';
import type { Admit } from './admit.ts';
import type { CorruptionTracker } from './corruption-tracker.ts';
import {
  contentFault,
  isBesideStatus,
  lacksFile,
  parseRefName,
  type RefName,
  RULES,
  tagNameOf,
  type VersionKind,
} from './kinds.ts';
import { pushRecordName, readPushRecord, recordedName } from './push-records.ts';
import { type RolloutFacts, readRollout } from './rollout-branch.ts';
import type { PushRecord } from './types.ts';
import { ValidationCache } from './validation-cache.ts';
import { type Flaw, isContent, type VersionContent, type VersionObjects } from './version-objects.ts';
import { readWithdrawal, type WithdrawalFacts } from './withdrawal-tags.ts';

const CONCURRENT_CHECKS = 16;

/** What the index needs to know of a version. */
type Facts = Pick<VersionContent, 'commit' | 'entryPoint' | 'stated' | 'tag' | 'createdAt'> & {
  /** Who pushed it. Absent where it did not come by push. */
  pushed?: PushRecord;
  /** The node for which it is published; absent where it is for no node. */
  nodeId?: string;
};

/** Null for a ref that is no annotated tag, or a draft branch that leads to no commit. */
type Verdict = Facts | WithdrawalFacts | RolloutFacts | Flaw | null;

/** A ref that is named like a version, or like the withdrawal or the rollout of one. */
export interface NamedRef {
  name: string;
  oid: string;
  named: RefName | 'illegal';
  /** The id of what its push record is to be. Absent where there is none. */
  record?: string;
}

/** The result of the check of a ref. */
export interface RefCheck extends NamedRef {
  /** Whether the objects are those of a version, a withdrawal or a rollout, as far as they tell by themselves. */
  counts: boolean;
  /** The reason why not. Lightweight tags and tags made for other purposes are passed over without a reason. */
  fault: string | null;
  /** Null unless the ref counts as a version, and while its objects cannot be read. */
  facts: Facts | null;
  /** Null unless the ref counts as a withdrawal, and while its tag cannot be read. */
  withdrawal: WithdrawalFacts | null;
  /** Null unless the ref counts as a rollout, and while it cannot be read. */
  rollout: RolloutRecord | null;
}

/** What the check of a ref says that is none of these. */
const NONE = { counts: false, fault: null, facts: null, withdrawal: null, rollout: null } as const;

export interface CheckTools {
  fs: AtomicFs;
  objects: ObjectStore;
  versions: VersionObjects;
}

export class RefChecks {
  private readonly tools: CheckTools;
  private readonly kind: VersionKind;
  private readonly gitdir: string;
  private readonly corruption: CorruptionTracker;
  /**
   * A verdict has the ref's name and oid as its key, because the paths of a version depend on its series. A boolean has
   * an oid and a path as its key, and says whether the version has a file there.
   */
  private readonly verdicts: ValidationCache<Verdict | boolean>;

  constructor(tools: CheckTools, kind: VersionKind, gitdir: string, corruption: CorruptionTracker) {
    this.tools = tools;
    this.kind = kind;
    this.gitdir = gitdir;
    this.corruption = corruption;
    this.verdicts = new ValidationCache(tools.fs, gitdir, RULES);
  }

  /** Reads the results of earlier processes, the first time it is called. */
  load(): Promise<void> {
    return this.verdicts.load();
  }

  /** Writes the results that are new since the last call. */
  save(checksOfNow: () => Iterable<RefCheck>): Promise<void> {
    return this.verdicts.save(() => [...checksOfNow()].map(keyOf));
  }

  /** The check of a ref whose result is known already. It makes no promise, as there may be twenty thousand refs. */
  known(ref: NamedRef): RefCheck | undefined {
    const verdict = this.verdicts.get(keyOf(ref));
    return verdict === undefined || typeof verdict === 'boolean' ? undefined : judge(ref, verdict);
  }

  /** Reads what the ref leads to, also when the result is known already. */
  async check(ref: NamedRef): Promise<RefCheck> {
    const { name, named } = ref;
    try {
      const verdict = await this.read(ref);
      this.verdicts.remember(keyOf(ref), verdict);
      this.corruption.repaired(name);
      return judge(ref, verdict);
    } catch (error) {
      if (!isCorruption(error)) throw error;
      this.corruption.found(name, error);
      const counts = named !== 'illegal' && (isBesideStatus(named.status) || isVersion(named.version));
      // To leave it out would silently give nodes another version, whereas reading it fails loudly.
      return this.known(ref) ?? { ...ref, ...NONE, counts };
    }
  }

  /**
   * The fault of a version that takes its entry point from another; null when it has none, and while the version
   * cannot be read.
   */
  async inheritedFault({ oid, named }: RefCheck, entryPoint: string): Promise<string | null> {
    if (named === 'illegal' || !this.kind.holdsEntryPoint) return null;
    const { series, status } = named;
    if (isBesideStatus(status)) return null;
    const key = `${oid} ${entryPoint}`;
    let isThere = this.verdicts.get(key);
    if (typeof isThere !== 'boolean') {
      const read = this.tools.versions.read(this.gitdir, this.kind, { series, status, oid });
      const content = await read.catch((error) => {
        if (isCorruption(error)) return null;
        throw error;
      });
      if (!isContent(content)) return null;
      isThere = content.files.some(({ path }) => path === entryPoint);
      this.verdicts.remember(key, isThere);
    }
    return isThere ? null : lacksFile(entryPoint);
  }

  private async read({ oid, named, name, record }: NamedRef): Promise<Verdict> {
    const status = name.startsWith('refs/heads/') ? 'Draft' : 'Published';
    const series = named === 'illegal' ? '' : named.series;
    const { versions, objects } = this.tools;
    if (named !== 'illegal' && named.status === 'Withdrawn')
      return readWithdrawal(objects, this.gitdir, { oid, series, version: named.version });
    if (named !== 'illegal' && named.status === 'Rollout')
      return readRollout(objects, this.gitdir, { oid, version: named.version });
    const content = await versions.read(this.gitdir, this.kind, { series, status, oid });
    if (!isContent(content)) return content;
    const { commit, entryPoint, isPassthrough, files, stated, tag, nodeId } = content;
    const fault = await contentFault(this.kind, series, {
      entryPoint,
      isPassthrough,
      paths: files.map(({ path }) => path),
      read: (path) =>
        objects.readBytes(this.gitdir, files.find((file) => file.path === path)?.oid ?? '', 'blob'),
    });
    if (fault !== null) return { fault, stated, tag };
    const pushed = record === undefined ? null : await this.readRecord(record, oid);
    const facts = { commit, entryPoint, stated, tag, ...(nodeId !== null && { nodeId }) };
    if (pushed === null) return { ...facts, createdAt: content.createdAt };
    // A tag that was pushed cannot tell it.
    const { createdAt, nodeId: ofRecord = nodeId } = pushed;
    const kept = pushed.tag === undefined ? null : await this.entryPointOf(series, pushed.tag);
    const shown = { ...facts, ...(kept !== null && { entryPoint: kept }) };
    return { ...shown, createdAt, pushed, ...(ofRecord !== null && { nodeId: ofRecord }) };
  }

  /** The entry point that a draft has once it is published by the tag that was pushed for it; null where that inherits one. */
  private async entryPointOf(series: string, oid: string): Promise<string | null> {
    const { versions } = this.tools;
    const content = await versions.read(this.gitdir, this.kind, { series, status: 'Published', oid });
    return isContent(content) ? content.entryPoint : null;
  }

  /** Null where the record is that of another object, which had the name before. */
  private async readRecord(record: string, oid: string): Promise<PushRecord | null> {
    const { objects } = this.tools;
    const read = await readPushRecord(objects, this.gitdir, record);
    if (read === null) return null;
    const { target, isOnTag, ...pushed } = read;
    if (target === oid) return pushed;
    // That of a draft may stand on the tag which is to publish it.
    const tag = isOnTag ? await objects.readParsed(this.gitdir, target, 'tag') : null;
    return tag?.object === oid ? { ...pushed, tag: target } : null;
  }
}

function judge(ref: NamedRef, verdict: Verdict): RefCheck {
  const { named } = ref;
  const none = { ...ref, ...NONE };
  if (verdict === null) return none;
  if (named === 'illegal') return { ...none, fault: 'The name is not that of a parameter file or schema' };
  const { series, version, status } = named;
  if ('target' in verdict) return { ...none, counts: true, withdrawal: verdict };
  if ('rollout' in verdict) return { ...none, counts: true, rollout: verdict.rollout };
  if (isBesideStatus(status)) return { ...none, fault: 'fault' in verdict ? verdict.fault : null };
  // `git tag v2.0.0 v1.0.0` leads to a tag object too, that of another version. It counts as a lightweight tag.
  if (status === 'Published' && verdict.tag !== tagNameOf(series, version)) return none;
  // Many tags begin with a `v`. One that is no SemVer is meant as a version only if it is made like one.
  const isMeant = verdict.stated || ('pushed' in verdict && verdict.pushed !== undefined);
  if (!isVersion(version) && !isMeant) return none;
  if ('fault' in verdict) return { ...none, fault: verdict.fault };
  return { ...none, counts: true, facts: verdict };
}

const FAULTS: Record<RefName['status'], string> = {
  Draft: 'a tag or draft branch is no version',
  Published: 'a tag or draft branch is no version',
  Withdrawn: 'a tag withdraws no version',
  Rollout: 'a branch is the rollout of no version',
};

function keyOf({ name, oid, record }: NamedRef): string {
  return record === undefined ? `${name} ${oid}` : `${name} ${oid} ${record}`;
}

export class RefReader {
  readonly checks: RefChecks;
  private readonly tools: CheckTools;
  private readonly site: { kind: VersionKind; gitdir: string; ref: RepositoryRef };
  private readonly admit: Admit | undefined;
  private readonly refs: RefBackend;
  private readonly log: Log;
  private readonly kind: VersionKind;
  /** The ids of refs that are named like versions and are none, and that the log has been told of. */
  private readonly warned = new Set<string>();

  constructor(
    tools: CheckTools & { log: Log; admit?: Admit | undefined },
    site: { kind: VersionKind; gitdir: string; refs: RefBackend; ref: RepositoryRef },
    corruption: CorruptionTracker,
  ) {
    const { kind, gitdir, refs, ref } = site;
    this.tools = tools;
    this.site = site;
    this.admit = ref.kind === 'configurations' ? tools.admit : undefined;
    this.refs = refs;
    this.log = tools.log;
    this.kind = kind;
    this.checks = new RefChecks(tools, kind, gitdir, corruption);
  }

  /**
   * Reads all refs. `previous` saves reading those that did not change.
   * @param moved the only ref to be looked at, which the caller has just made or moved
   * @returns undefined where there is no repository, of a kind that is made on demand
   * @throws HawserError `repository_missing`, `repository_damaged`
   */
  async readRefs(previous: RefSnapshot | undefined, moved?: string): Promise<RefSnapshot | undefined> {
    const followed = previous && moved !== undefined && this.refs.follow(previous, moved);
    if (followed) return followed;
    try {
      return await this.refs.read(previous);
    } catch (error) {
      const isMissing = error instanceof HawserError && error.code === 'repository_missing';
      if (!isMissing || !this.kind.isMadeOnDemand) throw error;
      this.refs.requireAbsent(error);
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
    const names = new Set(doubted);
    // A version may get another record of its push, and stay where it is.
    for (const name of changedRefs(previous, snapshot)) names.add(recordedName(name) ?? name);
    if (names.size > 0) await this.checks.load();
    for (const name of names) {
      const named = parseRefName(this.kind, name);
      if (named === null) continue;
      const oid = oidOf(snapshot, name);
      const record = this.kind.takesPushes ? oidOf(snapshot, pushRecordName(name)) : null;
      const ref = oid === null ? null : { name, oid, named, ...(record !== null && { record }) };
      const known = ref && (doubted.has(name) ? undefined : this.checks.known(ref));
      if (known !== undefined) found.set(name, known);
      else if (ref) unknown.push(ref);
    }
    await forEachOf(unknown, CONCURRENT_CHECKS, async (ref) => {
      found.set(ref.name, await this.checks.check(ref));
    });
    if (this.admit)
      for (const [name, check] of found) {
        const fault = check && (await this.faultOfOutside(this.admit, check));
        if (check && fault) found.set(name, { ...check, ...NONE, fault });
      }
    return found;
  }

  /** Why a tag that no push has brought does not count. It is asked whenever the tag is read, as who may sign changes. */
  private async faultOfOutside(admit: Admit, { named, oid, facts }: RefCheck): Promise<string | null> {
    if (named === 'illegal' || named.status !== 'Published' || !facts || facts.pushed) return null;
    const { kind, gitdir, ref } = this.site;
    const { objects, versions } = this.tools;
    const { series, version } = named;
    const content = async () => {
      const read = await versions.read(gitdir, kind, { series, status: 'Published', oid });
      return isContent(read) ? read.files : [];
    };
    return admit(ref.name, {
      ...{ version, oid, commit: facts.commit, entryPoint: facts.entryPoint ?? '' },
      files: content,
      read: (id, type) => objects.readBytes(gitdir, id, type),
    });
  }

  /** Warns once of each ref that is named like a version, a withdrawal or a rollout and is none. */
  warnOfFaults(repository: RepositoryRef, faults: ReadonlyMap<string, string>, snapshot: RefSnapshot): void {
    for (const [ref, reason] of faults) {
      const oid = oidOf(snapshot, ref) ?? '';
      if (this.warned.has(oid)) continue;
      this.warned.add(oid);
      const named = parseRefName(this.kind, ref);
      const status = named === null || named === 'illegal' ? 'Draft' : named.status;
      this.log.warn({ repository, ref, reason }, FAULTS[status]);
    }
  }
}
