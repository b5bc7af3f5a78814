/** Identifiers: random UUIDs in lower case, and secrets that name a session, a token or a key. */

import { createHash, randomBytes, randomUUID } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const FIRST_COUNT = 10_000_000;
const LAST_COUNT = 99_999_999;

export function newId(): string {
  return randomUUID();
}

/**
 * Ids that only have to differ, among all processes: a random part of its own for each maker and a count behind it
 * (UUIDv8, RFC 9562 5.8). They can be guessed; to make one takes a tenth of what a random one takes.
 */
export function makeIdCounter(): () => string {
  let own = '';
  // Always of eight digits, and small enough for V8 to write it out fast.
  let count = LAST_COUNT;
  return () => {
    if (count === LAST_COUNT) {
      own = formatId(randomBytes(16), 8).slice(0, -8);
      count = FIRST_COUNT;
    }
    count += 1;
    return own + count;
  };
}

/**
 * An id that begins with its time (UUIDv7, RFC 9562 5.7), for tables of many rows: new ones stand together at the end
 * of the index, where a random one would touch a page of its own.
 * @param now epoch milliseconds
 */
export function newOrderedId(now: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  return formatId(bytes, 7);
}

/** Whether the text is a UUID in the canonical lower-case form that Hawser gives out (RFC 9562). */
export function isId(text: string): boolean {
  return UUID.test(text);
}

/** A secret of 256 random bits as 43 characters of base64url, behind an optional prefix. */
export function newSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url');
}

/**
 * An id made from what names a thing, for things without a row (UUIDv5, RFC 9562 5.5).
 * @param namespace the id of what the thing belongs to
 */
export function nameBasedId(namespace: string, name: string): string {
  const space = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  return formatId(createHash('sha1').update(space).update(name).digest().subarray(0, 16), 5);
}

/** Writes version and variant into 16 bytes (RFC 9562 4). */
function formatId(bytes: Buffer, version: number): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | (version << 4), 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
