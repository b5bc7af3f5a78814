/** Reads answers from a socket with little work, so that the generator is not the bottleneck. */

import type { LoadClient } from './messages.ts';

const END_OF_HEAD = '\r\n\r\n';

/** Collects the bytes of one answer after the other, and compares each with the expected answer. */
export class AnswerReader {
  private readonly client: LoadClient;
  private pending: Buffer | null = null;

  constructor(client: LoadClient) {
    this.client = client;
  }

  /**
   * @returns whether the answer is complete
   * @throws Error if it is not the expected one
   */
  read(chunk: Buffer): boolean {
    const bytes = this.pending === null ? chunk : Buffer.concat([this.pending, chunk]);
    this.pending = bytes;
    const headEnd = bytes.indexOf(END_OF_HEAD);
    if (headEnd < 0) return false;
    const head = bytes.toString('latin1', 0, headEnd);
    const bodyStart = headEnd + END_OF_HEAD.length;
    const length = lengthOf(head);
    const { status, body } = this.client;
    if (Number(head.slice(9, 12)) !== status) throw this.wrong(bytes, 'another status');
    const bodyEnd = bodyStart + (body === null ? 0 : length);
    if (bytes.length < bodyEnd) return false;
    if (bytes.length > bodyEnd) throw this.wrong(bytes, 'bytes behind the answer');
    if (body !== null && body.compare(bytes, bodyStart, bodyEnd) !== 0) {
      throw this.wrong(bytes, 'another body');
    }
    this.pending = null;
    return true;
  }

  private wrong(bytes: Buffer, what: string): Error {
    return new Error(
      `wrong answer, ${what}; expected ${this.client.status}, got:\n${bytes.toString('latin1', 0, 600)}`,
    );
  }
}

/**
 * @returns the body of a complete answer with this status; null while bytes are missing
 * @throws Error for any other answer
 */
export function readBody(bytes: Buffer, status = 200): Buffer | null {
  const headEnd = bytes.indexOf(END_OF_HEAD);
  if (headEnd < 0) return null;
  const head = bytes.toString('latin1', 0, headEnd);
  const bodyStart = headEnd + END_OF_HEAD.length;
  const length = lengthOf(head);
  if (Number(head.slice(9, 12)) !== status || bytes.length > bodyStart + length)
    throw new Error(`wrong answer; expected ${status}, got:\n${bytes.toString('latin1', 0, 600)}`);
  return bytes.length < bodyStart + length ? null : bytes.subarray(bodyStart);
}

function lengthOf(head: string): number {
  return Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
}
