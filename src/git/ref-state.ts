/** What the refs of a repository say at one moment, and a stamp by which a later change shows. */

import { Semaphore } from '../lib/keyed-mutex.ts';
import type { AtomicFs } from './atomic-fs.ts';
import type { ObjectStore } from './objects.ts';
import type { RefValue } from './packed-refs.ts';
import { MAIN, readRefs } from './refs.ts';
import type { VersionRef } from './types.ts';
import { SortedVersions, tagRefName, versionOfRefName } from './version-index.ts';
import type { VersionObjects } from './version-objects.ts';

/** Every move of a ref changes one of these: a new file is renamed into the folder, or packed-refs replaced. */
const STAMPED = ['packed-refs', 'refs/heads', 'refs/heads/draft', 'refs/tags'];

/** Disks keep times in steps: a second change within the same step would leave the stamp as it was. */
const SETTLE = 100;
const CONCURRENT_READS = 16;

export interface RefStamp {
  text: string;
  /** Whether the last change was long enough past that a later one must show in the text. */
  settled: boolean;
}

export interface RefState {
  stamp: RefStamp;
  index: SortedVersions;
  main: string | null;
  /** The commit of the highest published stable version; null: there is none, or it cannot be read. */
  stableCommit: string | null;
  /** Draft branches of versions that are published: what a crash right after the publishing left. */
  leftOvers: readonly VersionRef[];
  /** Lightweight tags named like versions, by oid, so that they are not looked at again. */
  lightweight: ReadonlySet<string>;
}

export function takeStamp(fs: AtomicFs, gitdir: string): RefStamp {
  const parts: string[] = [];
  let newest = 0n;
  for (const path of STAMPED) {
    const stats = fs.lstatNow(`${gitdir}/${path}`);
    parts.push(stats ? `${stats.mtimeNs}.${stats.size}.${stats.ino}` : '-');
    if (stats && stats.mtimeMs > newest) newest = stats.mtimeMs;
  }
  // Compared with the times of files, so the machine's clock and not one that tests may hold.
  return { text: parts.join(' '), settled: Date.now() - Number(newest) > SETTLE };
}

/** Whether `main` or a draft branch is not as the published versions demand. */
export function needsTidying(state: RefState): boolean {
  return state.leftOvers.length > 0 || (state.stableCommit !== null && state.stableCommit !== state.main);
}

/** A ref of a version that we made or removed ourselves. */
export interface RefChange {
  made?: VersionRef;
  gone?: VersionRef;
  /** Of a published version made: its commit. */
  commit?: string;
}

/**
 * The state after a change of our own, without reading all refs again, which takes a while where there are
 * many loose ones. The stamp is given up, so that the watch and the next holder of the lock read them.
 */
export function applyChange(state: RefState, { made, gone, commit }: RefChange): RefState {
  const versions = new Map(state.index.versions.map((ref) => [ref.version, ref]));
  const leftOvers = [...state.leftOvers];
  if (gone) versions.delete(gone.version);
  if (made) {
    const replaced = versions.get(made.version);
    if (replaced?.status === 'Draft' && made.status === 'Published') leftOvers.push(replaced);
    versions.set(made.version, made);
  }
  const index = new SortedVersions(versions.values());
  const stableCommit = commit !== undefined && index.highestStable === made ? commit : state.stableCommit;
  return { ...state, stamp: { text: '', settled: false }, index, leftOvers, stableCommit };
}

/** The state on the disk; `previous` saves reading objects that were looked at before. */
export async function readRefState(
  tools: { fs: AtomicFs; objects: ObjectStore; versions: VersionObjects },
  gitdir: string,
  previous: RefState | undefined,
): Promise<RefState> {
  // Before the refs: a change while they are read must show as a difference later.
  const stamp = takeStamp(tools.fs, gitdir);
  const refs = await readRefs(tools.fs, gitdir);
  const lightweight = await findLightweight(tools.objects, gitdir, refs, previous);
  const versions = new Map<string, VersionRef>();
  const leftOvers: VersionRef[] = [];
  for (const ref of versionRefs(refs)) {
    if (ref.status === 'Published') {
      if (!lightweight.has(ref.oid)) versions.set(ref.version, ref);
    } else if (isPublished(refs, lightweight, ref.version)) leftOvers.push(ref);
    else versions.set(ref.version, ref);
  }
  const index = new SortedVersions(versions.values());
  const main = refs.get(MAIN)?.oid ?? null;
  const stableCommit = await findStableCommit(tools.versions, gitdir, refs, index, previous);
  return { stamp, index, main, stableCommit, leftOvers, lightweight };
}

function* versionRefs(refs: ReadonlyMap<string, RefValue>): Generator<VersionRef> {
  for (const [name, { oid }] of refs) {
    const named = versionOfRefName(name);
    if (named) yield { ...named, oid };
  }
}

function isPublished(
  refs: ReadonlyMap<string, RefValue>,
  lightweight: ReadonlySet<string>,
  version: string,
): boolean {
  const tag = refs.get(tagRefName(version));
  return tag !== undefined && !lightweight.has(tag.oid);
}

/**
 * A tag whose object cannot be read counts as annotated: to leave the version out would silently give nodes
 * a lower one, whereas reading it fails loudly.
 */
async function findLightweight(
  objects: ObjectStore,
  gitdir: string,
  refs: ReadonlyMap<string, RefValue>,
  previous: RefState | undefined,
): Promise<Set<string>> {
  const known = new Set(previous?.index.published.map(({ oid }) => oid));
  const found = new Set<string>();
  const reads = new Semaphore(CONCURRENT_READS);
  const looks = [...versionRefs(refs)].map(async ({ version, status, oid }) => {
    if (status === 'Draft') return;
    const peeled = refs.get(tagRefName(version))?.peeled;
    if (peeled !== undefined) {
      if (peeled === null) found.add(oid);
    } else if (previous?.lightweight.has(oid)) found.add(oid);
    else if (!known.has(oid) && !(await reads.run(() => objects.isTag(gitdir, oid)))) found.add(oid);
  });
  await Promise.all(looks);
  return found;
}

async function findStableCommit(
  versions: VersionObjects,
  gitdir: string,
  refs: ReadonlyMap<string, RefValue>,
  index: SortedVersions,
  previous: RefState | undefined,
): Promise<string | null> {
  const stable = index.highestStable;
  if (!stable) return null;
  const peeled = refs.get(tagRefName(stable.version))?.peeled;
  if (peeled) return peeled;
  if (previous?.stableCommit && previous.index.highestStable?.oid === stable.oid)
    return previous.stableCommit;
  return versions.commitOf(gitdir, stable.oid).catch(() => null);
}
