/**
 * Copies all repositories into the archive, in passes. The first pass copies everything. Each later one adds what has come
 * since, and is made after a snapshot of the database. So whatever the snapshot names was there during at least one of the
 * two passes around it, and what either pass saw is kept (docs/decisions/0017).
 */

import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Owner, Snapshot } from '../../db/snapshot.ts';
import { AtomicFs } from '../../git/atomic-fs.ts';
import { unlessAbsent } from '../../git/disk-errors.ts';
import { readShallow } from '../../git/history.ts';
import { type PackedRef, withPackedRefs } from '../../git/refs.ts';
import {
  packReachable,
  peelRefs,
  type RepositoryState,
  readRepositoryState,
} from '../../git/repository-export.ts';
import { gitdirOf, nameOfFolder } from '../../git/repository-layout.ts';
import type { RepositoryKind, RepositoryRef } from '../../git/types.ts';
import { HawserError, internal } from '../../lib/errors.ts';
import type { ArchiveWriter } from './archive.ts';

export interface CopiesOptions {
  reposDir: string;
  searchPath: string;
  /** The folder for files that are not in the archive yet. */
  staging: string;
  archive: ArchiveWriter;
}

/** Composites come first: what their versions name existed when they were written, and is looked at after them. */
const ORDER: readonly RepositoryKind[] = ['composites', 'configurations', 'parameters'];
const ATTEMPTS = 3;
const PAUSE = 200;

interface Copy {
  ref: RepositoryRef;
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

/** What a copy holds besides its packs. */
interface Notes {
  files: RepositoryState['files'];
  refs: readonly PackedRef[];
  shallow: readonly string[];
}

export class RepositoryCopies {
  private readonly options: CopiesOptions;
  private readonly fs = new AtomicFs();
  private readonly copies = new Map<string, Copy>();
  private pass = 0;

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
    for (const kind of ORDER) {
      for (const name of await this.list(kind)) {
        const ref = { kind, name };
        await this.copy(ref, owners.get(keyOf(ref)) ?? null);
      }
    }
  }

  /** The repositories that the snapshot's rows need and no copy matches: they came and went between passes, or are lost. */
  missing({ owners }: Snapshot): Owner[] {
    return owners.filter((owner) => {
      const copy = this.copies.get(keyOf(owner));
      // The row of an adopted repository may have another id. It matches when two passes saw the same repository.
      return copy?.id !== owner.id && !(copy?.pass === this.pass && copy.isStable);
    });
  }

  /** Adds the refs to the archive, as the last step, and drops the copies that the snapshot does not know and are gone. */
  async finish(snapshot: Snapshot): Promise<{ repositories: number; refs: number }> {
    const owners = new Map(snapshot.owners.map((owner) => [keyOf(owner), owner.id]));
    const removals = new Set(snapshot.removals.map(keyOf));
    const isKept = (key: string): boolean => {
      const copy = this.copies.get(key);
      if (copy === undefined) return false;
      return owners.get(key) === copy.id || (copy.pass === this.pass && !removals.has(key));
    };
    const counts = { repositories: 0, refs: 0 };
    for (const [key, copy] of this.copies) {
      // Nobody could adopt parameters without their configuration, which may have come or gone meanwhile.
      const isOrphan =
        copy.ref.kind === 'parameters' && !isKept(keyOf({ ...copy.ref, kind: 'configurations' }));
      if (isKept(key) && !isOrphan) {
        counts.repositories += 1;
        counts.refs += await this.addNotes(copy);
      } else this.drop(copy);
    }
    return counts;
  }

  private async list(kind: RepositoryKind): Promise<string[]> {
    const folder = join(this.options.reposDir, kind);
    const entries = await unlessAbsent(readdir(folder, { withFileTypes: true }), []);
    const names = entries.filter((entry) => entry.isDirectory()).map((entry) => nameOfFolder(entry.name));
    return names.filter((name) => name !== null).sort();
  }

