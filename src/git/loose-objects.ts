/**
 * The files of loose objects: reading them, and compressing what isomorphic-git is to write. Its own reading takes a third
 * of a millisecond for the smallest object, and blocks the process for half a second for one of 50 MiB. Here large objects
 * are hashed in blocks, and compressed and inflated on another thread.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createDeflate, createInflate, deflateSync, inflateSync } from 'node:zlib';
import { hashInBlocks } from '../lib/hash.ts';
import type { AtomicFs } from './atomic-fs.ts';
import { damagedRepository, unlessAbsent } from './disk-errors.ts';

/** Up to so many bytes, compressing or inflating takes less time here than handing the work to another thread. */
const SMALL = 16_384;
/** A small file whose inflated bytes exceed this is inflated on another thread. */
const SMALL_INFLATED = 256 * 1024;
/** Bytes that another thread compresses or inflates at once, and that this one copies at once. */
const CHUNK = 256 * 1024;
/** The largest object that is read: one buffer must hold it. */
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

/** An object whose bytes come in pieces, only once. */
export interface StreamedObject {
  oid: string;
  type: string;
  /** The bytes of the content. */
  size: number;
  chunks: AsyncIterable<Buffer>;
}

export async function wrapObject(type: string, content: Uint8Array): Promise<WrappedObject> {
  const header = Buffer.from(`${type} ${content.byteLength}\0`);
  return { oid: await hashInBlocks('sha1', header, content), header, content };
}

export async function idOf(type: string, content: Uint8Array): Promise<string> {
  return (await wrapObject(type, content)).oid;
}

/** The id that a file of these bytes has. */
export function blobIdOf(content: Uint8Array): Promise<string> {
  return idOf('blob', content);
}

/** The content of an object's file, in one piece or, for a large object, in several that were made on another thread. */
export async function deflateObject({ header, content }: WrappedObject): Promise<Buffer | Buffer[]> {
  if (content.byteLength > SMALL) return deflateAside(header, content);
  return deflateSync(Buffer.concat([header, content]));
}

/** The pieces are not joined, which would take as much memory again. */
async function deflateAside(header: Buffer, content: Uint8Array): Promise<Buffer[]> {
  const deflater = createDeflate({ chunkSize: CHUNK });
  deflater.write(header);
  deflater.end(content);
  const pieces: Buffer[] = [];
  for await (const piece of deflater as AsyncIterable<Buffer>) pieces.push(piece);
  return pieces;
}

/**
 * The content of the file of an object whose bytes come in pieces. The last piece is given once the hash of all was
 * compared with the id.
 * @throws HawserError `repository_damaged` where the bytes are not those that the id says
 */
export async function* deflateStream({ oid, type, size, chunks }: StreamedObject): AsyncGenerator<Buffer> {
  const hash = createHash('sha1');
  const deflater = createDeflate({ chunkSize: CHUNK });
  const hashed = async function* () {
    yield Buffer.from(`${type} ${size}\0`);
    yield* chunks;
  };
  const note = async function* (pieces: AsyncIterable<Buffer>) {
    for await (const piece of pieces) {
      hash.update(piece);
      yield piece;
    }
    if (hash.digest('hex') !== oid)
      throw damagedRepository(new Error(`the object ${oid} holds something else`));
  };
  const work = pipeline(hashed, note, deflater);
  work.catch(() => undefined);
  yield* deflater as AsyncIterable<Buffer>;
  await work;
}

/**
 * A loose object, whose hash has been compared with its id; null when there is no such file.
 * @param isNow whether a small file is read without a promise. That is for writers: a reader who comes after a start may
 *   have to wait for the disk.
 * @throws Error when the file cannot be read, or does not hold this object
 */
export async function readLooseObject(
  fs: AtomicFs,
  gitdir: string,
  oid: string,
  isNow = false,
): Promise<ObjectContent | null> {
  const path = loosePath(gitdir, oid);
  const size = fs.lstatNow(path)?.size;
  if (size === undefined) return null;
  // A gc may have moved the object into a pack meanwhile.
  const inflated = await unlessAbsent(inflateFile(fs, path, { isSmall: size <= SMALL, isNow }), null);
  if (inflated === null) return null;
  const { bytes, start } = inflated;
  if ((await hashInBlocks('sha1', bytes)) !== oid)
    throw new Error(`The file of the object ${oid} holds something else`);
  return { type: bytes.toString('latin1', 0, bytes.indexOf(0x20)), content: bytes.subarray(start) };
}

export interface Inflated {
  /** The whole object, its header included. */
  bytes: Buffer;
  /** The offset at which the content starts. */
  start: number;
}

async function inflateFile(
  fs: AtomicFs,
  path: string,
  { isSmall, isNow }: { isSmall: boolean; isNow: boolean },
): Promise<Inflated> {
  const file = isSmall ? ((isNow ? fs.readNow(path) : null) ?? (await fs.readFile(path))) : null;
  const small = file && inflateSmall(file);
  return small ?? inflateAside(fs.readStream(path));
}

/**
 * The object in a file's bytes, which are given in pieces.
 * @throws Error when they are not those of an object
 */
export async function inflateObject(pieces: readonly Buffer[]): Promise<Inflated> {
  const [first] = pieces;
  const small = pieces.length === 1 && first && first.length <= SMALL ? inflateSmall(first) : null;
  return small ?? inflateAside(Readable.from(pieces));
}

/** Null when the result would be large. */
function inflateSmall(file: Buffer): Inflated | null {
  try {
    const bytes = inflateSync(file, { maxOutputLength: SMALL_INFLATED });
    return { bytes, start: bytes.indexOf(0) + 1 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return null;
    throw error;
  }
}

/** Inflates into one buffer whose size the header tells. The file is read in pieces. */
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
