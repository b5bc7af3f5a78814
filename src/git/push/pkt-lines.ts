/** Git's pkt-lines: they are read from the front of a stream that goes on with something else, and written. */

import { PassThrough, pipeline, type Readable } from 'node:stream';
import { type HawserError, invalid } from '../../lib/errors.ts';
import { nextChunk } from './chunks.ts';

/** Hexadecimal digits that open each line. They count themselves and the data (gitprotocol-common(5)). */
const DIGITS = 4;

/** The longest line in bytes, with its digits (gitprotocol-common(5)). */
const MAX_LINE_BYTES = 65_520;

/** The most data that a line can carry, in bytes. */
export const MAX_DATA_BYTES = MAX_LINE_BYTES - DIGITS;

/** The line of no length that ends a list of lines. */
export const FLUSH: Buffer = Buffer.from('0000');

/** What stands in place of an object id where there is no object (gitprotocol-pack(5)). */
export const ZERO_ID = '0'.repeat(40);

/** The error for a request that breaks git's protocol. */
export function malformed(message: string): HawserError {
  return invalid('malformed_body', message);
}

/**
 * Frames one line. It adds no LF.
 * @throws Error when the data is too long, which is a fault of the caller
 */
export function pktLine(data: string | Buffer): Buffer {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  if (bytes.length > MAX_DATA_BYTES) throw new Error(`A pkt-line cannot hold ${bytes.length} bytes`);
  const length = (bytes.length + DIGITS).toString(16).padStart(DIGITS, '0');
  return Buffer.concat([Buffer.from(length), bytes]);
}

/**
 * Reads lines from a stream of bytes that nobody else reads. It may take more from the stream than it was asked for, and
 * keeps that for the next call. Between the calls the stream stands still, as if it had no reader.
 */
export class PktReader {
  private readonly input: Readable;
  private chunks: Buffer[] = [];
  private buffered = 0;

  constructor(input: Readable) {
    this.input = input;
    // The stream may fail while nothing is asked of it. The next call tells of it.
    input.on('error', () => undefined);
  }

  /**
   * @returns the data of the next line, with its LF if it has one
   * @throws HawserError malformed_body; client_gone if the stream is destroyed; an error of the stream as it is
   */
  async next(): Promise<Buffer | 'flush'> {
    const length = lengthOf(await this.take(DIGITS));
    return length === 0 ? 'flush' : this.take(length - DIGITS);
  }

  /** Whether nothing follows. Waits until more has come, or the stream has ended. @throws as `next` */
  async isAtEnd(): Promise<boolean> {
    return this.buffered === 0 && !(await this.pull());
  }

  /**
   * Hands all on that follows, at the speed at which it is read. Whoever calls this calls nothing else afterwards. An
   * error of the input destroys the result with the same error, and destroying the result early destroys the input.
   */
  rest(): Readable {
    const rest = new PassThrough();
    for (const chunk of this.chunks) rest.write(chunk);
    this.chunks = [];
    // Both streams keep their errors, so whoever comes later learns of them.
    pipeline(this.input, rest, () => undefined);
    return rest;
  }

  private async take(count: number): Promise<Buffer> {
    while (this.buffered < count) {
      if (!(await this.pull())) throw malformed('The request ends in the middle of its lines');
    }
    const [first, ...others] = this.chunks;
    // Chunks are joined once for each line, as a sender may make a chunk of each byte.
    const all = first !== undefined && others.length === 0 ? first : Buffer.concat(this.chunks);
    this.chunks = all.length > count ? [all.subarray(count)] : [];
    this.buffered -= count;
    return all.subarray(0, count);
  }

  /** Takes one more chunk in. @returns false at the end of the stream */
  private async pull(): Promise<boolean> {
    const chunk = await nextChunk(this.input);
    if (chunk === null) return false;
    this.chunks.push(chunk);
    this.buffered += chunk.length;
    return true;
  }
}

function lengthOf(digits: Buffer): number {
  const text = digits.toString('latin1');
  if (!/^[0-9a-f]{4}$/i.test(text)) throw malformed('A line of the request does not begin with its length');
  const length = Number.parseInt(text, 16);
  // The lengths 1 to 3 mark parts of requests in version 2 of the protocol, which has no pushes.
  if (length > 0 && length < DIGITS)
    throw malformed('A line of the request has a length that pushes do not have');
  if (length > MAX_LINE_BYTES)
    throw malformed(`A line of the request is longer than ${MAX_LINE_BYTES} bytes`);
  return length;
}
