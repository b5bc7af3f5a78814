/** Files that only their owner may read, written whole or not at all. */

import type { Stats } from 'node:fs';
import { chmod, chown, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { flushFolder } from './folders.ts';
import { newId } from './ids.ts';

/**
 * Writes a file with mode 0600 so that it survives a power loss. A temporary file in the same folder is written, flushed
 * and renamed, and the folder is flushed. The temporary file has mode 0600 from the start, so nobody else can ever read it.
 * @param like the file to be replaced, where the new one is to have its owner and its permissions
 * @throws the system's error; the temporary file is removed then
 */
export async function writeSecretFile(
  path: string,
  content: string,
  like: Stats | null = null,
): Promise<void> {
  const temporary = `${path}.${newId()}.tmp`;
  try {
    await writeFile(temporary, content, { flag: 'wx', mode: 0o600, flush: true });
    if (like !== null) {
      await chown(temporary, like.uid, like.gid);
      await chmod(temporary, like.mode & 0o777);
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  await flushFolder(dirname(path));
}

/** @returns null when there is no such file */
export async function readIfPresent(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
