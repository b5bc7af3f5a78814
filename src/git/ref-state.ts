/** What the refs of a repository say at one moment: which of them are versions, and what is amiss with others. */

import pLimit from 'p-limit';
import { DEFAULT_ENTRY_POINT } from '../domain/bundle-paths.ts';
import { isVersion } from '../domain/version-order.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { type Damage, isDamage } from './damage.ts';
import type { PackedRef } from './packed-refs.ts';
import { changedRefs, oidOf, type RefSnapshot, readSnapshot } from './ref-snapshot.ts';
import { MAIN } from './refs.ts';
import type { VersionRef } from './types.ts';
import type { Verdict, VersionChecks, VersionFacts } from './version-checks.ts';
import { draftRefName, refNameOf, SortedVersions, tagRefName, versionOfRefName } from './version-index.ts';

const CONCURRENT_CHECKS = 16;

/** What became of a ref that is named like a version. */
interface Look {
  ref: VersionRef;
  /** Whether the objects are a version's, as far as they say themselves. */
  counts: boolean;
  /** Why not, where it is worth a word: lightweight tags and those for other ends are passed over silently. */
  fault: string | null;
  /** Null unless it counts, and when its objects cannot be read. */
  facts: VersionFacts | null;
}

export interface RefState {
  snapshot: RefSnapshot;
  looks: ReadonlyMap<string, Look>;
  /** Those that count, a published version in place of its draft. */
  candidates: SortedVersions;
  /** The entry points of versions that take theirs from the one below. */
  inherited: ReadonlyMap<string, string>;
  /** The candidates without those that have no file at the entry point that they inherit. */
  index: SortedVersions;
  main: string | null;
  /** The commit of the highest published stable version; null: there is none, or it cannot be read. */
  stableCommit: string | null;
  /** Draft branches of versions that have a tag, which goes before them. */
  hidden: readonly VersionRef[];
  /** Those of versions that are published beyond doubt: what a crash right after the publishing left. */
  leftOvers: readonly VersionRef[];
  /** Why refs that look like versions are none, by full name. */
  faults: ReadonlyMap<string, string>;
}

export interface StateTools {
  fs: AtomicFs;
  checks: VersionChecks;
  damage: Damage;
}

/** Whether `main` or a draft branch is not as the published versions demand. */
export function needsTidying(state: RefState): boolean {
  return state.leftOvers.length > 0 || (state.stableCommit !== null && state.stableCommit !== state.main);
}

/** The loose refs of versions, which may be packed. */
export function packableRefs({ snapshot, looks }: RefState): PackedRef[] {
  const refs: PackedRef[] = [];
  for (const [name, { oid }] of snapshot.loose) {
    const look = looks.get(name);
    if (!look?.facts || look.ref.oid !== oid) continue;
    refs.push({ name, oid, peeled: look.ref.status === 'Draft' ? null : look.facts.commit });
  }
  return refs;
}

/**
 * The state on the disk. Only what differs from `previous` is looked at, and the refs in `doubted`, whose
 * objects are read again whatever is known of them.
 */
export async function readRefState(
  tools: StateTools,
  gitdir: string,
  previous: RefState | undefined,
  doubted: ReadonlySet<string>,
): Promise<RefState> {
  const { fs, checks } = tools;
  const snapshot = await readSnapshot(fs, gitdir, previous?.snapshot);
  const main = oidOf(snapshot, MAIN);
  const touched = namedLikeVersions([...changedRefs(previous?.snapshot, snapshot), ...doubted]);
  if (previous && touched.size === 0) return { ...previous, snapshot, main };
  await checks.load();
  const looks = new Map(previous?.looks);
  const reads = pLimit(CONCURRENT_CHECKS);
  const visits = [...touched].map(async ([name, named]) => {
    const oid = oidOf(snapshot, name);
    const look = oid && (await reads(() => lookAt(tools, { ...named, oid }, doubted.has(name))));
    if (look) looks.set(name, look);
    else looks.delete(name);
    if (!look) tools.damage.cured(name);
  });
  await Promise.all(visits);
  const versions = new Set([...touched.values()].map(({ version }) => version));
  const settled = await settle(checks, previous, looks, versions);
  await checks.save(() => [...looks.values()].map(({ ref }) => ref));
  const stable = settled.index.highestStable;
  const stableCommit = (stable && looks.get(refNameOf(stable))?.facts?.commit) ?? null;
  return { ...settled, snapshot, main, looks, stableCommit };
}

function namedLikeVersions(names: readonly string[]): Map<string, Pick<VersionRef, 'version' | 'status'>> {
  const found = new Map<string, Pick<VersionRef, 'version' | 'status'>>();
  for (const name of names) {
    const named = versionOfRefName(name);
    if (named) found.set(name, named);
  }
  return found;
}

/**
 * What cannot be read keeps the verdict that it had. Without one a tag named by SemVer counts: to leave it out
 * would silently give nodes a lower version, whereas reading it fails loudly.
 */
