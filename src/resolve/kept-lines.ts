/** Many texts that are kept as one compressed value. Each is a line of it, and is found by its number, from 0. */

import { gunzipSync, gzipSync } from 'node:zlib';

const LF = 0x0a;
/** So many characters wait before they are compressed together. */
const BLOCK = 1024 * 1024;

export class LinesWriter {
  /** The number of the next line. */
  count = 0;
  /** How many characters all lines have. */
  length = 0;
  private block: string[] = [];
  private blockLength = 0;
  private readonly compressed: Buffer[] = [];

  /** @param text has no line break, as JSON never has @returns the number of the line */
  add(text: string): number {
    this.block.push(text, '\n');
    this.blockLength += text.length;
    this.length += text.length;
    if (this.blockLength > BLOCK) this.endBlock();
    this.count += 1;
    return this.count - 1;
  }

  /** All lines. Blocks that stand one after the other are read as one. */
  end(): Buffer {
    this.endBlock();
    return Buffer.concat(this.compressed);
  }

  private endBlock(): void {
    this.compressed.push(gzipSync(this.block.join('')));
    [this.block, this.blockLength] = [[], 0];
  }
}

export class Lines {
  readonly bytes: Buffer;
  /** The places at which the lines begin, and after them the end. */
  private readonly offsets: number[] = [0];

  /** @param compressed what a `LinesWriter` gave */
  constructor(compressed: Uint8Array) {
    this.bytes = gunzipSync(compressed);
    for (let end = this.bytes.indexOf(LF); end >= 0; end = this.bytes.indexOf(LF, end + 1))
      this.offsets.push(end + 1);
  }

  get count(): number {
    return this.offsets.length - 1;
  }

  /** @throws RangeError where there is no such line */
  at(number: number): string {
    const [start, end] = [this.offsets[number], this.offsets[number + 1]];
    if (start === undefined || end === undefined) throw new RangeError(`there is no line ${number}`);
    return this.bytes.toString('utf8', start, end - 1);
  }

  /** The lines from one on, and not further than there are any. */
  *from(first: number, count = this.count): Generator<string> {
    for (let number = first; number < Math.min(this.count, first + count); number += 1) yield this.at(number);
  }
}
