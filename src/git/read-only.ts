/** Repositories seen by somebody who must change nothing: whatever would write is refused before it reaches the disk. */

import { createLog } from '../lib/log.ts';
import { AtomicFs } from './atomic-fs.ts';
import { DISK, type Disk } from './disk.ts';
import { GitStore } from './store.ts';

/** The index of one repository, and the packs that it is read from. */
const CACHE_BYTES = 64 * 1024 * 1024;

/** Flushing is no change: what was read may be made to last. */
const READ_ONLY: Disk = {
  async open(path, flags) {
    if (flags !== 'r') return refuse();
    const file = await DISK.open(path, flags);
    return { writeFile: refuse, utimes: refuse, sync: () => file.sync(), close: () => file.close() };
  },
  appendFile: refuse,
  rename: refuse,
  unlink: refuse,
  rm: refuse,
  mkdir: refuse,
  rmdir: refuse,
};

export class ReadOnlyFs extends AtomicFs {
  constructor() {
    super(READ_ONLY);
  }
}

/**
 * A store for reading, not to be opened, which would make folders and sweep. What a reader of the index would have
 * tidied or remembered on the disk fails quietly, as it may on any disk that is full.
 */
export function readOnlyStore(root: string): GitStore {
  const onRefsMoved = async () => undefined;
  return new GitStore({
    root,
    log: createLog('silent'),
    cacheBytes: CACHE_BYTES,
    onRefsMoved,
    fs: new ReadOnlyFs(),
  });
}

async function refuse(): Promise<never> {
  throw Object.assign(new Error('EROFS: nothing is written here'), { code: 'EROFS', syscall: 'write' });
}
