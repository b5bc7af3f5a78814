/** Work on many bytes, done a slice at a time, so that others get their turn in between. */

import { setImmediate as nextTurn } from 'node:timers/promises';

/** Bytes that are hashed, checked or copied in one go: less than half a millisecond each. */
export const SLICE = 256 * 1024;

/** The bytes in views of at most `SLICE`; none of an empty Buffer. */
export function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE) yield bytes.subarray(at, at + SLICE);
}

/** Gives others their turn each time that another slice's worth of bytes is done. */
export class Pace {
  private done = 0;

  /** @param bytes how many have been worked on since the last call; each call counts as a hundred more */
  async after(bytes: number): Promise<void> {
    this.done += bytes + 100;
    if (this.done < SLICE) return;
    this.done = 0;
    await nextTurn();
  }
}
