/** Writes a binary change as git does (emit_binary_diff_body in git's diff.c): whole contents, deflated, in base 85. */

import { createDeflate } from 'node:zlib';

/** Git's digits of base 85 (base85.c). */
const DIGITS = Buffer.from(
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~',
);
/** A line holds so many bytes. Its first letter says how many. */
const LINE = 52;
const LF = 0x0a;
/** So many deflated bytes are written out at once. */
const PIECE = 256 * 1024;
/** The least that zlib takes for a piece. */
const LEAST = 64;

/** What turns the one content into the other, and back, in pieces. A file that is not there has no bytes. */
export async function* binaryPatch(before: Buffer, after: Buffer): AsyncGenerator<Buffer> {
  yield Buffer.from('GIT binary patch\n');
  yield* literal(after);
  yield* literal(before);
}

async function* literal(content: Buffer): AsyncGenerator<Buffer> {
  yield Buffer.from(`literal ${content.length}\n`);
  const deflater = createDeflate({ chunkSize: Math.min(PIECE, LEAST + content.length) });
  deflater.end(content);
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of deflater as AsyncIterable<Buffer>) {
    const deflated = Buffer.concat([rest, piece]);
    const whole = deflated.length - (deflated.length % LINE);
    yield linesOf(deflated.subarray(0, whole));
    rest = deflated.subarray(whole);
  }
  yield linesOf(rest);
  yield Buffer.from('\n');
}

function linesOf(bytes: Buffer): Buffer {
  const lines = Math.ceil(bytes.length / LINE);
  const out = Buffer.allocUnsafe(lines * (Math.ceil(LINE / 4) * 5 + 2));
  let at = 0;
  for (let start = 0; start < bytes.length; start += LINE)
    at = writeLine(out, at, bytes.subarray(start, start + LINE));
  return out.subarray(0, at);
}

/** @returns where the line ends */
function writeLine(out: Buffer, start: number, bytes: Buffer): number {
  out[start] = bytes.length <= 26 ? 0x40 + bytes.length : 0x60 + bytes.length - 26;
  let at = start + 1;
  for (let from = 0; from < bytes.length; from += 4) {
    // The bytes that are missing at the end count as zeros.
    let rest = 0;
    for (let place = from; place < from + 4; place += 1) rest = rest * 256 + (bytes[place] ?? 0);
    for (let digit = 4; digit >= 0; digit -= 1) {
      out[at + digit] = DIGITS[rest % 85] as number;
      rest = Math.floor(rest / 85);
    }
    at += 5;
  }
  out[at] = LF;
  return at + 1;
}
