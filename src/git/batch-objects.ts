/** Reads many objects of a repository, packed ones too, with one run of stock git. */

import type { Readable } from 'node:stream';
import { damagedRepository } from './disk-errors.ts';
import { GitProcess } from './git-process.ts';
import type { WrappedObject } from './loose-objects.ts';
import { wrapObject } from './loose-objects.ts';
import type { ObjectType } from './objects.ts';
import type { PackSource } from './repository-export.ts';

export interface TypedObject extends WrappedObject {
  type: ObjectType;
}

const LINE_FEED = 0x0a;

/**
 * Gives the objects with these ids, or all that the repository has. The bytes of each are those that its id says.
 * @throws HawserError `repository_damaged` when one is missing or broken
 */
export async function* readObjects(
  { gitdir, searchPath }: PackSource,
  oids: readonly string[] | 'all',
): AsyncGenerator<TypedObject> {
  const which = oids === 'all' ? ['--batch-all-objects', '--unordered'] : [];
  const args = [`--git-dir=${gitdir}`, 'cat-file', '--batch', ...which];
  const process = new GitProcess({ searchPath, args });
  process.stdin.end(oids === 'all' ? '' : oids.map((oid) => `${oid}\n`).join(''));
  try {
    const output = new ByteReader(process.stdout);
    for (let line = await output.line(); line !== null; line = await output.line())
      yield await readObject(output, line);
    const { code, error, stderr } = await process.ended;
    if (error) throw error;
    if (code !== 0) throw damagedRepository(new Error(stderr.trim() || `git ended with code ${code}`));
  } finally {
    process.stop();
  }
}

async function readObject(output: ByteReader, line: string): Promise<TypedObject> {
  const [, oid, type, size] = /^([0-9a-f]{40}) (blob|tree|commit|tag) (\d+)$/.exec(line) ?? [];
  if (type === undefined) throw damagedRepository(new Error(line));
  const content = await output.bytes(Number(size));
  await output.bytes(1);
  const object = await wrapObject(type, content);
  if (object.oid !== oid) throw damagedRepository(new Error(`the object ${oid} holds something else`));
  return { ...object, type: type as ObjectType };
}

class ByteReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  /** A line without its end; null at the end of the stream. */
  async line(): Promise<string | null> {
    for (;;) {
      const end = this.rest.indexOf(LINE_FEED);
      if (end >= 0) return (await this.bytes(end + 1)).toString('latin1', 0, end);
      const chunk = await this.next();
      if (chunk === null) return null;
      this.rest = Buffer.concat([this.rest, chunk]);
    }
  }

  async bytes(count: number): Promise<Buffer> {
    const pieces = [this.rest];
    let length = this.rest.length;
    while (length < count) {
      const chunk = await this.next();
      if (chunk === null) throw damagedRepository(new Error('git ended too early'));
      pieces.push(chunk);
      length += chunk.length;
    }
    const all = pieces.length === 1 ? this.rest : Buffer.concat(pieces);
    this.rest = all.subarray(count);
    return all.subarray(0, count);
  }

  private async next(): Promise<Buffer | null> {
    const { done, value } = await this.chunks.next();
    return done ? null : value;
  }
}