async function lookAt({ checks, damage }: StateTools, ref: VersionRef, doubted: boolean): Promise<Look> {
  const name = refNameOf(ref);
  try {
    if (doubted) await checks.probe(ref);
    const look = judge(ref, await checks.verdict(ref));
    damage.cured(name);
    return look;
  } catch (error) {
    if (!isDamage(error)) throw error;
    damage.found(name, error);
    const known = checks.known(ref);
    if (known !== undefined) return judge(ref, known);
    return { ref, counts: isVersion(ref.version), fault: null, facts: null };
  }
}

function judge(ref: VersionRef, verdict: Verdict): Look {
  const none = { ref, counts: false, fault: null, facts: null };
  if (verdict === null) return none;
  // `git tag v2.0.0 v1.0.0` leads to a tag object too, that of another version: it is a lightweight tag.
  if (ref.status === 'Published' && `refs/tags/${verdict.tag}` !== refNameOf(ref)) return none;
  const semver = isVersion(ref.version);
  // Many a tag begins with a `v`; only one that is made as versions are is meant as one.
  if (!semver && !verdict.stated) return none;
  if ('fault' in verdict) return { ...none, fault: verdict.fault };
  const { createdAt } = verdict;
  return { ref: semver ? ref : { ...ref, createdAt }, counts: true, fault: null, facts: verdict };
}

type Settled = Pick<RefState, 'candidates' | 'inherited' | 'index' | 'hidden' | 'leftOvers' | 'faults'>;

/** Which versions there are after a look at the refs of these. */
async function settle(
  checks: VersionChecks,
  previous: RefState | undefined,
  looks: ReadonlyMap<string, Look>,
  versions: ReadonlySet<string>,
): Promise<Settled> {
  const before: SortedVersions = previous?.candidates ?? SortedVersions.EMPTY;
  const looksBefore = previous?.looks ?? NO_LOOKS;
  const hidden = (previous?.hidden ?? []).filter(({ version }) => !versions.has(version));
  const changes = new Map<string, VersionRef | null>();
  for (const version of versions) {
    const { published, unpublished } = countingRefs(looks, version);
    if (published && unpublished) hidden.push(unpublished);
    const next = published ?? unpublished;
    if (!isSameRef(candidateAmong(looksBefore, version), next)) changes.set(version, next);
  }
  const candidates = before.with(changes);
  const faults = new Map<string, string>();
  let someInherit = false;
  for (const [name, { fault, facts }] of looks) {
    if (fault !== null) faults.set(name, fault);
    if (facts?.entryPoint === null) someInherit = true;
  }
  const settled = someInherit ? await settleInherited(checks, looks, candidates) : NOTHING_INHERITED;
  const { inherited, lacking } = settled;
  for (const [ref, fault] of lacking) faults.set(refNameOf(ref), fault);
  const gone = [...lacking.keys()].map(({ version }) => version);
  const index = candidates.with(new Map(gone.map((version) => [version, null])));
  // The same object while nothing differs, by which the caller sees that nothing moved.
  const kept = previous?.index.equals(index) ? previous.index : index;
  const leftOvers = hidden.filter(
    ({ version }) => !gone.includes(version) && looks.get(tagRefName(version))?.facts,
  );
  return { candidates, inherited, index: kept, hidden, leftOvers, faults };
}

type Looks = RefState['looks'];

const NO_LOOKS: Looks = new Map();

/** Of a version the tag and the draft branch, each where it counts. */
function countingRefs(looks: Looks, version: string): Record<'published' | 'unpublished', VersionRef | null> {
  const [tag, draft] = [looks.get(tagRefName(version)), looks.get(draftRefName(version))];
  return { published: tag?.counts ? tag.ref : null, unpublished: draft?.counts ? draft.ref : null };
}

/** As the candidates have it, which would have to make their map for a single question. */
function candidateAmong(looks: Looks, version: string): VersionRef | null {
  const { published, unpublished } = countingRefs(looks, version);
  return published ?? unpublished;
}

interface Inheritance {
  /** The entry points, by version. */
  inherited: ReadonlyMap<string, string>;
  /** The faults of those that have no file there. */
  lacking: ReadonlyMap<VersionRef, string>;
}

const NOTHING_INHERITED: Inheritance = { inherited: new Map(), lacking: new Map() };

/** A version whose objects name no entry point takes that of the published version below it. */
async function settleInherited(
  checks: VersionChecks,
  looks: ReadonlyMap<string, Look>,
  candidates: SortedVersions,
): Promise<Inheritance> {
  const inherited = new Map<string, string>();
  const lacking = new Map<VersionRef, string>();
  // Null above a version that cannot be read: what it would hand on is not known, and is not to be guessed.
  let carried: string | null = DEFAULT_ENTRY_POINT;
  for (const ref of candidates.versions.toReversed()) {
    const facts = looks.get(refNameOf(ref))?.facts;
    let entryPoint = facts?.entryPoint ?? null;
    if (facts && entryPoint === null && carried !== null) {
      const fault = await checks.faultOfInherited(ref, carried);
      if (fault === null) inherited.set(ref.version, carried);
      else lacking.set(ref, fault);
      entryPoint = carried;
    }
    if (ref.status === 'Published' && !lacking.has(ref)) carried = entryPoint;
  }
  return { inherited, lacking };
}

function isSameRef(a: VersionRef | null, b: VersionRef | null): boolean {
  if (!a || !b) return !a && !b;
  return a.oid === b.oid && a.status === b.status;
}
