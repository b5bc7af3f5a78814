/** Identifiers: random UUIDs in lower case, and secrets that name a session, a token or a key. */

import { createHash, randomBytes, randomUUID } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const FIRST_COUNT = 10_000_000;
const LAST_COUNT = 99_999_999;

export function newId(): string {
  return randomUUID();
}

/**
 * Makes ids that only have to differ, also between processes. Each maker has a random part of its own and appends a count
 * (UUIDv8, RFC 9562 5.8). The ids can be guessed. Making one takes a tenth of the time of a random one.
 */
export function makeIdCounter(): () => string {
  let own = '';
  // The count always has eight digits, and is small enough for V8 to write it fast.
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
 * Makes an id that begins with its time (UUIDv7, RFC 9562 5.7), for tables with many rows. New ids are together at the end
 * of the index, where random ones would each touch another page.
 * @param now is in epoch milliseconds
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

/** A secret of 256 random bits as 43 characters of base64url, after an optional prefix. */
export function newSecret(prefix = ''): string {
  return prefix + randomBytes(32).toString('base64url');
}

/**
 * Makes an id from a name, for things without a row in the database (UUIDv5, RFC 9562 5.5).
 * @param namespace is the id of what the thing belongs to
 */
export function nameBasedId(namespace: string, name: string): string {
  const space = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  return formatId(createHash('sha1').update(space).update(name).digest().subarray(0, 16), 5);
}

/** Writes the version and the variant of a UUID into 16 bytes (RFC 9562 4). */
function formatId(bytes: Buffer, version: number): string {
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | (version << 4), 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
