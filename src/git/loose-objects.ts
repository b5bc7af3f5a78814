/**
 * Loose objects, read and written by our own hand: isomorphic-git takes a third of a millisecond for the smallest, and
 * holds everybody up for half a second over one of 50 MiB. Large ones are gone through in blocks.
 */

import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createDeflate, createInflate, deflateSync, inflateSync } from 'node:zlib';
import { hashInBlocks } from '../lib/hash.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { unlessAbsent } from './disk-errors.ts';

/** Bytes up to which it takes less time to compress or inflate an object than to have it done on another thread. */
const SMALL = 16_384;
/** What small ones may become. */
const SMALL_INFLATED = 256 * 1024;
/** Bytes that are compressed or inflated in one go on another thread, and copied in one go on this one. */
const CHUNK = 256 * 1024;
/** What a repository may hold, and we can have in memory. */
const MAX_BYTES = 2 ** 31;

export interface ObjectContent {
  type: string;
  content: Buffer;
}

/** An object with the header that Git hashes before the content. */
export interface WrappedObject {
  oid: string;
  header: Buffer;
  content: Uint8Array;
}

export async function wrapObject(type: string, content: Uint8Array): Promise<WrappedObject> {
  const header = Buffer.from(`${type} ${content.byteLength}\0`);
  return { oid: await hashInBlocks('sha1', header, content), header, content };
}

/** Flushed. */
export async function writeLoose(
  fs: AtomicFs,
  gitdir: string,
  { oid, header, content }: WrappedObject,
): Promise<void> {
  const isSmall = content.byteLength <= SMALL;
  const deflated = isSmall
    ? [deflateSync(Buffer.concat([header, content]))]
    : await deflateAside(header, content);
  await fs.writeFile(loosePath(gitdir, oid), deflated);
}

/** In pieces, as they come: to join them would take as much memory again. */
async function deflateAside(header: Buffer, content: Uint8Array): Promise<Buffer[]> {
  const deflater = createDeflate({ chunkSize: CHUNK });
  const pieces: Buffer[] = [];
  deflater.on('data', (piece: Buffer) => pieces.push(piece));
  const done = new Promise<void>((resolve, reject) => {
    deflater.once('end', resolve).once('error', reject);
  });
  deflater.write(header);
  deflater.end(content);
  await done;
  return pieces;
}

/**
 * Null when there is no such file. What it holds has been hashed.
 * @throws Error for a file that cannot be read, or does not hold this object
 */
export async function readLoose(fs: AtomicFs, gitdir: string, oid: string): Promise<ObjectContent | null> {
  const path = loosePath(gitdir, oid);
  const size = fs.lstatNow(path)?.size;
  if (size === undefined) return null;
  // A gc beside us may have moved it into a pack just now.
  const inflated = await unlessAbsent(inflateFile(fs, path, size <= SMALL), null);
  if (inflated === null) return null;
  const { bytes, start } = inflated;
  if ((await hashInBlocks('sha1', bytes)) !== oid)
    throw new Error(`The file of the object ${oid} holds something else`);
  return { type: bytes.toString('latin1', 0, bytes.indexOf(0x20)), content: bytes.subarray(start) };
}

interface Inflated {
  /** The whole object, its header included. */
  bytes: Buffer;
  /** The offset at which the content starts. */
  start: number;
}

async function inflateFile(fs: AtomicFs, path: string, isSmall: boolean): Promise<Inflated> {
  const small = isSmall ? inflateSmall(await fs.readFile(path)) : null;
  return small ?? inflateAside(fs.readStream(path));
}

/** Null for what becomes large. */
function inflateSmall(file: Buffer): Inflated | null {
  try {
    const bytes = inflateSync(file, { maxOutputLength: SMALL_INFLATED });
    return { bytes, start: bytes.indexOf(0) + 1 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw error;
  }
}

/** Into one buffer from the start, as large as the header says; of the file no more than a piece at a time. */
async function inflateAside(file: Readable): Promise<Inflated> {
  const inflater = createInflate({ chunkSize: CHUNK });
  file.on('error', (error) => inflater.destroy(error)).pipe(inflater);
  let bytes = Buffer.alloc(0);
  let [start, at] = [0, 0];
  for await (const chunk of inflater as AsyncIterable<Buffer>) {
    if (start === 0) {
      start = chunk.indexOf(0) + 1;
      const size = Number(/^\w+ (\d+)$/.exec(chunk.toString('latin1', 0, Math.max(0, start - 1)))?.[1]);
      if (!(size < MAX_BYTES)) throw new Error('The object has no header, or is too large');
      bytes = Buffer.allocUnsafeSlow(start + size);
    }
    if (at + chunk.length > bytes.length) throw new Error('The object is longer than its header says');
    at += chunk.copy(bytes, at);
  }
  if (at < bytes.length || start === 0) throw new Error('The object is shorter than its header says');
  return { bytes, start };
}

export function loosePath(gitdir: string, oid: string): string {
  return join(gitdir, 'objects', oid.slice(0, 2), oid.slice(2));
}
