/** Repositories seen by somebody who must change nothing: whatever would write is refused before it reaches the disk. */

import { createLog } from '../lib/log.ts';
import { AtomicFs } from './atomic-fs.ts';
import { GitStore } from './store.ts';

/** The index of one repository, and the packs that it is read from. */
const CACHE_BYTES = 64 * 1024 * 1024;

export class ReadOnlyFs extends AtomicFs {
  override writeFile = refuse;
  override writePlain = refuse;
  override append = refuse;
  override createEmpty = refuse;
  override rename = refuse;
  override unlink = refuse;
  override discard = refuse;
  override discardEmptyFolder = refuse;
  override makeFolder = refuse;
  override freshen = refuse;
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
