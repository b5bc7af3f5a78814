/** Writes a binary change as git does (emit_binary_diff_body in git's diff.c): whole contents, deflated, in base 85. */

import { deflateSync } from 'node:zlib';

/** Git's digits of base 85 (base85.c). */
const DIGITS = Buffer.from(
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~',
);
/** A line holds so many bytes. Its first letter says how many. */
const LINE = 52;
const LF = 0x0a;

/** What turns the one content into the other, and back. A file that is not there has no bytes. */
export function binaryPatch(before: Buffer, after: Buffer): Buffer {
  return Buffer.concat([Buffer.from('GIT binary patch\n'), literal(after), literal(before)]);
}

function literal(content: Buffer): Buffer {
  const deflated = deflateSync(content);
  const head = Buffer.from(`literal ${content.length}\n`);
  const whole = Math.ceil(deflated.length / LINE);
  const out = Buffer.allocUnsafe(head.length + whole * (Math.ceil(LINE / 4) * 5 + 2) + 1);
  let at = head.copy(out);
  for (let start = 0; start < deflated.length; start += LINE)
    at = writeLine(out, at, deflated.subarray(start, start + LINE));
  out[at] = LF;
  return out.subarray(0, at + 1);
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
