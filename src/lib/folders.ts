/** Makes folders so that they survive a power loss. */

import { constants } from 'node:fs';
import { access, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes the folder (0700), and those above it, if they are absent.
 * @param path is absolute
 * @throws the system's error if the folder cannot be made, or its user may not read and write it
 */
export async function makePrivateFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  if (first === undefined) return;
  // A new folder is an entry in the folder above it. Without a flush of that, it could be lost after a power loss.
  for (let made = path; ; made = dirname(made)) {
    await flushFolder(dirname(made));
    if (made === first || made === dirname(made)) return;
  }
}

/** Flushes the folder, so that renames and removals in it survive a power loss. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
