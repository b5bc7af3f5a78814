/**
 * Writes a ZIP of stored entries, piece by piece. By hand, because each entry's header holds the CRC-32 of its content:
 * yazl finds that out in one go, in JavaScript, or else writes it behind the content, which makes other bytes
 * (docs/decisions/0027). The bytes are those that yazl makes of the same entries, ZIP64 included
 * (APPNOTE.TXT 6.3, 4.3 and 4.5.3).
 */

import { crc32 } from 'node:zlib';
import { Pace, slicesOf } from '../lib/slices.ts';

export interface ZipEntry {
  /** With `/` between its segments. */
  path: string;
  read(): Promise<Buffer>;
}

const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END = 0x06054b50;
const END_64 = 0x06064b50;
const END_64_LOCATOR = 0x07064b50;
const EXTRA_64 = 0x0001;
const VERSION = 20;
const VERSION_64 = 45;
/** Unix, and the version of the specification. */
const MADE_BY = (3 << 8) | 63;
const NAMES_ARE_UTF8 = 1 << 11;
/** 1980-01-01 00:00 in DOS form, the first moment that there is. */
const DATE = (1 << 5) | 1;
/** A regular file, 0644. */
const ATTRIBUTES = (0o100644 << 16) >>> 0;
const MAX_16 = 0xffff;
const MAX_32 = 0xffffffff;
/** Bytes of central headers that are handed on as one piece, about. */
const BATCH = 64 * 1024;

interface Written {
  name: Buffer;
  crc: number;
  size: number;
  /** Of its local header. */
  offset: number;
}

/**
 * @param entries in their final order, each read when its turn has come and held until it is written
 * @returns pieces of at most `SLICE` bytes of content; others get their turn between them
 */
export async function* writeStoredZip(entries: Iterable<ZipEntry>): AsyncGenerator<Buffer> {
  const pace = new Pace();
  const written: Written[] = [];
  let offset = 0;
  for (const { path, read } of entries) {
    const content = await read();
    const entry = {
      name: Buffer.from(path),
      crc: await checksumOf(content, pace),
      size: content.length,
      offset,
    };
    written.push(entry);
    const header = localHeader(entry);
    yield header;
    for (const slice of slicesOf(content)) {
      await pace.after(slice.length);
      yield slice;
    }
    offset += header.length + content.length;
  }
  yield* centralDirectory(written, offset, pace);
}

async function* centralDirectory(
  written: readonly Written[],
  start: number,
  pace: Pace,
): AsyncGenerator<Buffer> {
  let size = 0;
  let batch: Buffer[] = [];
  let batched = 0;
  for (const entry of written) {
    const header = centralHeader(entry);
    batch.push(header);
    batched += header.length;
    size += header.length;
    if (batched < BATCH) continue;
    yield Buffer.concat(batch);
    await pace.after(batched);
    batch = [];
    batched = 0;
  }
  yield Buffer.concat([...batch, ...endOf({ count: written.length, start, size })]);
}

async function checksumOf(content: Buffer, pace: Pace): Promise<number> {
  let crc = 0;
  for (const slice of slicesOf(content)) {
    crc = crc32(slice, crc);
    await pace.after(slice.length);
  }
  return crc;
}

function localHeader({ name, crc, size }: Written): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(LOCAL_HEADER, 0);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(NAMES_ARE_UTF8, 6);
  header.writeUInt16LE(DATE, 12);
  header.writeUInt32LE(crc, 14);
  header.writeUInt32LE(size, 18);
  header.writeUInt32LE(size, 22);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, name]);
}

function centralHeader({ name, crc, size, offset }: Written): Buffer {
  const isFar = offset >= MAX_32;
  const extra = isFar ? extra64(size, offset) : Buffer.alloc(0);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(CENTRAL_HEADER, 0);
  header.writeUInt16LE(MADE_BY, 4);
  header.writeUInt16LE(isFar ? VERSION_64 : VERSION, 6);
  header.writeUInt16LE(NAMES_ARE_UTF8, 8);
  header.writeUInt16LE(DATE, 14);
  header.writeUInt32LE(crc, 16);
  header.writeUInt32LE(isFar ? MAX_32 : size, 20);
  header.writeUInt32LE(isFar ? MAX_32 : size, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt32LE(ATTRIBUTES, 38);
  header.writeUInt32LE(isFar ? MAX_32 : offset, 42);
  return Buffer.concat([header, name, extra]);
}

function extra64(size: number, offset: number): Buffer {
  const extra = Buffer.alloc(28);
  extra.writeUInt16LE(EXTRA_64, 0);
  extra.writeUInt16LE(extra.length - 4, 2);
  extra.writeBigUInt64LE(BigInt(size), 4);
  extra.writeBigUInt64LE(BigInt(size), 12);
  extra.writeBigUInt64LE(BigInt(offset), 20);
  return extra;
}

/** Of the central directory: how many entries, where it starts, and how many bytes it has. */
interface Directory {
  count: number;
  start: number;
  size: number;
}

function endOf(directory: Directory): Buffer[] {
  const { count, start, size } = directory;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(Math.min(count, MAX_16), 8);
  end.writeUInt16LE(Math.min(count, MAX_16), 10);
  end.writeUInt32LE(Math.min(size, MAX_32), 12);
  end.writeUInt32LE(Math.min(start, MAX_32), 16);
  const isLarge = count >= MAX_16 || size >= MAX_32 || start >= MAX_32;
  return isLarge ? [...end64(directory), end] : [end];
}

function end64({ count, start, size }: Directory): Buffer[] {
  const end = Buffer.alloc(56);
  end.writeUInt32LE(END_64, 0);
  end.writeBigUInt64LE(BigInt(end.length - 12), 4);
  end.writeUInt16LE(MADE_BY, 12);
  end.writeUInt16LE(VERSION_64, 14);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(size), 40);
  end.writeBigUInt64LE(BigInt(start), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(END_64_LOCATOR, 0);
  locator.writeBigUInt64LE(BigInt(start + size), 8);
  locator.writeUInt32LE(1, 16);
  return [end, locator];
}
