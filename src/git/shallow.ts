/** Where history ends: git's own `shallow` file, which names commits whose parents nobody is to look for. */

import { join } from 'node:path';
import type { AtomicFs } from './atomic-fs.ts';
import { unlessAbsent } from './disk-errors.ts';
import { type GitFolder, takeLock } from './lock-file.ts';

const FILE = 'shallow';

/** The commits at which history ends before its time; none in a repository that nothing was removed from. */
export async function readShallow(fs: AtomicFs, gitdir: string): Promise<Set<string>> {
  const text = await unlessAbsent(fs.readFile(join(gitdir, FILE)), Buffer.alloc(0));
  return new Set(
    text
      .toString('latin1')
      .split('\n')
      .filter((line) => /^[0-9a-f]{40}$/.test(line)),
  );
}

/**
 * Removes git's cache of the graph of commits, which is of no use where history has an end and still speaks of what
 * was cut off, so that `git fsck` takes it for damage.
 */
export async function dropCommitGraph(fs: AtomicFs, gitdir: string): Promise<void> {
  for (const name of ['commit-graph', 'commit-graphs']) await fs.discard(join(gitdir, 'objects/info', name));
}

/** Ends history at these commits too, flushed. What no ref leads to any more, `git gc` strikes out again. */
export async function endHistoryAt(folder: GitFolder, commits: readonly string[]): Promise<void> {
  const { fs, gitdir } = folder;
  if (commits.length === 0) return;
  const lock = await takeLock(folder, join(gitdir, FILE));
  try {
    const known = await readShallow(fs, gitdir);
    const all = [...new Set([...known, ...commits])].sort();
    if (all.length > known.size) await lock.commit(all.map((commit) => `${commit}\n`).join(''));
  } finally {
    await lock.release();
  }
  // From now on git makes no other.
  await dropCommitGraph(fs, gitdir);
}
