/** Reads what `git cat-file --batch` prints of objects whose types and sizes are known. */

import type { Readable } from 'node:stream';
import type { TypedObject } from '../batch-objects.ts';
import { damagedRepository } from '../disk-errors.ts';
import { type StreamedObject, wrapObject } from '../loose-objects.ts';
import type { ObjectType } from '../objects.ts';

/** What is known of an object before it is read. */
export interface AddedObject {
  type: ObjectType;
  /** The bytes of its content. */
  size: number;
}

/**
 * The objects, in the order in which they were asked for. The bytes of each are those that its id says, but for objects
 * that are streamed: whoever takes one compares its hash, before he asks for the next.
 * @param streamedFrom objects of so many bytes are streamed
 * @throws HawserError `repository_damaged` when one of them is missing, broken or not what is known of it
 */
export async function* readBatch(
  stdout: Readable,
  asked: Iterable<readonly [string, AddedObject]>,
  streamedFrom: number,
): AsyncGenerator<TypedObject | (StreamedObject & AddedObject)> {
  const output = new ExactReader(stdout);
  for (const [oid, { type, size }] of asked) {
    const line = `${oid} ${type} ${size}\n`;
    if (size < streamedFrom) {
      const bytes = await output.take(line.length + size + 1);
      if (bytes?.toString('latin1', 0, line.length) !== line) throw notAsKnown(oid);
      const object = await wrapObject(type, bytes.subarray(line.length, -1));
      if (object.oid !== oid) throw notAsKnown(oid);
      yield { ...object, type };
    } else {
      if ((await output.take(line.length))?.toString('latin1') !== line) throw notAsKnown(oid);
      yield { oid, type, size, chunks: output.pass(size) };
      if ((await output.take(1)) === null) throw notAsKnown(oid);
    }
  }
}

function notAsKnown(oid: string): Error {
  return damagedRepository(new Error(`the object ${oid} is missing or holds something else`));
}

class ExactReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** The next bytes, which are a part of what was read when that has them all; null when the stream ends before. */
  async take(count: number): Promise<Buffer | null> {
    if (this.rest.length >= count) return this.split(count);
    const bytes = Buffer.allocUnsafeSlow(count);
    let at = this.rest.copy(bytes);
    while (at < count) {
      const { done, value } = await this.chunks.next();
      if (done) return null;
      this.rest = value;
      at += this.split(Math.min(value.length, count - at)).copy(bytes, at);
    }
    return bytes;
  }

  /** The next bytes as they come; fewer when the stream ends before. They must all be taken before anything else is. */
  async *pass(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (this.rest.length === 0) {
        const { done, value } = await this.chunks.next();
        if (done) return;
        this.rest = value;
      }
      const piece = this.split(Math.min(this.rest.length, left));
      left -= piece.length;
      yield piece;
    }
  }

  private split(count: number): Buffer {
    const bytes = this.rest.subarray(0, count);
    this.rest = this.rest.subarray(count);
    return bytes;
  }
}
