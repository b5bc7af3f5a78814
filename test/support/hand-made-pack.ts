/** Packs that are put together by hand, entry by entry (gitformat-pack(5)), so that they may be anything. */

import { createHash } from 'node:crypto';
import { deflateRawSync, deflateSync, constants as zlib } from 'node:zlib';

const MIB = 1024 * 1024;
const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;
const REF_DELTA = 7;
/** The largest number of bytes that one instruction of a delta copies. */
const COPY = 0xff_ff_ff;

export function idOf(type: keyof typeof TYPES, content: Buffer): string {
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');
}

/** A pack of these entries. @param count what its header says */
export function packWith(entries: readonly Buffer[], count = entries.length): Buffer {
  const header = Buffer.alloc(12);
  header.write('PACK');
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(count, 8);
  const body = Buffer.concat([header, ...entries]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** @param size what the entry says of its content, which is the truth unless given */
export function entry(type: keyof typeof TYPES, content: Buffer, size = content.length): Buffer {
  return Buffer.concat([entryHeader(TYPES[type], size), deflateSync(content, { level: 1 })]);
}

/** An entry of a blob of zeros, without the work of compressing them. @param mebibytes a multiple of 16 */
export function zeros(mebibytes: number): Buffer {
  const step = 16 * MIB;
  const part = deflateRawSync(Buffer.alloc(step), { finishFlush: zlib.Z_FULL_FLUSH });
  const size = mebibytes * MIB;
  const adler = Buffer.alloc(4);
  // Both sums of Adler-32, of which zeros move only the second.
  adler.writeUInt16BE(size % 65_521, 0);
  adler.writeUInt16BE(1, 2);
  const parts = Array.from({ length: size / step }, () => part);
  const end = deflateRawSync(Buffer.alloc(0));
  return Buffer.concat([entryHeader(TYPES.blob, size), Buffer.from([0x78, 0x01]), ...parts, end, adler]);
}

/** What a delta makes of its base: pieces of the base, given by offset and length, and new bytes. */
export type Instruction = readonly [offset: number, length: number] | Buffer;

export function refDelta(base: string, baseSize: number, instructions: readonly Instruction[]): Buffer {
  const size = instructions.reduce((sum, one) => sum + (Buffer.isBuffer(one) ? one.length : one[1]), 0);
  const delta = Buffer.concat([varint(baseSize), varint(size), ...instructions.map(instructionBytes)]);
  const header = Buffer.concat([entryHeader(REF_DELTA, delta.length), Buffer.from(base, 'hex')]);
  return Buffer.concat([header, deflateSync(delta, { level: 1 })]);
}

function instructionBytes(one: Instruction): Buffer {
  if (Buffer.isBuffer(one)) return Buffer.concat([Buffer.from([one.length]), one]);
  const copies: Buffer[] = [];
  for (let [offset, left] = one; left > 0; ) {
    const length = Math.min(left, COPY);
    const bytes = Buffer.alloc(8, 0xff);
    bytes.writeUInt32LE(offset, 1);
    bytes.writeUIntLE(length, 5, 3);
    copies.push(bytes);
    offset += length;
    left -= length;
  }
  return Buffer.concat(copies);
}

/** The type and the size of an entry: four bits of the size, then seven in each byte (gitformat-pack(5)). */
function entryHeader(type: number, size: number): Buffer {
  const rest = Math.floor(size / 16);
  const first = (type << 4) | (size % 16);
  return rest === 0 ? Buffer.from([first]) : Buffer.concat([Buffer.from([first | 0x80]), varint(rest)]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** The content of a tree. */
export function tree(...entries: (readonly [mode: string, name: string, oid: string])[]): Buffer {
  const parts = entries.map(([mode, name, oid]) => [
    Buffer.from(`${mode} ${name}\0`),
    Buffer.from(oid, 'hex'),
  ]);
  return Buffer.concat(parts.flat());
}
