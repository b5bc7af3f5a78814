/** Files that only their owner may read, written whole or not at all. */

import { type FileHandle, open, readFile, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { newId } from './ids.ts';

/**
 * Writes a file with mode 0600 so that it survives power loss: temporary file in the same folder (already
 * 0600, so never readable by others for an instant), flush, rename, flush of the folder.
 * @throws the system's error; the temporary file is removed then
 */
export async function writeSecretFile(path: string, content: string): Promise<void> {
  const temporary = `${path}.${newId()}.tmp`;
  try {
    await flushed(await open(temporary, 'wx', 0o600), (file) => file.writeFile(content));
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
  await flushed(await open(dirname(path), 'r'));
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

async function flushed(file: FileHandle, write?: (file: FileHandle) => Promise<void>): Promise<void> {
  try {
    await write?.(file);
    await file.sync();
  } finally {
    await file.close();
  }
}
