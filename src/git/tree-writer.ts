/** Files and folders written as blobs and trees: few at a time, so that others come in between. */

import { refuseGone } from '../lib/client-gone.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import type { ObjectStore } from './objects.ts';
import { encodeTree, type TreeEntry } from './tree.ts';
import type { FileContent } from './types.ts';

interface Folder {
  depth: number;
  entries: TreeEntry[];
  /** What its parent says of it; the root has no name. */
  entry: TreeEntry;
  parent: Folder | null;
}

/** Of one tree; others have as many. */
const AT_ONCE = 8;

/**
 * Writes files and the folders that they stand in, flushed; the paths have passed `checkPaths`.
 * @param gone once aborted, no more is written
 * @returns the id of the tree
 * @throws HawserError `client_gone`, or what the disk says; nothing is under way any more then
 */
export async function writeTree(
  objects: ObjectStore,
  gitdir: string,
  files: readonly FileContent[],
  gone?: AbortSignal,
): Promise<string> {
  const folders = new Map<string, Folder>();
  const root = folderAt(folders, '');
  await forEachOf(files, AT_ONCE, async ({ path, content }) => {
    refuseGone(gone);
    const slash = path.lastIndexOf('/');
    const { entries } = folderAt(folders, path.slice(0, Math.max(0, slash)));
    const oid = await objects.write(gitdir, 'blob', content);
    entries.push({ mode: '100644', name: path.slice(slash + 1), oid });
  });
  for (const level of levelsOf(folders.values())) {
    await forEachOf(level, AT_ONCE, async ({ entries, entry, parent }) => {
      refuseGone(gone);
      entry.oid = await objects.write(gitdir, 'tree', encodeTree(entries));
      parent?.entries.push(entry);
    });
  }
  return root.entry.oid;
}

/** Makes it, and those above it, unless they are there. */
function folderAt(folders: Map<string, Folder>, path: string): Folder {
  const known = folders.get(path);
  if (known) return known;
  const slash = path.lastIndexOf('/');
  const parent = path === '' ? null : folderAt(folders, path.slice(0, Math.max(0, slash)));
  const entry = { mode: '40000', name: path.slice(slash + 1), oid: '' };
  const folder = { depth: parent ? parent.depth + 1 : 0, entries: [], entry, parent };
  folders.set(path, folder);
  return folder;
}

/** The deepest folders first. */
function levelsOf(folders: Iterable<Folder>): Folder[][] {
  const levels: Folder[][] = [];
  for (const folder of folders) {
    const level = levels[folder.depth] ?? [];
    level.push(folder);
    levels[folder.depth] = level;
  }
  return levels.reverse();
}
