/** Writes the content of a version into a folder: all of it or nothing, and nowhere else. */

import type { Dirent } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../errors.ts';
import type { Contents } from './contents.ts';

const STAGE = '.hawser-pull-';

/** What is at the place of a content before it is written. */
export interface Target {
  folder: string;
  isThere: boolean;
  /** Files that are written over. */
  replaced: readonly string[];
  /** Whether it has anything else, which stays. */
  hasOthers: boolean;
}

/**
 * Looks at the place, and changes nothing.
 * @param folder absolute
 * @throws Failure for what is no folder, and for a link or a folder where a file is to be written
 */
export async function inspectTarget(folder: string, contents: Contents): Promise<Target> {
  const entries = await listFolder(folder);
  if (entries === null) return { folder, isThere: false, replaced: [], hasOthers: false };
  const replaced: string[] = [];
  const checked = new Set<string>();
  for (const { path } of entries.length === 0 ? [] : contents) {
    await checkAbove(folder, path, checked);
    const kind = await kindOf(join(folder, path));
    if (kind !== null && kind !== 'file')
      throw new Failure(
        `${join(folder, path)} is a ${kind}, so the file cannot be written. Nothing was written.`,
      );
    if (kind !== null) replaced.push(path);
  }
  return { folder, isThere: true, replaced, hasOthers: entries.length > 0 };
}

/** @throws Failure where it cannot be written; a new folder is not there then */
export async function writeContents({ folder, isThere }: Target, contents: Contents): Promise<void> {
  try {
    if (isThere) await writeInto(folder, contents);
    else await writeNew(folder, contents);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code, path } = error as NodeJS.ErrnoException;
    throw new Failure(`${path ?? folder} cannot be written: ${code}.`);
  }
}

/** The folder gets its name when it is complete. */
async function writeNew(folder: string, contents: Contents): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const stage = await mkdtemp(join(dirname(folder), STAGE));
  try {
    // The stage is private, and the folder is to be like any other.
    const complete = join(stage, 'complete');
    await fill(complete, contents);
    await rename(complete, folder);
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** A folder that is there keeps its place, in which somebody may be working. Its files are replaced when all are there. */
async function writeInto(folder: string, contents: Contents): Promise<void> {
  const stage = await mkdtemp(join(folder, STAGE));
  try {
    await fill(stage, contents);
    for (const { path } of contents) {
      const target = join(folder, path);
      await mkdir(dirname(target), { recursive: true });
      await rename(join(stage, path), target);
    }
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

async function fill(folder: string, contents: Contents): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { path, content, executable } of contents) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content, { flag: 'wx', mode: executable ? 0o777 : 0o666, flush: true });
  }
}

/** Below a link the file would be written outside of the folder. */
async function checkAbove(folder: string, path: string, checked: Set<string>): Promise<void> {
  for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
    const above = path.slice(0, end);
    if (checked.has(above)) continue;
    checked.add(above);
    const kind = await kindOf(join(folder, above));
    if (kind === null) return;
    if (kind !== 'folder')
      throw new Failure(`${join(folder, above)} is a ${kind} where a folder is needed. Nothing was written.`);
  }
}

async function kindOf(path: string): Promise<'file' | 'folder' | 'link' | 'special file' | null> {
  try {
    const stats = await lstat(path);
    if (stats.isSymbolicLink()) return 'link';
    if (stats.isDirectory()) return 'folder';
    return stats.isFile() ? 'file' : 'special file';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new Failure(`${path} cannot be read: ${code}.`);
  }
}

/** @returns null where it is not there */
async function listFolder(folder: string): Promise<Dirent[] | null> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ENOTDIR') throw new Failure(`${folder} is no folder.`);
    throw new Failure(`${folder} cannot be read: ${code}.`);
  }
}
