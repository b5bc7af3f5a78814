/** Repositories seen by somebody who must change nothing: whatever would write is refused before it reaches the disk. */

import { AtomicFs } from './atomic-fs.ts';
import { DISK, type Disk } from './disk.ts';

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

async function refuse(): Promise<never> {
  throw Object.assign(new Error('EROFS: nothing is written here'), { code: 'EROFS', syscall: 'write' });
}
