/**
 * When something was last taken away from a repository: a ref removed, or moved away from what it named. It is the time of
 * the file `config`, which git reads and does not write, so every process sees it, and a restart forgets nothing.
 */

import { join } from 'node:path';
import type { AtomicFs } from './atomic-fs.ts';
import { unlessAbsent } from './disk-errors.ts';

interface Folder {
  fs: AtomicFs;
  gitdir: string;
}

const NOTED_AT = 'config';

/** To be called before a ref is removed, or moved away. */
export async function noteRemoval({ fs, gitdir }: Folder): Promise<void> {
  await fs.freshen(join(gitdir, NOTED_AT));
}

/** Epoch milliseconds of the last removal, or of a later write of the file. 0 if there is no repository. */
export async function lastRemoval({ fs, gitdir }: Folder): Promise<number> {
  const stats = await unlessAbsent(fs.lstat(join(gitdir, NOTED_AT)), null);
  return Number(stats?.mtimeMs ?? 0);
}
