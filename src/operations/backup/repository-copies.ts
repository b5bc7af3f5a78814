/**
 * Copies all repositories into the archive, in passes. The first pass copies everything. Each later one is made after a
 * snapshot of the database and adds what has come since. So whatever the snapshot names was there during at least one of
 * the two passes around it. Of what changed between them, the snapshot's audit entries tell what belongs to its moment
 * (docs/decisions/0017).
 */

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Owner, Snapshot } from '../../db/sqlite/snapshot.ts';
import { AtomicFs } from '../../git/atomic-fs.ts';
import { unlessAbsent } from '../../git/disk-errors.ts';
import { readShallow } from '../../git/history.ts';
import { MAIN } from '../../git/ref-reader.ts';
import type { PackedRef } from '../../git/refs.ts';
import {
  type PackSource,
  packReachable,
  peelRefs,
  type RepositoryState,
  readRepositoryState,
  runGit,
} from '../../git/repository-export.ts';
import { gitdirOf, nameOfFolder } from '../../git/repository-layout.ts';
import { CHANGES, holdsVersions, type StoredKind, type StoredRef } from '../../git/types.ts';
import { HawserError, internal } from '../../lib/errors.ts';
import { branchOf } from '../../versions/change-history.ts';
import { RecordedVersions } from './recorded-versions.ts';
import { type ArchiveParts, addNotes, addPack, explain, keyOf, type Notes } from './repository-entries.ts';

export interface CopiesOptions extends ArchiveParts {
  reposDir: string;
  searchPath: string;
}

/** Composites come first: what their versions name existed when they were written, and is looked at after them. */
const ORDER: readonly StoredKind[] = ['composites', 'configurations', 'parameters', 'changes'];
const ATTEMPTS = 3;
const PAUSE = 200;
/**
 * Milliseconds. A change whose ref has moved waits five seconds at most for the database, and then for its flush. Later
 * its audit entry is written, or the ref is back.
 */
const SETTLING = 6_000;

interface Copy {
  ref: StoredRef;
  identity: string;
  id: string | null;
  /** The paths of its packs in the archive. */
  packs: string[];
  /** The number of the last pass that saw the repository. */
  pass: number;
  /** Whether the pass before that saw the same repository. */
  isStable: boolean;
  /** The file that holds its notes until the end: the refs of all repositories may be too many for the memory. */
  notes: string;
}

/** What is known from the snapshot that was taken since the last pass. */
interface Moment {
  recorded: RecordedVersions;
  /** The id of the configuration or composite in the snapshot; null when it has none for the repository. */
  owner: string | null;
  changeSets: Snapshot['changeSets'];
}

export class RepositoryCopies {
  private readonly options: CopiesOptions;
  private readonly fs = new AtomicFs();
  private readonly copies = new Map<string, Copy>();
  private pass = 0;
  /** When the last ref moved that any pass saw, in epoch milliseconds by the machine's clock. */
  private changedAt = 0;

  constructor(options: CopiesOptions) {
    this.options = options;
  }

  /**
   * Copies what has come or changed since the last pass.
   * @param snapshot the snapshot that was taken since then; null for the first pass
   * @throws HawserError `repository_damaged` with the repository's name
   */
  async takePass(snapshot: Snapshot | null): Promise<void> {
    this.pass += 1;
    const owners = new Map(snapshot?.owners.map((owner) => [keyOf(owner), owner.id]));
    const recorded = snapshot && new RecordedVersions(snapshot.changes);
    for (const kind of ORDER) {
      for (const name of await this.list(kind)) {
        const ref = { kind, name };
        const moment = recorded && { recorded, owner: owners.get(keyOf(ref)) ?? null };
        await this.copy(ref, moment && { ...moment, changeSets: snapshot.changeSets });
      }
    }
  }

  /** Resolves when each change that a pass has seen is in the database, or has been undone. */
  async settle(): Promise<void> {
    const left = this.changedAt + SETTLING - Date.now();
    if (left > 0) await sleep(Math.min(left, SETTLING));
  }

