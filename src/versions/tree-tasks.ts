/** The task of looking at folders of a push, for a thread: a folder of 20,000 files takes a tenth of a second. */

import { foldPath, PathSet, showText } from '../domain/safe-path.ts';
import { normalizeNewPath } from '../domain/upload-tree.ts';
import { decodeTree, FOLDER_MODE, type TreeEntry } from '../git/tree.ts';
import { invalid } from '../lib/errors.ts';

export interface TreeToLookAt {
  /** The bytes of the tree object. */
  content: Uint8Array;
  /** The path of one of the places where it stands, which ends in a slash; empty for the uppermost folder. */
  prefix: string;
}

/** What a tree object says, wherever it stands. */
export interface TreeLook {
  /** The number of its entries. */
  entries: number;
  files: number;
  /** The name of the file whose name has the most bytes; empty without files. */
  longest: string;
  folders: { name: string; oid: string }[];
  /** Whether two of its folders differ in case only. Some file systems make one folder of them. */
  hasTwins: boolean;
}

const FILE = /^100[0-7]{3}$/;

export const isFolder = ({ mode }: Pick<TreeEntry, 'mode'>) => mode === FOLDER_MODE;

export const treeTasks = {
  /** @throws HawserError `invalid_path` for the first entry that no version may hold, in the order of the trees */
  lookAtTrees: (trees: readonly TreeToLookAt[]): TreeLook[] => trees.map(lookAtTree),
};

export type TreeTasks = typeof treeTasks;

function lookAtTree({ content, prefix }: TreeToLookAt): TreeLook {
  const entries = decodeTree(Buffer.from(content.buffer, content.byteOffset, content.byteLength));
  if (entries === null) throw invalid('invalid_path', 'A folder is malformed');
  const look: TreeLook = { entries: entries.length, files: 0, longest: '', folders: [], hasTwins: false };
  const paths = new PathSet();
  const folders = new Set<string>();
  let longest = 0;
  for (const entry of entries) {
    const { mode, name, oid } = entry;
    const path = prefix + name;
    if (!isFolder(entry) && !FILE.test(mode))
      throw invalid('invalid_path', `"${showText(path)}" is a link or a submodule`);
    requireStoredForm(path);
    if (!isFolder(entry)) {
      paths.add(path);
      look.files += 1;
      const bytes = Buffer.byteLength(name);
      if (bytes <= longest) continue;
      [longest, look.longest] = [bytes, name];
      continue;
    }
    look.folders.push({ name, oid });
    const key = foldPath(name);
    if (folders.has(key)) look.hasTwins = true;
    // What is in the folder is looked at by itself. Any name in it shows whether a file is where the folder is.
    else paths.add(`${path}/x`);
    folders.add(key);
  }
  return look;
}

/** @throws HawserError `invalid_path` */
function requireStoredForm(path: string): void {
  if (normalizeNewPath(path) !== path)
    throw invalid(
      'invalid_path',
      `The path "${showText(path)}" is not in the form in which paths are stored`,
    );
}
