/** Reads a folder as the content of a version. What a version cannot hold is refused with its path. */

import type { Dirent, Stats } from 'node:fs';
import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isLitter, MAX_FILES, UploadTree } from '../../domain/upload-tree.ts';
import { HawserError } from '../../lib/errors.ts';
import { Failure } from '../errors.ts';
import { printableLine } from '../printable.ts';
import { type Contents, MAX_BYTES, toContents } from './contents.ts';
import { IGNORE_FILE, type IsIgnored, readIgnored } from './ignored.ts';

/** The bit of the owner decides. */
const EXECUTABLE = 0o100;
/** Node shows it in place of bytes that are no UTF-8. A version cannot have it in a path. */
const UNREADABLE = '\ufffd';

interface FoundFile {
  /** It is in the form in which the server stores it. */
  path: string;
  file: string;
  stats: Stats;
}

export interface FolderContents {
  contents: Contents;
  /** The paths of what macOS or Windows has put there, which stays out; those of folders end with a slash. */
  litter: readonly string[];
}

/**
 * @param folder absolute
 * @throws Failure for what is no folder or has no files, and for links, devices, names and sizes that no version can have
 */
export async function readFolder(folder: string): Promise<FolderContents> {
  await checkFolder(folder);
  const walk = new Walk(folder, await readIgnored(folder));
  await walk.enter('');
  if (walk.found.length === 0)
    throw new Failure(
      `${folder} has no files for a version. .git, what ${IGNORE_FILE} names, and files such as .DS_Store stay out.`,
    );
  const files = [];
  for (const { path, file, stats } of walk.found) {
    const content = await readFile(file).catch(failRead(file));
    files.push({ path, content, executable: (stats.mode & EXECUTABLE) !== 0 });
  }
  return { contents: toContents(files), litter: walk.litter.sort() };
}

async function checkFolder(folder: string): Promise<void> {
  const stats = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new Failure(`There is no folder ${folder}.`);
    throw new Failure(`${folder} cannot be read: ${error.code}.`);
  });
  if (!stats.isDirectory()) throw new Failure(`${folder} is no folder.`);
}

class Walk {
  readonly found: FoundFile[] = [];
  readonly litter: string[] = [];
  private readonly tree = new UploadTree(MAX_FILES);
  private readonly folder: string;
  private readonly isIgnored: IsIgnored;
  private bytes = 0;

  constructor(folder: string, isIgnored: IsIgnored) {
    this.folder = folder;
    this.isIgnored = isIgnored;
  }

  /** @param inside the path of a folder below the one that is read; empty for that one itself */
  async enter(inside: string): Promise<void> {
    const place = join(this.folder, inside);
    const entries = await readdir(place, { withFileTypes: true }).catch(failRead(place));
    for (const entry of entries) {
      const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
      if (this.isIgnored(path, entry.isDirectory())) continue;
      if (entry.name.includes(UNREADABLE)) throw refusal(path, 'has a name that is not UTF-8');
      const named = entry.isDirectory() ? `${path}/` : path;
      if (isLitter(named)) this.litter.push(named);
      else if (entry.isDirectory()) await this.enter(path);
      else await this.add(path, entry);
    }
  }

  private async add(path: string, entry: Dirent): Promise<void> {
    if (!entry.isFile()) throw refusal(path, `is ${kindOf(entry)}, and a version holds files alone`);
    if (path.includes('\\'))
      throw refusal(path, 'has a backslash in its name, which separates folders on Windows');
    const stored = this.stored(path);
    const file = join(this.folder, path);
    const stats = await lstat(file).catch(failRead(file));
    this.bytes += stats.size;
    if (this.bytes > MAX_BYTES)
      throw new Failure(
        `${this.folder} has more than 1 GiB; ${IGNORE_FILE} can name what does not belong there.`,
      );
    this.found.push({ path: stored, file, stats });
  }

  private stored(path: string): string {
    try {
      return this.tree.add(path);
    } catch (error) {
      if (!(error instanceof HawserError)) throw error;
      if (error.code === 'invalid_path') throw new Failure(`invalid_path: ${error.message}.`);
      throw new Failure(
        `${this.folder} has more than ${MAX_FILES} files or folders; ${IGNORE_FILE} can name what does not belong there.`,
      );
    }
  }
}

function refusal(path: string, why: string): Failure {
  return new Failure(
    `invalid_path: "${printableLine(path)}" ${why}. ${IGNORE_FILE} can name what is to stay out. Nothing was sent.`,
  );
}

function kindOf(entry: Dirent): string {
  if (entry.isSymbolicLink()) return 'a symbolic link';
  if (entry.isSocket()) return 'a socket';
  if (entry.isFIFO()) return 'a named pipe';
  return 'a device or another special file';
}

function failRead(place: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    throw new Failure(`${place} cannot be read: ${error.code}.`);
  };
}
