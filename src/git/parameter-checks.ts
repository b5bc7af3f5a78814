/** Whether the objects behind a ref of a parameters repository are what its name says, checked once for each. */

import { isVersion } from '../domain/version-order.ts';
import { type Damage, isDamage } from './damage.ts';
import { contentPaths, type NamedParameter, shortTag } from './parameter-refs.ts';
import { Verdicts } from './verdicts.ts';
import type { CheckTools } from './version-checks.ts';
import { type Flaw, isContent } from './version-objects.ts';
import { lacksFile } from './version-rules.ts';

/** Raised with every change of a rule: what was checked before is checked anew. */
const RULES = 1;
const ILLEGAL_NAME = 'The name is not that of a parameter file or schema';

interface Facts {
  commit: string;
  createdAt: number;
  stated: boolean;
  tag: string | null;
}

/** Null: no annotated tag, or a draft branch that leads to no commit. */
type Verdict = Facts | Flaw | null;

/** A ref that is named like a version. */
interface NamedRef {
  name: string;
  oid: string;
  named: NamedParameter | 'illegal';
}

/** What became of it. */
export interface ParameterLook extends NamedRef {
  /** Whether the objects are a version's, as far as they say themselves. */
  counts: boolean;
  /** Why not, where it is worth a word: lightweight tags and those for other ends are passed over silently. */
  fault: string | null;
  /** Null unless it counts, and when its objects cannot be read. */
  facts: Pick<Facts, 'commit' | 'createdAt'> | null;
}

export class ParameterChecks {
  private readonly tools: CheckTools;
  private readonly gitdir: string;
  private readonly damage: Damage;
  /** By name and oid: what a version's file must be called depends on its scope. */
  private readonly verdicts: Verdicts<Verdict>;

  constructor(tools: CheckTools, gitdir: string, damage: Damage) {
    this.tools = tools;
    this.gitdir = gitdir;
    this.damage = damage;
    this.verdicts = new Verdicts(tools.fs, gitdir, RULES);
  }

  /** Reads what was found out before, the first time. */
  load(): Promise<void> {
    return this.verdicts.load();
  }

  /** Writes what was found out since the last time. */
  save(looksOfNow: () => Iterable<ParameterLook>): Promise<void> {
    return this.verdicts.save(() => [...looksOfNow()].map(({ name, oid }) => keyOf(name, oid)));
  }

  /** What a ref is by what is known already, undefined if that is nothing. Of twenty thousand, so no promise. */
  known({ name, oid, named }: NamedRef): ParameterLook | undefined {
    const verdict = this.verdicts.get(keyOf(name, oid));
    return verdict === undefined ? undefined : { name, oid, named, ...judge(named, verdict) };
  }

  /** Reads what the ref leads to, whatever is known of it. */
  async look(ref: NamedRef): Promise<ParameterLook> {
    const { name, oid, named } = ref;
    try {
      const verdict = await this.check(ref);
      this.verdicts.remember(keyOf(name, oid), verdict);
      this.damage.cured(name);
      return { name, oid, named, ...judge(named, verdict) };
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.damage.found(name, error);
      const counts = named !== 'illegal' && isVersion(named.version);
      // To leave it out would silently give nodes other values, whereas reading it fails loudly.
      return this.known(ref) ?? { name, oid, named, counts, fault: null, facts: null };
    }
  }

  private async check({ name, oid, named }: NamedRef): Promise<Verdict> {
    const scope = named === 'illegal' ? null : named.scope;
    const status = name.startsWith('refs/heads/') ? 'Draft' : 'Published';
    const paths = contentPaths(scope);
    const content = await this.tools.versions.read(this.gitdir, { status, oid }, paths);
    if (!isContent(content)) return content;
    const { commit, createdAt, stated, tag, files, passthrough } = content;
    const expected = passthrough && scope !== null ? 0 : 1;
    if (files.length === expected) return { commit, createdAt, stated, tag };
    return { fault: faultOf(expected, files.length, paths), stated, tag };
  }
}

function faultOf(expected: number, found: number, paths: readonly string[]): string {
  if (expected === 0) return 'A scope that is passed through has a file';
  return found === 0 ? lacksFile(paths[0] ?? '') : 'There are both a YAML and a JSON file';
}

function judge(
  named: NamedParameter | 'illegal',
  verdict: Verdict,
): Pick<ParameterLook, 'counts' | 'fault' | 'facts'> {
  const none = { counts: false, fault: null, facts: null };
  if (verdict === null) return none;
  if (named === 'illegal') return { ...none, fault: ILLEGAL_NAME };
  const { scope, version, status } = named;
  // `git tag Environment/prod/v2.0.0 Environment/prod/v1.0.0` leads to another version's tag: it is a lightweight one.
  if (status === 'Published' && verdict.tag !== shortTag(scope, version)) return none;
  if (!isVersion(version) && !verdict.stated) return none;
  if ('fault' in verdict) return { ...none, fault: verdict.fault };
  const { commit, createdAt } = verdict;
  return { counts: true, fault: null, facts: { commit, createdAt } };
}

function keyOf(name: string, oid: string): string {
  return `${name} ${oid}`;
}
