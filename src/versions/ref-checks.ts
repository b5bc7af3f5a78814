/** Whether the objects behind a ref are those of the version that its name says. Each ref is checked once. */

import { isVersion } from '../domain/version-order.ts';
import type { AtomicFs } from '../git/atomic-fs.ts';
import { isCorruption } from '../git/disk-errors.ts';
import type { ObjectStore } from '../git/objects.ts';
import type { CorruptionTracker } from './corruption-tracker.ts';
import { contentFault, lacksFile, RULES, tagNameOf, type VersionKind, type VersionName } from './kinds.ts';
import { ValidationCache } from './validation-cache.ts';
import { type Flaw, isContent, type VersionContent, type VersionObjects } from './version-objects.ts';

/** What the index needs to know of a version. */
type Facts = Pick<VersionContent, 'commit' | 'entryPoint' | 'stated' | 'tag' | 'createdAt'>;

/** Null for a ref that is no annotated tag, or a draft branch that leads to no commit. */
type Verdict = Facts | Flaw | null;

/** A ref that is named like a version. */
export interface NamedRef {
  name: string;
  oid: string;
  named: VersionName | 'illegal';
}

/** The result of the check of a ref. */
export interface RefCheck extends NamedRef {
  /** Whether the objects are those of a version, as far as they tell by themselves. */
  counts: boolean;
  /** The reason why not. Lightweight tags and tags made for other purposes are passed over without a reason. */
  fault: string | null;
  /** Null unless the ref counts, and while its objects cannot be read. */
  facts: Facts | null;
}

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
   * By name and oid the verdict: the files of a version depend on its series. By oid and path, whether the version
   * has a file there.
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
      const counts = named !== 'illegal' && isVersion(named.version);
      // To leave it out would silently give nodes another version, whereas reading it fails loudly.
      return this.known(ref) ?? { ...ref, counts, fault: null, facts: null };
    }
  }

  /**
   * The fault of a version that takes its entry point from another; null when it has none, and while the version
   * cannot be read.
   */
  async inheritedFault({ oid, named }: RefCheck, entryPoint: string): Promise<string | null> {
    if (named === 'illegal' || !this.kind.holdsEntryPoint) return null;
    const key = `${oid} ${entryPoint}`;
    let isThere = this.verdicts.get(key);
    if (typeof isThere !== 'boolean') {
      const { series, status } = named;
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

  private async read({ oid, named, name }: NamedRef): Promise<Verdict> {
    const status = name.startsWith('refs/heads/') ? 'Draft' : 'Published';
    const series = named === 'illegal' ? '' : named.series;
    const { versions, objects } = this.tools;
    const content = await versions.read(this.gitdir, this.kind, { series, status, oid });
    if (!isContent(content)) return content;
    const { commit, entryPoint, isPassthrough, files, stated, tag, createdAt } = content;
    const fault = await contentFault(this.kind, series, {
      entryPoint,
      isPassthrough,
      paths: files.map(({ path }) => path),
      read: (path) =>
        objects.readBytes(this.gitdir, files.find((file) => file.path === path)?.oid ?? '', 'blob'),
    });
    return fault === null ? { commit, entryPoint, stated, tag, createdAt } : { fault, stated, tag };
  }
}

function judge(ref: NamedRef, verdict: Verdict): RefCheck {
  const { named } = ref;
  const none = { ...ref, counts: false, fault: null, facts: null };
  if (verdict === null) return none;
  if (named === 'illegal') return { ...none, fault: 'The name is not that of a parameter file or schema' };
  const { series, version, status } = named;
  // `git tag v2.0.0 v1.0.0` leads to a tag object too, that of another version. It counts as a lightweight tag.
  if (status === 'Published' && verdict.tag !== tagNameOf(series, version)) return none;
  // Many tags begin with a `v`. One that is no SemVer is meant as a version only if it is made like one.
  if (!isVersion(version) && !verdict.stated) return none;
  if ('fault' in verdict) return { ...none, fault: verdict.fault };
  return { ...ref, counts: true, fault: null, facts: verdict };
}

function keyOf({ name, oid }: NamedRef): string {
  return `${name} ${oid}`;
}