  private async copy(ref: RepositoryRef, owner: string | null): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const state = await this.read(ref);
      if (state === null) return;
      try {
        return await this.take(ref, state, { owner, isRetry: attempt > 1 });
      } catch (error) {
        if (!(error instanceof HawserError) || error.code !== 'repository_damaged') throw error;
        // The repository may have been removed or repacked meanwhile, which the next look shows.
        if (attempt === ATTEMPTS && (await this.read(ref)) !== null) throw explain(ref, error);
        await sleep(PAUSE);
      }
    }
  }

  private async read(ref: RepositoryRef): Promise<RepositoryState | null> {
    const { reposDir } = this.options;
    const owner = ref.kind === 'parameters' ? { ...ref, kind: 'configurations' as const } : ref;
    try {
      return await readRepositoryState(this.fs, gitdirOf(reposDir, ref), gitdirOf(reposDir, owner));
    } catch (error) {
      throw error instanceof HawserError ? explain(ref, error) : error;
    }
  }

  private async take(
    ref: RepositoryRef,
    state: RepositoryState,
    { owner, isRetry }: { owner: string | null; isRetry: boolean },
  ): Promise<void> {
    const known = this.copies.get(keyOf(ref));
    const isSame = known?.identity === state.identity;
    if (known && !isSame) {
      // It was removed and made anew since the snapshot, whose row belongs to the earlier one.
      if (known.id === owner && state.id !== owner) return;
      this.drop(known);
    }
    const base = known && isSame ? known : null;
    const notes = base ? await readNotes(base) : null;
    const packed = await this.pack(ref, { state, notes, isRetry });
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

  /** Packs the objects of the refs that have moved since `notes` were taken, and takes new notes. */
  private async pack(
    ref: RepositoryRef,
    { state, notes, isRetry }: { state: RepositoryState; notes: Notes | null; isRetry: boolean },
  ): Promise<{ packs: string[]; notes: Notes }> {
    const { searchPath, staging, reposDir } = this.options;
    const source = { gitdir: gitdirOf(reposDir, ref), searchPath };
    const before = new Map(notes?.refs.map(({ name, oid }) => [name, oid]));
    const moved = new Map([...state.refs].filter(([name, oid]) => before.get(name) !== oid));
    // What was copied may have been removed from the repository, so that git does not know it. Then all is packed anew.
    const [wanted, known] = isRetry ? [state.refs.values(), []] : [moved.values(), before.values()];
    const hash = moved.size === 0 ? null : await packReachable(source, staging, wanted, known);
    const peeled = await peelRefs(source, moved);
    const packs = hash === null ? [] : await this.addPack(ref, hash);
    // Tags that were removed are kept: a row of the snapshot may still name their version.
    const isKept = (name: string) => state.refs.has(name) || name.startsWith('refs/tags/');
    const kept = notes?.refs.filter(({ name }) => !moved.has(name) && isKept(name)) ?? [];
    // Git may have seen an end of history that was set after the state was read. One too many does no harm.
    const ends = [notes?.shallow ?? [], state.shallow, await readShallow(this.fs, source.gitdir)];
    const shallow = [...new Set(ends.flatMap((each) => [...each]))].sort();
    return { packs, notes: { files: state.files, refs: [...kept, ...peeled], shallow } };
  }

  private async addPack(ref: RepositoryRef, hash: string): Promise<string[]> {
    const paths: string[] = [];
    for (const ending of ['pack', 'idx']) {
      const path = `${pathOf(ref)}/objects/pack/pack-${hash}.${ending}`;
      const file = join(this.options.staging, `pack-${hash}.${ending}`);
      if (!this.options.archive.reuse(path)) await this.options.archive.addFile(path, file, 0);
      await rm(file);
      paths.push(path);
    }
    return paths;
  }

  /** Adds the files of a copy besides its packs. Returns the number of its refs. */
  private async addNotes(copy: Copy): Promise<number> {
    const { files, refs, shallow } = await readNotes(copy);
    const add = (name: string, content: Buffer) =>
      this.options.archive.addBuffer(`${pathOf(copy.ref)}/${name}`, content);
    for (const [name, text] of Object.entries(files)) await add(name, Buffer.from(text, 'latin1'));
    await add('packed-refs', Buffer.from(withPackedRefs('', refs) ?? ''));
    if (shallow.length > 0) await add('shallow', Buffer.from(shallow.map((oid) => `${oid}\n`).join('')));
    return refs.length;
  }

  private drop(copy: Copy): void {
    for (const path of copy.packs) this.options.archive.supersede(path);
  }
}

async function readNotes({ notes }: Copy): Promise<Notes> {
  return JSON.parse(await readFile(notes, 'utf8'));
}

function explain({ kind, name }: RepositoryRef, error: HawserError): HawserError {
  const said = error.cause instanceof Error ? error.cause.message.split('\n').at(-1) : error.message;
  return internal('repository_damaged', `${kind}/${name} cannot be copied: ${said}`);
}

function keyOf({ kind, name }: RepositoryRef): string {
  return `${kind}/${name}`;
}

function pathOf(ref: RepositoryRef): string {
  return `repos/${keyOf(ref)}.git`;
}
