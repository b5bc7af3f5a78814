/** Joins bytes that come in pieces over a connection. */

import { Pace } from '../lib/pace.ts';

/** The first block has so many bytes. Each further block is as large as all before it, up to the largest. */
const SMALLEST_BLOCK = 1024;
const LARGEST_BLOCK = 256 * 1024;
const NOTHING = Buffer.alloc(0);

/**
 * Memory for the whole is asked for once this part of it has come, so a sender who announces much and sends little has the
 * server ask for at most eight times what came.
 */
const PART = 1 / 8;

/**
 * Copies pieces of any size into blocks and keeps no piece, so a sender of single bytes costs no object for each byte.
 * The blocks are at most twice as large as what has come. Where the length is announced, they lie one after the other in
 * one piece of memory, of which the kernel fills only what is written. So nothing is left to join when a large body ends:
 * ten bodies of 4.5 MB that ended in one turn kept the event loop for a second.
 */
export class ByteCollector {
  length = 0;
  private readonly blocks: Buffer[] = [];
  private last: Buffer = NOTHING;
  /** So many bytes of the last block are used. */
  private taken = 0;
  /** Has all that came, from its start on, and room for what is still to come. */
  private whole: Buffer | null = null;
  private readonly onBlock: (bytes: number) => void;
  private readonly announced: number;

  /**
   * @param onBlock told of each block before it is made; what it throws refuses the block
   * @param announced bytes that are said to come in all; 0 where nobody knows
   */
  constructor(onBlock: (bytes: number) => void = () => undefined, announced = 0) {
    this.onBlock = onBlock;
    this.announced = announced;
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
    const all =
      this.whole?.subarray(0, this.length) ?? Buffer.concat([...this.blocks, this.last], this.length);
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
    this.whole = null;
  }

  private addBlock(): void {
    const size = Math.min(LARGEST_BLOCK, Math.max(SMALLEST_BLOCK, this.length));
    this.onBlock(size);
    if (this.taken > 0) this.blocks.push(this.last);
    this.last = this.nextOfWhole(size) ?? Buffer.allocUnsafeSlow(size);
    this.taken = 0;
  }

  /** @returns null where the length is not known, too little has come to believe it, or more came than was announced */
  private nextOfWhole(size: number): Buffer | null {
    if (this.length >= this.announced) this.whole = null;
    else if (this.whole === null && this.length >= Math.max(LARGEST_BLOCK, this.announced * PART)) {
      this.whole = Buffer.allocUnsafeSlow(this.announced);
      let at = 0;
      for (const block of this.blocks.splice(0)) at += block.copy(this.whole, at);
      this.blocks.push(this.whole.subarray(0, at));
    }
    return this.whole?.subarray(this.length, this.length + size) ?? null;
  }
}
