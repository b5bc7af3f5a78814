/** From a flat list of files to Git's nested trees, checked as a whole before anything is written. */

import { invalid } from '../lib/errors.ts';
import type { FileContent } from './types.ts';

export interface TreeFolder {
  files: Map<string, Uint8Array>;
  folders: Map<string, TreeFolder>;
}

export interface TreeEntry {
  mode: '100644' | '40000';
  name: string;
  oid: string;
}

const FORBIDDEN = /[\p{Cc}/\\]/u;
/** Signs that HFS+ passes over in names, so that `.g<sign>it` is `.git` there. */
const IGNORABLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** The files as nested folders; `invalid_path` for an unsafe path, a repeated one, or a file that is a folder too. */
export function planTree(files: readonly FileContent[]): TreeFolder {
  const root = emptyFolder();
  for (const { path, content } of files) addFile(root, path, content);
  return root;
}

function addFile(root: TreeFolder, path: string, content: Uint8Array): void {
  const segments = path.split('/');
  const name = segments.pop() ?? '';
  if (![...segments, name].every(isSafeSegment)) throw invalidPath(path, 'is not a safe relative path');
  let folder = root;
  for (const segment of segments) {
    if (folder.files.has(segment)) throw invalidPath(path, 'needs a folder where another path is a file');
    const next = folder.folders.get(segment) ?? emptyFolder();
    folder.folders.set(segment, next);
    folder = next;
  }
  if (folder.files.has(name)) throw invalidPath(path, 'is given twice');
  if (folder.folders.has(name)) throw invalidPath(path, 'is a folder of another path');
  folder.files.set(name, content);
}

/** Refuses what Git, or isomorphic-git when it reads the tree back, takes for a way out of it or into `.git`. */
export function isSafeSegment(segment: string): boolean {
  if (segment === '' || FORBIDDEN.test(segment)) return false;
  const visible = segment.replace(IGNORABLE, '');
  if (visible === '.' || visible === '..') return false;
  const bare = (visible.split(':')[0] ?? '').toLowerCase().replace(/[. ]+$/, '');
  return bare !== '.git' && !/^\.?git~[1-9]$/.test(bare);
}

/**
 * A tree object's content. Ours because isomorphic-git sorts by UTF-16 units and Git by bytes, which differ
 * for signs beyond the basic plane and would make a tree that fsck refuses.
 */
export function encodeTree(entries: readonly TreeEntry[]): Buffer {
  const keyed = entries.map((entry) => ({
    key: Buffer.from(entry.mode === '40000' ? `${entry.name}/` : entry.name),
    bytes: Buffer.concat([Buffer.from(`${entry.mode} ${entry.name}\0`), Buffer.from(entry.oid, 'hex')]),
  }));
  keyed.sort((a, b) => Buffer.compare(a.key, b.key));
  return Buffer.concat(keyed.map(({ bytes }) => bytes));
}

function emptyFolder(): TreeFolder {
  return { files: new Map(), folders: new Map() };
}

function invalidPath(path: string, fault: string): Error {
  return invalid('invalid_path', `The path ${JSON.stringify(path)} ${fault}.`);
}
