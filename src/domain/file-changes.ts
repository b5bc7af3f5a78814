/** What differs between two lists of files: which were added, removed, changed or renamed. */

import { sortByBytes } from '../lib/byte-order.ts';

/** A file of one of the two lists. */
export interface ListedFile {
  path: string;
  /** Names the content: two files have the same bytes exactly if they have the same id. */
  oid: string;
  executable: boolean;
}

export type ChangeKind = 'Added' | 'Removed' | 'Modified' | 'Renamed';

/** One file on both sides. Null stands for the side on which there is no such file. */
export interface ChangedFile {
  /** The path after the change, or before it for a file that was removed. */
  path: string;
  /** The path before the change, where it was another. */
  previousPath: string | null;
  change: ChangeKind;
  before: ListedFile | null;
  after: ListedFile | null;
}

/**
 * The files that differ, by the bytes of their paths. A file is renamed if its content is the same and its path is not.
 * Only a path that is gone can be the previous one of a path that is new, and they are paired in the order of paths.
 */
export function changedFiles(before: readonly ListedFile[], after: readonly ListedFile[]): ChangedFile[] {
  const earlier = byPath(before);
  const later = byPath(after);
  const gone = new Gone(sortByBytes(before, pathOf).filter(({ path }) => !later.has(path)));
  const changes: ChangedFile[] = [];
  for (const file of sortByBytes(after, pathOf)) {
    const same = earlier.get(file.path);
    if (same === undefined) changes.push(appeared(file, gone.take(file.oid)));
    else if (same.oid !== file.oid || same.executable !== file.executable)
      changes.push({
        path: file.path,
        previousPath: null,
        change: 'Modified',
        before: same,
        after: file,
      });
  }
  for (const file of gone.rest())
    changes.push({ path: file.path, previousPath: null, change: 'Removed', before: file, after: null });
  return sortByBytes(changes, pathOf);
}

function appeared(file: ListedFile, previous: ListedFile | undefined): ChangedFile {
  const { path } = file;
  if (previous === undefined) return { path, previousPath: null, change: 'Added', before: null, after: file };
  return { path, previousPath: previous.path, change: 'Renamed', before: previous, after: file };
}

/** The files whose paths are gone. Each is taken once. */
class Gone {
  private readonly left: Set<ListedFile>;
  private readonly byContent = new Map<string, ListedFile[]>();

  /** @param files in the order of their paths */
  constructor(files: readonly ListedFile[]) {
    this.left = new Set(files);
    for (const file of files.toReversed()) {
      const alike = this.byContent.get(file.oid);
      if (alike) alike.push(file);
      else this.byContent.set(file.oid, [file]);
    }
  }

  /** The first that is left of those with this content. */
  take(oid: string): ListedFile | undefined {
    const file = this.byContent.get(oid)?.pop();
    if (file) this.left.delete(file);
    return file;
  }

  rest(): Iterable<ListedFile> {
    return this.left;
  }
}

function byPath(files: readonly ListedFile[]): Map<string, ListedFile> {
  return new Map(files.map((file) => [file.path, file]));
}

const pathOf = ({ path }: { path: string }) => path;
