/** Joins bytes that come in pieces over a connection. */

import { Pace } from '../lib/pace.ts';

/** The first block has so many bytes. Each further block is as large as all before it, up to the largest. */
const SMALLEST_BLOCK = 1024;
const LARGEST_BLOCK = 256 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Copies pieces of any size into blocks and keeps no piece, so a sender of single bytes costs no object for each byte.
 * The blocks are at most twice as large as what has come.
 */
export class ByteCollector {
  length = 0;
  private readonly blocks: Buffer[] = [];
  private last = NOTHING;
  /** So many bytes of the last block are used. */
  private taken = 0;
  private readonly onBlock: (bytes: number) => void;

  /** @param onBlock told of each block before it is made; what it throws refuses the block */
  constructor(onBlock: (bytes: number) => void = () => undefined) {
    this.onBlock = onBlock;
  }

  append(piece: Buffer): void {
    for (let at = 0; at < piece.length; ) {
      if (this.taken === this.last.length) this.addBlock();
      const copied = piece.copy(this.last, this.taken, at);
      this.taken += copied;
      this.length += copied;
      at += copied;
    }
  }

  /** Gives all bytes in one Buffer. The collector is empty then. */
  takeAll(): Buffer {
    const all = Buffer.concat([...this.blocks, this.last], this.length);
    this.clear();
    return all;
  }

  /** Does what `takeAll` does, in steps, for many bytes. It lets go of each block that has been copied. */
  async drain(): Promise<Buffer> {
    const all = Buffer.allocUnsafeSlow(this.length);
    const pieces = [...this.blocks.splice(0), this.last.subarray(0, this.taken)].reverse();
    const pace = new Pace();
    let at = 0;
    for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
      at += piece.copy(all, at);
      if (pace.isDue) await pace.rest();
    }
    this.clear();
    return all;
  }

  private clear(): void {
    this.blocks.length = 0;
    this.last = NOTHING;
    this.taken = 0;
    this.length = 0;
  }

  private addBlock(): void {
    const size = Math.min(LARGEST_BLOCK, Math.max(SMALLEST_BLOCK, this.length));
    this.onBlock(size);
    if (this.taken > 0) this.blocks.push(this.last);
    this.last = Buffer.allocUnsafeSlow(size);
    this.taken = 0;
  }
}
