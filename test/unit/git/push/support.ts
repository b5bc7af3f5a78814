/** Requests of pushes made by hand, byte for byte, and what a client reads in an answer. */

import { Readable } from 'node:stream';
import { expect } from 'chai';

export const ZERO = '0'.repeat(40);
export const A = 'a'.repeat(40);
export const B = 'b'.repeat(40);

/** The error of node for a connection that the client has closed. */
export class Reset extends Error {}

/** A packet of Git's wire format. */
export function packet(data: string | Buffer): Buffer {
  const bytes = Buffer.from(data);
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes]);
}

/** Joins packets; `null` is a flush. */
export function packets(...parts: (string | Buffer | null)[]): Buffer {
  return Buffer.concat(parts.map((part) => (part === null ? Buffer.from('0000') : packet(part))));
}

/** The packets of an answer as texts, `null` for a flush. Fails if a packet is cut or too long. */
export function unpacked(bytes: Buffer): (string | null)[] {
  const found: (string | null)[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const length = Number.parseInt(rest.toString('latin1', 0, 4), 16);
    expect(length).to.be.lessThanOrEqual(65_520);
    if (length > 0) expect(rest.length).to.be.greaterThanOrEqual(length);
    found.push(length === 0 ? null : rest.toString('utf8', 4, length));
    rest = rest.subarray(Math.max(4, length));
  }
  return found;
}

/** A stream that hands the bytes on in chunks of this size, and then ends or fails. */
export function inputOf(bytes: Buffer | string, size = 64 * 1024, failure?: Error): Readable {
  let rest = Buffer.from(bytes);
  return new Readable({
    read() {
      const chunk = rest.subarray(0, size);
      rest = rest.subarray(size);
      // A real connection never hands all on in one turn.
      setImmediate(() => {
        if (chunk.length > 0) this.push(chunk);
        else if (failure) this.destroy(failure);
        else this.push(null);
      });
    },
  });
}
