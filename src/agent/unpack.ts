/** Unpacks a bundle into an empty folder. The server is trusted, and yet everything is checked. */

import { mkdir, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { checkPathSet, normalizePath, showText } from '../domain/safe-path.ts';
import { flushFolder } from '../lib/folders.ts';

/** A composite may contain many configurations, each of which has at most some thousand files. */
const MAX_FILES = 100_000;
const TYPE_MASK = 0xf000;
const REGULAR = 0x8000;

/**
 * Files get mode 0600 and folders 0700, because parameters may be secret. Everything is flushed to the disk.
 * @param folder an empty folder
 * @param limit the most bytes that all files together may have
 * @returns the paths of the files
 * @throws Error for an unsafe path, a link or another special file, too much content, or a damaged ZIP
 */
export async function unpackBundle(archive: string, folder: string, limit: number): Promise<Set<string>> {
  const zip = await openPromise(archive, { autoClose: false, strictFileNames: true });
  try {
    const entries = await planEntries(zip, limit);
    const paths = [...entries.keys()];
    checkPathSet(paths);
    for (const [path, entry] of entries) await writeEntry(zip, entry, join(folder, path));
    await flushFolders(folder);
    return new Set(paths);
  } finally {
    zip.close();
  }
}

/** Checks all entries before the first one is written. */
async function planEntries(zip: ZipFile, limit: number): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    const path = checkedPath(entry);
    if (entries.has(path)) throw new Error(`The bundle has the file "${showText(path)}" twice`);
    entries.set(path, entry);
    bytes += entry.uncompressedSize;
    if (entries.size > MAX_FILES) throw new Error(`The bundle has more than ${MAX_FILES} files`);
    if (bytes > limit) throw new Error(`The files of the bundle exceed ${limit} bytes`);
  }
  return entries;
}

function checkedPath(entry: Entry): string {
  const path = normalizePath(entry.fileName);
  // The server writes normalized paths, so it has not made another spelling.
  if (path !== entry.fileName) throw new Error(`The bundle has the path "${showText(entry.fileName)}"`);
  const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK;
  if (type !== 0 && type !== REGULAR) throw new Error(`In the bundle "${showText(path)}" is no regular file`);
  return path;
}

async function writeEntry(zip: ZipFile, entry: Entry, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'wx', 0o600);
  try {
    // The stream is read at once, because an error event without a listener would end the agent.
    const content = await zip.openReadStreamPromise(entry);
    for await (const chunk of content as AsyncIterable<Buffer>) await file.writeFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function flushFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await flushFolders(join(folder, entry.name));
  }
  await flushFolder(folder);
}