  /** The repositories that the snapshot's rows need and no copy matches: they came and went between passes, or are lost. */
  missing({ owners }: Snapshot): Owner[] {
    return owners.filter((owner) => {
      const copy = this.copies.get(keyOf(owner));
      // The row of an adopted repository may have another id. It matches when two passes saw the same repository.
      return copy?.id !== owner.id && !(copy && this.isLasting(copy));
    });
  }

  /** Tells whether the last two passes saw the same repository. */
  private isLasting(copy: Copy): boolean {
    return copy.pass === this.pass && copy.isStable;
  }

  /** Adds the refs to the archive, as the last step, and drops the copies that the snapshot does not know and are gone. */
  async finish(snapshot: Snapshot): Promise<{ repositories: number; refs: number }> {
    const owners = new Map(snapshot.owners.map((owner) => [keyOf(owner), owner.id]));
    const removals = new Set(snapshot.removals.map(keyOf));
    const isKept = (key: string): boolean => {
      const copy = this.copies.get(key);
      if (copy === undefined) return false;
      if (copy.ref.kind === 'changes') return true;
      // One that has no row, but was there before the moment and after it, waits for a start that adopts it.
      return owners.get(key) === copy.id || (this.isLasting(copy) && !removals.has(key));
    };
    if (snapshot.changeSets.length > 0 && !this.copies.has(keyOf(CHANGES)))
      throw internal('repository_missing', `${keyOf(CHANGES)} is not on the disk`);
    const counts = { repositories: 0, refs: 0 };
    for (const [key, copy] of this.copies) {
      // Nobody could adopt parameters without their configuration, which may have come or gone meanwhile.
      const isOrphan =
        copy.ref.kind === 'parameters' && !isKept(keyOf({ ...copy.ref, kind: 'configurations' }));
      if (isKept(key) && !isOrphan) {
        counts.repositories += 1;
        counts.refs += await addNotes(this.options, copy.ref, await readNotes(copy));
      } else this.drop(copy);
    }
    return counts;
  }

  private async list(kind: StoredKind): Promise<string[]> {
    const folder = join(this.options.reposDir, kind);
    const entries = await unlessAbsent(readdir(folder, { withFileTypes: true }), []);
    const names = entries.filter((entry) => entry.isDirectory()).map((entry) => nameOfFolder(entry.name));
    return names.filter((name) => name !== null).sort();
  }

