/** How a repository stands in an archive: as a bare one with packs, whose refs are in `packed-refs`. */

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type PackedRef, withPackedRefs } from '../../git/refs.ts';
import type { RepositoryState } from '../../git/repository-export.ts';
import { shallowText } from '../../git/stored-repository.ts';
import type { StoredRef } from '../../git/types.ts';
import { type HawserError, internal } from '../../lib/errors.ts';
import type { ArchiveWriter, Manifest } from './archive.ts';

export interface ArchiveParts {
  archive: ArchiveWriter;
  /** The folder for files that are not in the archive yet. */
  staging: string;
}

/** What was added, for the manifest. */
export type Added = Pick<Manifest, 'counts' | 'migration'>;

/** What a repository in an archive holds besides its packs. */
export interface Notes {
  files: RepositoryState['files'];
  refs: readonly PackedRef[];
  shallow: readonly string[];
}

/** Moves a pack from the folder of unfinished files into the archive. Returns its paths there. */
export async function addPack(
  { archive, staging }: ArchiveParts,
  ref: StoredRef,
  hash: string,
): Promise<string[]> {
  const paths: string[] = [];
  for (const ending of ['pack', 'idx']) {
    const path = `${pathOf(ref)}/objects/pack/pack-${hash}.${ending}`;
    const file = join(staging, `pack-${hash}.${ending}`);
    if (!archive.reuse(path)) await archive.addFile(path, file, 0);
    await rm(file);
    paths.push(path);
  }
  return paths;
}

/** Adds the files of a repository besides its packs. Returns the number of its refs. */
export async function addNotes(
  { archive }: Pick<ArchiveParts, 'archive'>,
  ref: StoredRef,
  { files, refs, shallow }: Notes,
): Promise<number> {
  const add = (name: string, content: Buffer) => archive.addBuffer(`${pathOf(ref)}/${name}`, content);
  for (const [name, text] of Object.entries(files)) await add(name, Buffer.from(text, 'latin1'));
  await add('packed-refs', Buffer.from(withPackedRefs('', refs) ?? ''));
  if (shallow.length > 0) await add('shallow', Buffer.from(shallowText(shallow)));
  return refs.length;
}

export function explain(ref: StoredRef, error: HawserError): HawserError {
  const said = error.cause instanceof Error ? error.cause.message.split('\n').at(-1) : error.message;
  return internal('repository_damaged', `${keyOf(ref)} cannot be copied: ${said}`);
}

export function keyOf({ kind, name }: StoredRef): string {
  return `${kind}/${name}`;
}

function pathOf(ref: StoredRef): string {
  return `repos/${keyOf(ref)}.git`;
}
