/** Puts together what comes in pieces over a connection. */

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
}
