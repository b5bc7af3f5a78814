/** Tree objects: encoding and decoding them, and writing the trees of a list of files. */

import { posix } from 'node:path';
import { sortByBytes } from '../lib/byte-order.ts';
import { refuseGone } from '../lib/client-gone.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import type { ObjectStore } from './objects.ts';
import type { FileContent, StoredFile } from './types.ts';

const { basename, dirname } = posix;

export const FOLDER_MODE = '40000';

export interface TreeEntry {
  /** The mode as git writes it, without zeros at its front: `40000` is a folder, `100644` and `100755` are files. */
  mode: string;
  name: string;
  oid: string;
}

/**
 * The content of a tree object. isomorphic-git sorts the names by UTF-16 units and Git by bytes, which differ for signs
 * beyond the basic plane: it would make a tree that fsck refuses.
 */
export function encodeTree(entries: readonly TreeEntry[]): Buffer {
  const sorted = sortByBytes(entries, ({ mode, name }) => (mode === FOLDER_MODE ? `${name}/` : name));
  const sizes = sorted.map(({ mode, name }) => mode.length + Buffer.byteLength(name) + 22);
  const tree = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (const { mode, name, oid } of sorted) {
    at += tree.write(`${mode} ${name}\0`, at);
    at += tree.write(oid, at, 'hex');
  }
  return tree;
}

/**
 * The entries of a tree object; null when it is malformed, names something twice or has a slash in a name. isomorphic-git
 * throws the same errors at a hostile name and at an object that cannot be read.
 */
export function decodeTree(content: Buffer): TreeEntry[] | null {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    if (space < 0 || end < 0 || end + 21 > content.length) return null;
    entries.push({
      mode: readMode(content, at, space),
      // Bytes that are no UTF-8 become U+FFFD, which no path may hold.
      name: content.toString('utf8', space + 1, end),
      oid: content.toString('hex', end + 1, end + 21),
    });
    at = end + 21;
  }
  const names = new Set(entries.map(({ name }) => name));
  const isSound = names.size === entries.length && entries.every(({ name }) => !name.includes('/'));
  return isSound ? entries : null;
}

/** Programs of git's first years wrote zeros at the front of a mode (git-fsck, `zeroPaddedFilemode`), which mean nothing. */
function readMode(content: Buffer, from: number, to: number): string {
  let start = from;
  while (content[start] === 0x30) start += 1;
  return content.toString('latin1', start, to);
}

/** The entry of this name in the content of a tree object; null when there is none. The other entries are not decoded. */
export function findEntry(content: Buffer, name: string): TreeEntry | null {
  const wanted = Buffer.from(` ${name}\0`);
  // The bytes of an id may look like a name, so the search goes from entry to entry.
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    if (space < 0 || end < 0) return null;
    if (content.compare(wanted, 0, wanted.length, space, end + 1) === 0) {
      const oid = content.toString('hex', end + 1, end + 21);
      return { mode: readMode(content, at, space), name, oid };
    }
    at = end + 21;
  }
  return null;
}

/**
 * The content of a tree object with an entry of this name added or replaced, or removed when `entry` is null; null when
 * it is malformed. This is done at each publishing, so a folder of ten thousand entries is walked once and not decoded.
 */
export function withEntry(content: Buffer, name: string, entry: TreeEntry | null): Buffer | null {
  const key = Buffer.from(name);
  const rest: Buffer[] = [];
  let kept = 0;
  let place: number | null = null;
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    const next = end + 21;
    if (space < 0 || end < 0 || next > content.length) return null;
    const order = content.compare(key, 0, key.length, space + 1, end);
    if (order === 0) {
      rest.push(content.subarray(kept, at));
      kept = next;
    } else if (entry && place === null && isAfter(content.subarray(at, end), space - at, key, entry)) {
      rest.push(content.subarray(kept, at), encodeTree([entry]));
      kept = at;
      place = at;
    }
    at = next;
  }
  rest.push(content.subarray(kept));
  if (entry && place === null) rest.push(encodeTree([entry]));
  return Buffer.concat(rest);
}

/** Whether an entry comes after a new one. In Git's order the name of a folder ends in a slash. */
function isAfter(existing: Buffer, space: number, key: Buffer, { mode }: TreeEntry): boolean {
  const name = existing.subarray(space + 1);
  const shared = Math.min(name.length, key.length);
  const order = name.compare(key, 0, shared, 0, shared);
  if (order !== 0) return order > 0;
  const slash = (isFolder: boolean) => (isFolder ? 0x2f : 0);
  const theirs = name[shared] ?? slash(readMode(existing, 0, space) === FOLDER_MODE);
  return theirs > (key[shared] ?? slash(mode === FOLDER_MODE));
}

/** The path of the uppermost folder, as `dirname` has it. */
const ROOT = '.';
/** So many objects of one tree are written at once. Other requests have as many. */
const AT_ONCE = 8;

/**
 * Writes files as blobs and their folders as trees, and flushes all of them. The paths have passed `checkPaths`.
 * @param gone once aborted, no more is written
 * @returns the id of the root's tree, and those of the files
 * @throws HawserError `client_gone`, or what the disk says; nothing is under way any more then
 */
export async function writeTree(
  objects: ObjectStore,
  gitdir: string,
  files: readonly FileContent[],
  gone?: AbortSignal,
): Promise<{ tree: string; files: StoredFile[] }> {
  const written: StoredFile[] = [];
  const folders = new Map<string, TreeEntry[]>([[ROOT, []]]);
  for (const { path } of files) {
    for (let folder = dirname(path); !folders.has(folder); folder = dirname(folder)) folders.set(folder, []);
  }
  await forEachOf(files, AT_ONCE, async ({ path, content, executable = false }) => {
    refuseGone(gone);
    const oid = await objects.write(gitdir, 'blob', content);
    folders.get(dirname(path))?.push({ mode: executable ? '100755' : '100644', name: basename(path), oid });
    written.push({ path, oid, executable });
  });
  let tree = '';
  for (const level of levelsOf(folders)) {
    await forEachOf(level, AT_ONCE, async ([path, entries]) => {
      refuseGone(gone);
      const oid = await objects.write(gitdir, 'tree', encodeTree(entries));
      if (path === ROOT) tree = oid;
      else folders.get(dirname(path))?.push({ mode: FOLDER_MODE, name: basename(path), oid });
    });
  }
  return { tree, files: written };
}

/** The folders by their depth, the deepest first. */
function levelsOf(folders: ReadonlyMap<string, TreeEntry[]>): [path: string, entries: TreeEntry[]][][] {
  const levels: [string, TreeEntry[]][][] = [];
  for (const folder of folders) {
    const depth = folder[0] === ROOT ? 0 : folder[0].split('/').length;
    levels[depth] ??= [];
    levels[depth].push(folder);
  }
  return levels.reverse();
}
