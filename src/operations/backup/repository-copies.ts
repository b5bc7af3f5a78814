/**
 * Copies of all repositories, brought into the archive in passes. The first takes its time and copies everything; each
 * later one adds what has come since, and lies after a snapshot of the database. So whatever the snapshot speaks of has
 * been in at least one of the two passes around it, and what either saw is kept (docs/decisions/0017).
 */

import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Owner, Snapshot } from '../../db/snapshot.ts';
import { AtomicFs } from '../../git/atomic-fs.ts';
import { unlessAbsent } from '../../git/disk-errors.ts';
import { readShallow } from '../../git/history.ts';
import { parsePackedRefs } from '../../git/ref-reader.ts';
import { withoutPackedRef, withPackedRefs } from '../../git/refs.ts';
import {
  packReachable,
  peelRefs,
  type RepositoryState,
  readRepositoryState,
} from '../../git/repository-export.ts';
import { gitdirOf, nameOfFolder } from '../../git/repository-layout.ts';
import type { RepositoryKind, RepositoryRef } from '../../git/types.ts';
import { HawserError, internal } from '../../lib/errors.ts';
import type { ArchiveWriter } from './archive-writer.ts';

export interface CopiesOptions {
  reposDir: string;
  searchPath: string;
  /** A folder for what is not in the archive yet. */
  staging: string;
  archive: ArchiveWriter;
}

/** Composites first: what their versions name was there when they were written, and is looked at after them. */
const ORDER: readonly RepositoryKind[] = ['composites', 'configurations', 'parameters'];
const ATTEMPTS = 3;
const PAUSE = 200;

interface Copy {
  ref: RepositoryRef;
  identity: string;
  id: string | null;
  /** Paths in the archive. */
  packs: string[];
  /** Of the last pass that saw the repository. */
  pass: number;
  /** Whether the pass before that saw the very same one. */
  isStable: boolean;
  /** The file that holds the rest of it until the end; thousands of refs each are nothing for the memory. */
  notes: string;
}

/** The files of a copy besides its packs, as they will stand in the archive. */
interface Notes {
  HEAD: string;
  config: string;
  description: string;
  'packed-refs': string;
  shallow: string;
}

/** Bytes as text and back. */
const ENCODING = 'latin1';
const NOTHING: Notes = { HEAD: '', config: '', description: '', 'packed-refs': '', shallow: '' };

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
   * @param snapshot of the database, taken since then; null for the first pass
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

  /** What rows of the snapshot need, and no copy can stand for: it came and went between the two passes, or is lost. */
  missing({ owners }: Snapshot): Owner[] {
    return owners.filter((owner) => {
      const copy = this.copies.get(keyOf(owner));
      // One that was adopted may have a row of another id; it has been the same for long enough then.
      return copy?.id !== owner.id && !(copy?.pass === this.pass && copy.isStable);
    });
  }

  /** Adds the refs to the archive, last, and leaves out what the snapshot does not know and is gone. */
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
      // Parameters of a configuration that came after it was looked for, or went before: nobody could adopt them.
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
        // Removed under our hands, or repacked just so: the next look tells.
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
      // Removed and made anew since the snapshot, whose row is that of the earlier one.
      if (known.id === owner && state.id !== owner) return;
      this.drop(known);
    }
    const base = known && isSame ? known : null;
    const notes = base ? await readNotes(base) : NOTHING;
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

  /** The objects of what has moved since `notes`, and what is to be noted now. */
  private async pack(
    ref: RepositoryRef,
    { state, notes, isRetry }: { state: RepositoryState; notes: Notes; isRetry: boolean },
  ): Promise<{ packs: string[]; notes: Notes }> {
    const { searchPath, staging, reposDir } = this.options;
    const source = { gitdir: gitdirOf(reposDir, ref), searchPath };
    const before = parsePackedRefs(notes['packed-refs']);
    const moved = new Map([...state.refs].filter(([name, oid]) => before.get(name) !== oid));
    // What was copied may be gone from the repository by now, so that git knows nothing of it: then all is packed anew.
    const [wanted, known] = isRetry ? [state.refs.values(), []] : [moved.values(), before.values()];
    const hash = moved.size === 0 ? null : await packReachable(source, staging, wanted, known);
    const peeled = await peelRefs(source, moved);
    const packs = hash === null ? [] : await this.addPack(ref, hash);
    // Git may have seen an end of history that has been set since; one too many harms nothing.
    const shallow = [
      ...linesOf(notes.shallow),
      ...state.shallow,
      ...(await readShallow(this.fs, source.gitdir)),
    ];
    return {
      packs,
      notes: {
        HEAD: state.head.toString(ENCODING),
        config: state.config.toString(ENCODING),
        description: state.description.toString(ENCODING),
        'packed-refs': withPackedRefs(withoutGone(notes['packed-refs'], state.refs), peeled) ?? '',
        shallow: [...new Set(shallow)]
          .sort()
          .map((oid) => `${oid}\n`)
          .join(''),
      },
    };
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

  /** @returns how many refs there are */
  private async addNotes(copy: Copy): Promise<number> {
    const notes = await readNotes(copy);
    for (const [name, text] of Object.entries(notes)) {
      if (name === 'shallow' && text === '') continue;
      const encoding = name === 'packed-refs' ? 'utf8' : ENCODING;
      await this.options.archive.addBuffer(`${pathOf(copy.ref)}/${name}`, Buffer.from(text, encoding));
    }
    return parsePackedRefs(notes['packed-refs']).size;
  }

  private drop(copy: Copy): void {
    for (const path of copy.packs) this.options.archive.supersede(path);
  }
}

/** Tags stay although they have gone since: a row of the snapshot may still name their version. */
function withoutGone(packedRefs: string, refs: ReadonlyMap<string, string>): string {
  const gone = [...parsePackedRefs(packedRefs).keys()].filter(
    (name) => !refs.has(name) && !name.startsWith('refs/tags/'),
  );
  return gone.reduce((text, name) => withoutPackedRef(text, name) ?? text, packedRefs);
}

async function readNotes({ notes }: Copy): Promise<Notes> {
  return JSON.parse(await readFile(notes, 'utf8'));
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
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
