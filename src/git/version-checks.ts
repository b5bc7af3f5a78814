/**
 * Whether the objects behind a ref are a version's, checked once for each: what an object id stands for never
 * changes. The verdicts lie in a file of the repository too, so that a start does not read two thousand tags.
 * The file can be lost or cut short without harm; it is only ever appended to, a line per verdict.
 */

import { join } from 'node:path';
import type { AtomicFs } from './atomic-fs.ts';
import { isDamage } from './damage.ts';
import { unlessAbsent } from './disk-errors.ts';
import type { ObjectStore } from './objects.ts';
import type { RepositoryKind } from './types.ts';
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

const FILE = 'hawser-checked';
/** The file is written anew once it has so many lines, and most of them of refs that are gone. */
const MIN_LINES_TO_SHRINK = 1_000;

export class VersionChecks {
  private readonly tools: CheckTools;
  private readonly kind: RepositoryKind;
  private readonly gitdir: string;
  /** Verdicts by status and oid; by oid and path, whether the version's tree has the file. */
  private readonly memory = new Map<string, Verdict | boolean>();
  private unsaved: string[] = [];
  private lines = 0;
  private loading: Promise<void> | undefined;

  constructor(tools: CheckTools, kind: RepositoryKind, gitdir: string) {
    this.tools = tools;
    this.kind = kind;
    this.gitdir = gitdir;
  }

  /** Reads what was found out before, the first time. */
  load(): Promise<void> {
    this.loading ??= this.readFile();
    return this.loading;
  }

  /** `repository_damaged` when an object is missing or broken, which is no verdict. */
  async verdict(ref: ObjectRef): Promise<Verdict> {
    const known = this.known(ref);
    if (known !== undefined) return known;
    const verdict = await this.check(ref);
    this.remember(keyOf(ref), verdict);
    return verdict;
  }

  /** The verdict if there has been one. */
  known(ref: ObjectRef): Verdict | undefined {
    const known = this.memory.get(keyOf(ref));
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
    let has = this.memory.get(key);
    if (typeof has !== 'boolean') {
      const content = await this.tools.versions.read(this.gitdir, ref).catch(nullIfDamaged);
      if (!isContent(content)) return null;
      has = content.files.some(({ path }) => path === needed);
      this.remember(key, has);
    }
    return has ? null : lacksFile(needed);
  }

  /** Reads the objects whatever is known of them, and fails as `verdict` does. */
  async probe(ref: ObjectRef): Promise<void> {
    await this.check(ref);
  }

  /** Writes what was found out since the last time; what fails is found out again after the next start. */
  async save(refsOfNow: () => readonly ObjectRef[]): Promise<void> {
    if (this.unsaved.length === 0) return;
    const lines = this.unsaved;
    this.unsaved = [];
    this.lines += lines.length;
    await this.tools.fs.append(join(this.gitdir, FILE), lines.join('')).catch(() => undefined);
    if (this.lines > MIN_LINES_TO_SHRINK) await this.shrink(refsOfNow());
  }

  private async shrink(refs: readonly ObjectRef[]): Promise<void> {
    if (this.lines < 4 * refs.length) return;
    const lines = refs.map((ref) => ({ key: keyOf(ref), verdict: this.known(ref) }));
    const text = lines
      .map(({ key, verdict }) => (verdict === undefined ? '' : format(key, verdict)))
      .join('');
    this.lines = refs.length;
    await this.tools.fs.writeFile(join(this.gitdir, FILE), text).catch(() => undefined);
  }

  private async check(ref: ObjectRef): Promise<Verdict> {
    const content = await this.tools.versions.read(this.gitdir, ref);
    if (!isContent(content)) return content;
    const { commit, entryPoint, stated, tag, createdAt } = content;
    const fault = await this.faultOf(content);
    return fault === null ? { commit, entryPoint, stated, tag, createdAt } : { fault, stated, tag };
  }

  private async faultOf({ entryPoint, files }: VersionContent): Promise<string | null> {
    const fault = pathFault(files.map(({ path }) => path)) ?? (entryPoint && pathFault([entryPoint]));
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

  private remember(key: string, value: Verdict | boolean): void {
    if (this.memory.has(key)) return;
    this.memory.set(key, value);
    this.unsaved.push(format(key, value));
  }

  private async readFile(): Promise<void> {
    const data = await unlessAbsent(this.tools.fs.readFile(join(this.gitdir, FILE)), null).catch(() => null);
    for (const line of data?.toString('utf8').split('\n') ?? []) {
      this.lines += 1;
      const entry = parseLine(line);
      if (entry) this.memory.set(...entry);
    }
  }
}

function nullIfDamaged(error: unknown): null {
  if (isDamage(error)) return null;
  throw error;
}

function keyOf({ status, oid }: ObjectRef): string {
  return `${status} ${oid}`;
}

function format(key: string, value: Verdict | boolean): string {
  return `${JSON.stringify([RULES, key, value])}\n`;
}

/** Null for a line that a crash cut short, or that follows other rules. */
function parseLine(line: string): [string, Verdict | boolean] | null {
  try {
    const [rules, key, value] = JSON.parse(line);
    return rules === RULES && typeof key === 'string' && value !== undefined ? [key, value] : null;
  } catch {
    return null;
  }
}
