/**
 * Hashes of passwords that came from another server: PBKDF2 with HMAC-SHA-256, as OpenDSC makes them. They stand in the same
 * column as ours and begin with the name of the algorithm, which no hash of ours does, because ours are base64.
 */

import { pbkdf2, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import type { Db } from '../db/database.ts';

const derive = promisify(pbkdf2);

const ROUNDS = 100_000;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const NAME = 'pbkdf2-sha256';
/** Which hashes are of this kind, as a pattern of SQL. */
const IMPORTED_HASHES = `${NAME}$%`;
const STORED = /^pbkdf2-sha256\$100000\$([A-Za-z0-9+/]{22}==)\$([A-Za-z0-9+/]{43}=)$/;

export interface ImportedHash {
  salt: Buffer;
  hash: Buffer;
}

/** What is checked where there is no such hash. No password has it, as far as anybody knows. */
const NOBODYS: ImportedHash = { salt: Buffer.alloc(SALT_BYTES), hash: Buffer.alloc(HASH_BYTES) };

/**
 * The text to be stored for a password of a user who comes from OpenDSC: `pbkdf2-sha256$100000$<salt>$<hash>`, both in base64.
 * @param salt 16 bytes
 * @param hash 32 bytes, made by 100,000 rounds
 * @throws RangeError where one of the two has another length
 */
export function importedPasswordHash(salt: Uint8Array, hash: Uint8Array): string {
  if (salt.length !== SALT_BYTES) throw new RangeError('The salt of the password must have 16 bytes.');
  if (hash.length !== HASH_BYTES) throw new RangeError('The hash of the password must have 32 bytes.');
  const [first, second] = [salt, hash].map((bytes) => Buffer.from(bytes).toString('base64'));
  return [NAME, ROUNDS, first, second].join('$');
}

/** Null where the stored text is a hash of ours. */
export function readImportedHash(stored: string): ImportedHash | null {
  const [, salt, hash] = STORED.exec(stored) ?? [];
  if (salt === undefined || hash === undefined) return null;
  return { salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}

/**
 * Whether the password belongs to the hash. The password counts as it was typed: the other server did not normalize it.
 * @param imported null does the same work in vain
 */
export async function fitsImportedHash(password: string, imported: ImportedHash | null): Promise<boolean> {
  const { salt, hash } = imported ?? NOBODYS;
  const derived = await derive(password, salt, ROUNDS, HASH_BYTES, 'sha256');
  return timingSafeEqual(derived, hash) && imported !== null;
}

/** Whether any user still has a password from another server. Users are few, and a hash takes a thousand times as long. */
export async function hasImportedPasswords(db: Db): Promise<boolean> {
  const users = db.selectFrom('users').select('id').where('password_hash', 'like', IMPORTED_HASHES);
  return (await users.limit(1).executeTakeFirst()) !== undefined;
}
