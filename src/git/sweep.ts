/** Removes the unfinished files that a killed process of ours left in a repository, and flushes the finished ones. */

import { join } from 'node:path';
import { type AtomicFs, TEMPORARY_PREFIX } from './atomic-fs.ts';
import { unlessAbsent } from './disk-errors.ts';

/** Looks through every folder of loose objects: some milliseconds, so once per repository and process. */
export async function sweepLeftOvers(fs: AtomicFs, gitdir: string): Promise<void> {
  // Git makes these files exclusively and would fail on one left behind.
  await discardIfOld(fs, join(gitdir, 'packed-refs.new'));
  await discardIfOld(fs, join(gitdir, 'packed-refs.lock'));
  await fs.settleFolder(join(gitdir, 'objects'));
  for (const { name } of await fs.readdir(join(gitdir, 'objects'))) {
    if (!/^[0-9a-f]{2}$/.test(name)) continue;
    const folder = join(gitdir, 'objects', name);
    // Objects that are there already are not written again, so what needs them must find them flushed.
    await fs.settleFolder(folder);
    for (const entry of await unlessAbsent(fs.readdir(folder), [])) {
      if (entry.name.startsWith(TEMPORARY_PREFIX)) await discardIfOld(fs, join(folder, entry.name));
    }
  }
}

/** What is younger than this process may be at work still, here or in another. */
async function discardIfOld(fs: AtomicFs, path: string): Promise<void> {
  const stats = await unlessAbsent(fs.lstat(path), null);
  if (stats && stats.mtimeMs < performance.timeOrigin) await fs.discard(path);
}
