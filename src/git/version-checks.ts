/** Whether the objects behind a ref are a version's, checked once for each. */

import type { AtomicFs } from './atomic-fs.ts';
import { isDamage } from './damage.ts';
import type { ObjectStore } from './objects.ts';
import type { RepositoryKind } from './types.ts';
import { Verdicts } from './verdicts.ts';
import {
  type Flaw,
  isContent,
  type ObjectRef,
  type VersionContent,
  type VersionObjects,
} from './version-objects.ts';
import { cannotRead, lacksFile, pathFault, RULES, rulesOf } from './version-rules.ts';

/** What the index needs of a version. */
export type VersionFacts = Pick<VersionContent, 'commit' | 'entryPoint' | 'stated' | 'tag' | 'createdAt'>;

/** Null: no annotated tag, or a draft branch that leads to no commit. */
export type Verdict = VersionFacts | Flaw | null;

export interface CheckTools {
  fs: AtomicFs;
  objects: ObjectStore;
  versions: VersionObjects;
}

export class VersionChecks {
  private readonly tools: CheckTools;
  private readonly kind: RepositoryKind;
  private readonly gitdir: string;
  /** By status and oid; by oid and path, whether the version's tree has the file. */
  private readonly verdicts: Verdicts<Verdict | boolean>;

  constructor(tools: CheckTools, kind: RepositoryKind, gitdir: string) {
    this.tools = tools;
    this.kind = kind;
    this.gitdir = gitdir;
    this.verdicts = new Verdicts(tools.fs, gitdir, RULES);
  }

  /** Reads what was found out before, the first time. */
  load(): Promise<void> {
    return this.verdicts.load();
  }

  /** `repository_damaged` when an object is missing or broken, which is no verdict. */
  async verdict(ref: ObjectRef): Promise<Verdict> {
    const known = this.known(ref);
    if (known !== undefined) return known;
    const verdict = await this.check(ref);
    this.verdicts.remember(keyOf(ref), verdict);
    return verdict;
  }

  /** The verdict if there has been one. */
  known(ref: ObjectRef): Verdict | undefined {
    const known = this.verdicts.get(keyOf(ref));
    return typeof known === 'boolean' ? undefined : known;
  }

  /**
   * For a version that takes its entry point from another: the fault of that, or null, which it is too while
   * the version cannot be read.
   */
  async faultOfInherited(ref: ObjectRef, entryPoint: string): Promise<string | null> {
    const { required, isReadable } = rulesOf(this.kind);
    const needed = required(entryPoint);
    if (needed === null || isReadable) return null;
    const key = `${ref.oid} ${needed}`;
    let has = this.verdicts.get(key);
    if (typeof has !== 'boolean') {
      const content = await this.tools.versions.read(this.gitdir, ref).catch(nullIfDamaged);
      if (!isContent(content)) return null;
      has = content.files.some(({ path }) => path === needed);
      this.verdicts.remember(key, has);
    }
    return has ? null : lacksFile(needed);
  }

  /** Reads the objects whatever is known of them, and fails as `verdict` does. */
  async probe(ref: ObjectRef): Promise<void> {
    await this.check(ref);
  }

  /** Writes what was found out since the last time; what fails is found out again after the next start. */
  async save(refsOfNow: () => readonly ObjectRef[]): Promise<void> {
    await this.verdicts.save(() => refsOfNow().map(keyOf));
  }

  private async check(ref: ObjectRef): Promise<Verdict> {
    const content = await this.tools.versions.read(this.gitdir, ref);
    if (!isContent(content)) return content;
    const { commit, entryPoint, stated, tag, createdAt } = content;
    const fault = await this.faultOf(content);
    return fault === null ? { commit, entryPoint, stated, tag, createdAt } : { fault, stated, tag };
  }

  private async faultOf({ entryPoint, files }: VersionContent): Promise<string | null> {
    const fault =
      (await pathFault(files.map(({ path }) => path))) ?? (entryPoint && (await pathFault([entryPoint])));
    if (fault) return fault;
    const { required, isReadable } = rulesOf(this.kind);
    // Without an entry point of its own, what a configuration needs is settled among its versions.
    if (entryPoint === null && !isReadable) return null;
    const needed = required(entryPoint ?? '');
    if (needed === null) return null;
    const file = files.find(({ path }) => path === needed);
    if (!file) return lacksFile(needed);
    if (!isReadable || isReadable(await this.tools.objects.readBytes(this.gitdir, file.oid, 'blob')))
      return null;
    return cannotRead(needed);
  }
}

function nullIfDamaged(error: unknown): null {
  if (isDamage(error)) return null;
  throw error;
}

/** With the status: a lightweight tag may name the commit of a draft, and is no version for that. */
export function keyOf({ status, oid }: ObjectRef): string {
  return `${status} ${oid}`;
}
