/** Makes folders so that they survive a power loss. */

import { constants } from 'node:fs';
import { access, chmod, mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Log } from './log.ts';

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

/**
 * Takes the permissions of a folder away from all but its owner. A checkout, or whoever made the folder, may have left it
 * open to others. The folder of another user, and one that all share, such as `/tmp`, stays as it is, with a warning.
 */
export async function tightenOwnFolder(path: string, log: Log): Promise<void> {
  const { mode, uid } = await stat(path);
  // Windows has other permissions, which Node does not report.
  if ((mode & OTHERS) === 0 || process.platform === 'win32') return;
  try {
    if ((mode & SHARED) !== 0) throw new Error('it is one in which all users make files');
    if (uid !== process.geteuid?.()) throw new Error(`it belongs to user ${uid}`);
    await tighten(path, 0o700, log);
  } catch (error) {
    const found = { path, mode: (mode & 0o7777).toString(8), reason: (error as Error).message };
    log.warn(
      found,
      'other users of this machine may use this folder; give the server one of its own with mode 0700',
    );
  }
}

/** Takes the permissions away that are not in `mode`. */
export async function tighten(path: string, mode: number, log: Log): Promise<void> {
  const present = (await stat(path)).mode & 0o777;
  if ((present & ~mode) === 0) return;
  await chmod(path, mode);
  log.warn({ path, mode: present.toString(8) }, 'others could read this; its permissions are tightened now');
}

/** The permission bits of everybody but the owner, and the bit of a folder in which all may make files. */
const OTHERS = 0o077;
const SHARED = 0o1000;

/** Flushes the folder, so that renames and removals in it survive a power loss. */
export async function flushFolder(path: string): Promise<void> {
  // Windows opens no folder as a file, and keeps its entries in a journal.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
