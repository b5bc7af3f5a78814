/** Holds up the flushes of SQLite's log in this process, as a slow disk does. */

import { type FileHandle, open } from 'node:fs/promises';
import { devNull } from 'node:os';
import type { HeldWrites } from './held-writes.ts';

const file = await open(devNull);
const prototype = Object.getPrototypeOf(file) as Pick<FileHandle, 'datasync'>;
await file.close();
const { datasync } = prototype;

/** Holds up every flush that begins from now on, until it is let go. Nothing else in the server uses `fdatasync`. */
export function holdFlushes(): HeldWrites {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let reached = () => {};
  const isHeld = new Promise<void>((resolve) => {
    reached = resolve;
  });
  async function held(this: FileHandle): Promise<void> {
    reached();
    await gate;
    await datasync.call(this);
  }
  prototype.datasync = held;
  return {
    isHeld,
    letGo() {
      // Another hold may have begun meanwhile.
      if (prototype.datasync === held) prototype.datasync = datasync;
      open();
    },
  };
}
