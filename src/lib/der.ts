/** Reads values in DER, the encoding of certificates (X.690): a tag, a length, and the content. */

export interface DerValue {
  /** The first byte, such as 0x30 for a sequence. Tags of more than one byte are in no certificate's name. */
  tag: number;
  content: Buffer;
  /** The whole value, with its tag and its length. */
  encoded: Buffer;
}

/**
 * The values that follow one another, such as the members of a sequence.
 * @throws RangeError where the bytes end within a value
 */
export function readDer(bytes: Buffer): DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const { start, end } = boundsAt(bytes, at);
    if (end > bytes.length) throw new RangeError('the value is longer than its bytes');
    values.push({
      tag: bytes.readUInt8(at),
      content: bytes.subarray(start, end),
      encoded: bytes.subarray(at, end),
    });
    at = end;
  }
  return values;
}

/** The object identifier of this content, as numbers with dots between them. */
export function readObjectIdentifier(content: Buffer): string {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of content) {
    number = number * 128 + (byte & 0x7f);
    if ((byte & 0x80) !== 0) continue;
    numbers.push(number);
    number = 0;
  }
  const [joint = 0, ...others] = numbers;
  // The first two numbers are one, and the first of them is at most 2.
  const first = Math.min(Math.floor(joint / 40), 2);
  return [first, joint - first * 40, ...others].join('.');
}

/** A length from 128 on has its own number of bytes before it. */
function boundsAt(bytes: Buffer, at: number): { start: number; end: number } {
  const short = bytes.readUInt8(at + 1);
  if (short < 0x80) return { start: at + 2, end: at + 2 + short };
  const size = short & 0x7f;
  const start = at + 2 + size;
  return { start, end: start + bytes.readUIntBE(at + 2, size) };
}
