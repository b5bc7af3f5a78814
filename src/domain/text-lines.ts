/** The lines of a text as bytes, and what counts as a text that can be shown line by line. */

const LF = 0x0a;
/** Git takes a file for binary if there is a NUL in so many first bytes (buffer_is_binary in xdiff-interface.c). */
const LOOKED_AT = 8_000;

/** A larger text is not shown line by line. */
export const MAX_TEXT = { bytes: 1024 * 1024, lines: 20_000 };

/** Whether Git takes the content for binary: a NUL is among its first bytes. */
export function isBinary(bytes: Buffer): boolean {
  return bytes.subarray(0, LOOKED_AT).includes(0);
}

/** Counts lines up to `most`, and gives `most + 1` if there are more. A last line need not end in LF. */
export function countLines(bytes: Buffer, most: number): number {
  let count = 0;
  for (let at = 0; at < bytes.length && count <= most; count += 1) {
    const end = bytes.indexOf(LF, at);
    at = end < 0 ? bytes.length : end + 1;
  }
  return count;
}

/** Whether a text has more bytes or lines than `MAX_TEXT`. */
export function isTooLarge(bytes: Buffer): boolean {
  return bytes.length > MAX_TEXT.bytes || countLines(bytes, MAX_TEXT.lines) > MAX_TEXT.lines;
}

/** A text with the offsets of its lines, which are counted from 0. */
export class TextLines {
  readonly bytes: Buffer;
  /** The places at which the lines begin, and after them the place at which the text ends. */
  private readonly offsets: number[] = [0];

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf(LF, at);
      at = end < 0 ? bytes.length : end + 1;
      this.offsets.push(at);
    }
  }

  get count(): number {
    return this.offsets.length - 1;
  }

  /** The bytes of a line with its LF. */
  line(at: number): Buffer {
    return this.bytes.subarray(this.offset(at), this.offset(at + 1));
  }

  /** The bytes of a line as text of Latin-1, by which lines can be told apart fast. */
  key(at: number): string {
    return this.bytes.toString('latin1', this.offset(at), this.offset(at + 1));
  }

  /** The text of a line without its LF. Bytes that are no UTF-8 become U+FFFD. */
  text(at: number): string {
    const end = this.offset(at + 1);
    return this.bytes.toString('utf8', this.offset(at), this.bytes[end - 1] === LF ? end - 1 : end);
  }

  private offset(at: number): number {
    return this.offsets[at] as number;
  }
}
