/** Puts together what comes in pieces over a connection. */

import { Pace } from '../lib/pace.ts';

/** Bytes that come in pieces of any size. A sender of single bytes must not cost an object for each of them. */
export class ByteCollector {
  length = 0;
  private readonly blocks: Buffer[] = [];
  private pieces: Buffer[] = [];

  append(piece: Buffer): void {
    this.length += piece.length;
    if (this.pieces.push(piece) < 256) return;
    this.blocks.push(Buffer.concat(this.pieces));
    this.pieces = [];
  }

  /** A copy, so that a small file does not keep the network's larger buffers alive. */
  toBuffer(): Buffer {
    return Buffer.concat([...this.blocks, ...this.pieces], this.length);
  }

  /** As `toBuffer`, for much: in steps, and what has been copied is let go of. The collector is empty then. */
  async drain(): Promise<Buffer> {
    const all = Buffer.allocUnsafeSlow(this.length);
    const pieces = [...this.blocks.splice(0), ...this.pieces.splice(0)].reverse();
    const pace = new Pace();
    let at = 0;
    for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
      at += piece.copy(all, at);
      if (pace.isDue) await pace.rest();
    }
    this.length = 0;
    return all;
  }
}
