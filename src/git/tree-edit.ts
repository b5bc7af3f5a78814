/** Changes one file of a tree that the repository holds. Only the folders on the way to the file are written anew. */

import { damagedRepository } from './disk-errors.ts';
import type { ObjectStore } from './objects.ts';
import { FOLDER_MODE, findEntry, type TreeEntry, withEntry } from './tree.ts';

interface Site {
  objects: ObjectStore;
  gitdir: string;
}

const EMPTY = Buffer.alloc(0);

/**
 * Puts a file into a tree, or takes it out together with the folders that hold nothing else. Writes the folders and
 * flushes them.
 * @param tree the id of the root's tree
 * @param path of the file, which fits beside the other paths of the tree
 * @param file null takes the file out
 * @returns the id of the new root's tree
 * @throws HawserError `repository_damaged`, or what the disk says
 */
export async function editTree(
  site: Site,
  tree: string,
  path: string,
  file: Pick<TreeEntry, 'mode' | 'oid'> | null,
): Promise<string> {
  const edited = await editFolder(site, tree, path.split('/'), file);
  return edited ?? site.objects.write(site.gitdir, 'tree', EMPTY);
}

/** @returns the id of the new folder; null where nothing is left in it */
async function editFolder(
  site: Site,
  folder: string | null,
  [name = '', ...rest]: readonly string[],
  file: Pick<TreeEntry, 'mode' | 'oid'> | null,
): Promise<string | null> {
  const { objects, gitdir } = site;
  const content = folder === null ? EMPTY : await objects.readBytes(gitdir, folder, 'tree');
  let entry: TreeEntry | null = file && { ...file, name };
  if (rest.length > 0) {
    const inner = findEntry(content, name);
    const below = inner?.mode === FOLDER_MODE ? inner.oid : null;
    const oid = await editFolder(site, below, rest, file);
    entry = oid === null ? null : { mode: FOLDER_MODE, name, oid };
  }
  const edited = withEntry(content, name, entry);
  if (edited === null) throw damagedRepository();
  return edited.length === 0 ? null : objects.write(gitdir, 'tree', edited);
}

/**
 * Gives an entry of a tree another name, in place of what has that name, or takes it out where that is null. Writes the
 * tree and flushes it.
 * @returns the id of the new tree, or of the same one where there is no such entry
 * @throws HawserError `repository_damaged`, or what the disk says
 */
export async function moveFolder(
  { objects, gitdir }: Site,
  tree: string,
  from: string,
  to: string | null,
): Promise<string> {
  const content = await objects.readBytes(gitdir, tree, 'tree');
  const entry = findEntry(content, from);
  if (entry === null) return tree;
  const without = withEntry(content, from, null);
  const moved = to === null ? without : without && withEntry(without, to, { ...entry, name: to });
  if (moved === null) throw damagedRepository();
  return objects.write(gitdir, 'tree', moved);
}
