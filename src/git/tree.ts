/** Between a flat list of files and Git's nested trees. */

import type { FileContent } from './types.ts';

export interface TreeFolder {
  files: Map<string, Uint8Array>;
  folders: Map<string, TreeFolder>;
}

export interface TreeEntry {
  /** As git writes it: `40000` is a folder, `100644` and `100755` are files. */
  mode: string;
  name: string;
  oid: string;
}

/** The files as nested folders; the paths have passed `checkPaths`. */
export function planTree(files: readonly FileContent[]): TreeFolder {
  const root = emptyFolder();
  for (const { path, content } of files) {
    const segments = path.split('/');
    const name = segments.pop() ?? '';
    let folder = root;
    for (const segment of segments) {
      const next = folder.folders.get(segment) ?? emptyFolder();
      folder.folders.set(segment, next);
      folder = next;
    }
    folder.files.set(name, content);
  }
  return root;
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

/**
 * The entries of a tree object; null when it is malformed, names something twice or has a slash in a name. Ours
 * because isomorphic-git throws at a hostile name, as it does at an object that cannot be read.
 */
export function decodeTree(content: Buffer): TreeEntry[] | null {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    if (space < 0 || end < 0 || end + 21 > content.length) return null;
    entries.push({
      mode: content.toString('latin1', at, space),
      // Bytes that are no UTF-8 become U+FFFD, which no stored path may hold.
      name: content.toString('utf8', space + 1, end),
      oid: content.toString('hex', end + 1, end + 21),
    });
    at = end + 21;
  }
  const names = new Set(entries.map(({ name }) => name));
  const isSound = names.size === entries.length && entries.every(({ name }) => !name.includes('/'));
  return isSound ? entries : null;
}

function emptyFolder(): TreeFolder {
  return { files: new Map(), folders: new Map() };
}
