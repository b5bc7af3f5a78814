/**
 * Reads loose objects. isomorphic-git unpacks them in JavaScript and in one go, so that a large one would hold up
 * everybody for half a second; here another thread unpacks, and what is left to do here is done a slice at a time.
 */

import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { createInflate, inflateSync } from 'node:zlib';
import { SLICE } from '../lib/slices.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { unlessAbsent } from './disk-errors.ts';

export interface LooseObject {
  type: 'blob' | 'tree' | 'commit' | 'tag';
  content: Buffer;
}

/** Compressed bytes up to which it takes less time to unpack an object than to have it done. */
const SMALL = 64 * 1024;
/** `commit`, a blank, the size in digits, a NUL. */
const LONGEST_HEADER = 32;

/**
 * @returns null where there is no such file
 * @throws Error when it is broken, or not what its id says; the system's error when it cannot be read
 */
export async function readLooseObject(fs: AtomicFs, path: string, oid: string): Promise<LooseObject | null> {
  const size = fs.lstatNow(path)?.size;
  if (size === undefined) return null;
  // A gc beside us may have moved it into a pack just now.
  return unlessAbsent(size > SMALL ? unpackAside(fs, path, oid) : unpackHere(fs, path, oid), null);
}

async function unpackHere(fs: AtomicFs, path: string, oid: string): Promise<LooseObject> {
  const unpacked = inflateUpTo(SLICE, await fs.readFile(path));
  // It is as large as it was packed small.
  if (unpacked === null) return unpackAside(fs, path, oid);
  const unpacking = new Unpacking();
  unpacking.add(unpacked);
  return unpacking.finish(oid);
}

/** @returns null of what unpacks to more than the limit */
function inflateUpTo(limit: number, packed: Buffer): Buffer | null {
  try {
    return inflateSync(packed, { maxOutputLength: limit });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw error;
  }
}

async function unpackAside(fs: AtomicFs, path: string, oid: string): Promise<LooseObject> {
  const unpacking = new Unpacking();
  await pipeline(fs.readStream(path), createInflate({ chunkSize: SLICE }), async (chunks) => {
    for await (const chunk of chunks as AsyncIterable<Buffer>) unpacking.add(chunk);
  });
  return unpacking.finish(oid);
}

/** Puts an object together from unpacked bytes as they come, and hashes them. */
class Unpacking {
  private readonly hash = createHash('sha1');
  private header = Buffer.alloc(0);
  private object: LooseObject | undefined;
  private filled = 0;

  add(chunk: Buffer): void {
    this.hash.update(chunk);
    if (this.object) this.fill(this.object, chunk);
    else this.begin(chunk);
  }

  finish(oid: string): LooseObject {
    const { object, filled, hash } = this;
    if (!object || filled !== object.content.length) throw new Error('a loose object is cut off');
    if (hash.digest('hex') !== oid) throw new Error('a loose object is not what its id says');
    return object;
  }

  private begin(chunk: Buffer): void {
    this.header = Buffer.concat([this.header, chunk.subarray(0, LONGEST_HEADER)]);
    const end = this.header.indexOf(0);
    if (end === -1 && this.header.length < LONGEST_HEADER) return;
    const match = /^(blob|tree|commit|tag) (\d{1,15})$/.exec(
      this.header.toString('latin1', 0, Math.max(0, end)),
    );
    if (!match) throw new Error('a loose object has no valid header');
    this.object = {
      type: match[1] as LooseObject['type'],
      content: Buffer.allocUnsafeSlow(Number(match[2])),
    };
    const before = this.header.length - Math.min(chunk.length, LONGEST_HEADER);
    this.fill(this.object, chunk.subarray(end + 1 - before));
  }

  private fill({ content }: LooseObject, chunk: Buffer): void {
    if (this.filled + chunk.length > content.length) throw new Error('a loose object is longer than it says');
    this.filled += chunk.copy(content, this.filled);
  }
}
