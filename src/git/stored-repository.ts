/** Repositories between the tables of PostgreSQL and bare repositories in folders. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredObject, StoredRefs } from '../db/git-tables.ts';
import type { RestoredRepository } from '../db/restored-content.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import { AtomicFs } from './atomic-fs.ts';
import { readObjects, type TypedObject } from './batch-objects.ts';
import { UNFLUSHED_DISK } from './disk.ts';
import { unlessAbsent } from './disk-errors.ts';
import { readShallow } from './history.ts';
import { deflateObject, loosePath } from './loose-objects.ts';
import { listRefs } from './ref-list.ts';
import { makeSkeleton, nameOfFolder, readSettings } from './repository-layout.ts';
import { type RepositorySettings, STORED_KINDS } from './types.ts';

const WRITES_AT_ONCE = 8;

/**
 * Writes a repository as loose objects, without its refs, into a new folder. Nothing is flushed.
 * @param objects are all that its refs lead to
 */
export async function writeStoredRepository(
  gitdir: string,
  { repository: { settings, shallow } }: StoredRefs,
  objects: AsyncIterable<readonly StoredObject[]>,
): Promise<void> {
  const fs = new AtomicFs(UNFLUSHED_DISK);
  await makeSkeleton(fs, gitdir, settings as RepositorySettings | null);
  if (shallow.length > 0) await fs.writeFile(join(gitdir, 'shallow'), shallowText(shallow));
  for await (const some of objects)
    await forEachOf(some, WRITES_AT_ONCE, ({ oid, deflated }) =>
      fs.writeFile(loosePath(gitdir, oid), deflated),
    );
}

/** The content of the file that says at which commits history ends. */
export function shallowText(shallow: readonly string[]): string {
  return shallow.map((oid) => `${oid}\n`).join('');
}

/** Gives all repositories in a folder in the form in which PostgreSQL keeps them. */
export async function* readRepositories(
  root: string,
  searchPath: string,
): AsyncGenerator<RestoredRepository> {
  const fs = new AtomicFs();
  for (const kind of STORED_KINDS) {
    for (const folder of await unlessAbsent(readdir(join(root, kind)), [])) {
      const name = nameOfFolder(folder);
      if (name === null) continue;
      const gitdir = join(root, kind, folder);
      const settings = kind === 'parameters' || kind === 'changes' ? null : await readSettings(fs, gitdir);
      const shallow = [...(await readShallow(fs, gitdir))];
      const { refs } = await listRefs(fs, gitdir);
      const objects = toStoredObjects(readObjects({ gitdir, searchPath }, 'all'));
      yield { kind, name, settings, shallow, refs, objects };
    }
  }
}

async function* toStoredObjects(objects: AsyncIterable<TypedObject>): AsyncGenerator<StoredObject> {
  for await (const object of objects) {
    const { oid, type, content } = object;
    yield { oid, type, size: content.byteLength, deflated: [await deflateObject(object)].flat() };
  }
}