  private async copy(ref: StoredRef, moment: Moment | null): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const state = await this.read(ref);
      if (state === null) return;
      try {
        return await this.take(ref, state, { moment, isRetry: attempt > 1 });
      } catch (error) {
        if (!(error instanceof HawserError) || error.code !== 'repository_damaged') throw error;
        // The repository may have been removed or repacked meanwhile, which the next look shows.
        if (attempt === ATTEMPTS && (await this.read(ref)) !== null) throw explain(ref, error);
        await sleep(PAUSE);
      }
    }
  }

  private async read(ref: StoredRef): Promise<RepositoryState | null> {
    const { reposDir } = this.options;
    const owner = ref.kind === 'parameters' ? { ...ref, kind: 'configurations' as const } : ref;
    try {
      return await readRepositoryState(this.fs, gitdirOf(reposDir, ref), gitdirOf(reposDir, owner));
    } catch (error) {
      throw error instanceof HawserError ? explain(ref, error) : error;
    }
  }

  private async take(
    ref: StoredRef,
    state: RepositoryState,
    { moment, isRetry }: { moment: Moment | null; isRetry: boolean },
  ): Promise<void> {
    this.changedAt = Math.max(this.changedAt, state.changedAt);
    const owner = moment?.owner ?? null;
    const known = this.copies.get(keyOf(ref));
    const isSame = known?.identity === state.identity;
    if (known && !isSame) {
      // It was removed and made anew since the snapshot, whose row belongs to the earlier one.
      if (known.id === owner && state.id !== owner) return;
      this.drop(known);
    }
    const base = known && isSame ? known : null;
    const notes = base ? await readNotes(base) : null;
    const packed = await this.pack(ref, { state, notes, moment, isRetry });
    const copy: Copy = {
      ref,
      identity: state.identity,
      id: state.id,
      packs: [...(base?.packs ?? []), ...packed.packs],
      pass: this.pass,
      isStable: base !== null,
      notes: join(this.options.staging, `${ref.kind}-${ref.name}.json`),
    };
    await writeFile(copy.notes, JSON.stringify(packed.notes));
    this.copies.set(keyOf(ref), copy);
  }

  /** Takes new notes, and packs the objects of the refs in them that `notes` have not. */
  private async pack(
    ref: StoredRef,
    given: { state: RepositoryState; notes: Notes | null; moment: Moment | null; isRetry: boolean },
  ): Promise<{ packs: string[]; notes: Notes }> {
    const { state, notes, moment, isRetry } = given;
    const { searchPath, staging, reposDir } = this.options;
    const source = { gitdir: gitdirOf(reposDir, ref), searchPath };
    const before = notes?.refs ?? [];
    const known = new Map(before.map(({ name, oid }) => [name, oid]));
    const moved = new Map([...state.refs].filter(([name, oid]) => known.get(name) !== oid));
    const stayed = before.filter(({ name, oid }) => state.refs.get(name) === oid);
    const after = [...stayed, ...(await peelRefs(source, moved))];
    let refs: readonly PackedRef[] = after;
    if (moment && holdsVersions(ref))
      refs = moment.recorded.refsAt(ref.kind, moment.owner, { before, after });
    else if (moment) refs = await refsOfSets(source, moment.changeSets, after);
    const oids = new Set([...known.values(), ...state.refs.values()]);
    // Git may have removed a draft that was replaced since the moment.
    if (isRetry) refs = refs.filter(({ oid }) => oids.has(oid));
    const added = refs.filter(({ name, oid }) => known.get(name) !== oid).map(({ oid }) => oid);
    // What was copied may have been removed from the repository, so that git does not know it. Then all is packed anew.
    const [wanted, excluded] = isRetry ? [state.refs.values(), []] : [added, known.values()];
    const hash = added.length === 0 ? null : await packReachable(source, staging, wanted, excluded);
    const packs = hash === null ? [] : await addPack(this.options, ref, hash);
    // Git may have seen an end of history that was set after the state was read. One too many does no harm.
    const ends = [notes?.shallow ?? [], state.shallow, await readShallow(this.fs, source.gitdir)];
    const shallow = [...new Set(ends.flatMap((each) => [...each]))].sort();
    return { packs, notes: { files: state.files, refs, shallow } };
  }

  private drop(copy: Copy): void {
    for (const path of copy.packs) this.options.archive.supersede(path);
  }
}

async function readNotes({ notes }: Copy): Promise<Notes> {
  return JSON.parse(await readFile(notes, 'utf8'));
}

/**
 * The refs of the story of the change sets at the moment of the snapshot. Branches only grow, so what the rows name is still
 * there. `main` has one merge for each set that was applied, in their order.
 */
async function refsOfSets(
  { gitdir, searchPath }: PackSource,
  sets: Snapshot['changeSets'],
  after: readonly PackedRef[],
): Promise<PackedRef[]> {
  const refs = sets.map(({ id, tip }) => ({ name: branchOf(id), oid: tip, peeled: null }));
  const head = after.find(({ name }) => name === MAIN)?.oid;
  if (head === undefined) return refs;
  const args = [`--git-dir=${gitdir}`, 'rev-list', '--first-parent', '--reverse', head];
  const story = (await runGit({ searchPath, args }, [])).trim().split('\n');
  const applied = sets.filter(({ state }) => state === 'Applied').length;
  return [{ name: MAIN, oid: story[applied] ?? head, peeled: null }, ...refs];
}
