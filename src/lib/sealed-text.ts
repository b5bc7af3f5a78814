/**
 * The cryptography of secrets, all of it: AES-256-GCM (NIST SP 800-38D), HMAC-SHA-256, SHA-256 and random bytes of node:crypto.
 * A sealed text is `ENC[<keyId>,<base64>]`, where the base64 is of nonce, ciphertext and tag.
 */

import { isUtf8 } from 'node:buffer';
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { conflict, HawserError } from './errors.ts';
import { sha256Hex } from './hash.ts';
import { Plaintext } from './plaintext.ts';

const CIPHER = 'aes-256-gcm';
/** Bytes. */
const KEY = 32;
const NONCE = 12;
const TAG = 16;
/** Plaintexts are filled up to a multiple of so many bytes, as the length would tell `true` from `false`. */
const BLOCK = 64;
const SPACE = 0x20;
const KEY_ID_DIGITS = 16;

const FORM = /^ENC\[([0-9a-f]{16}),([A-Za-z0-9+/]+={0,2})\]$/;

/** A key of the site. A `KeyObject` shows its bytes neither to JSON nor to a log, and can be sent to a thread. */
export interface SecretKey {
  /** 16 hex digits, which tell nothing of the bytes. */
  readonly id: string;
  readonly key: KeyObject;
}

/** The key of evidence, under which a file with secrets stands in a manifest. */
export interface EvidenceKey {
  readonly key: KeyObject;
}

/** All that opens secrets and makes evidence of them. It can be sent to a thread. */
export interface SecretKeys {
  /** The one that encrypts comes first. */
  readonly keys: readonly SecretKey[];
  /** Null before the first secret, and where no key opens it. */
  readonly evidence: EvidenceKey | null;
  /** The id of the key that opens it; null before the first secret. */
  readonly evidenceKeyId: string | null;
}

/** Where a sealed text stands. It opens nowhere else. Names may change, so these are ids. */
export interface SecretPlace {
  configurationId: string;
  scopeTypeId: string;
  /** The id of the scope value or of the node; empty for Default. */
  ownerId: string;
  /** JSON Pointer from the root of the document (RFC 6901). */
  pointer: string;
}

/** @param bytes 32 of them */
export function secretKey(bytes: Buffer): SecretKey {
  if (bytes.length !== KEY) throw new RangeError(`A key has ${KEY} bytes`);
  const id = sha256Hex(Buffer.concat([Buffer.from('hawser-secrets-key:'), bytes])).slice(0, KEY_ID_DIGITS);
  return { id, key: createSecretKey(bytes) };
}

/** The base64 of 32 random bytes: a line of a key file. */
export function newKeyLine(): string {
  return randomBytes(KEY).toString('base64');
}

/** The id of the key that a text names; null unless the text is wholly `ENC[<keyId>,<base64>]`. */
export function sealedKeyId(text: string): string | null {
  return FORM.exec(text)?.[1] ?? null;
}

/** Encrypts with a new nonce, so equal values get different texts. */
export function seal(key: SecretKey, place: SecretPlace, plaintext: Plaintext): string {
  const json = Buffer.from(plaintext.reveal());
  const padded = Buffer.alloc(Math.ceil(json.length / BLOCK) * BLOCK, SPACE);
  json.copy(padded);
  return encrypt(key, boundTo(place), padded);
}

/**
 * Decrypts a text at its place.
 * @throws HawserError conflict `secret_unreadable` for another key or place, for a text that was changed, and for one that
 *   holds no JSON value
 */
export function open(key: SecretKey, place: SecretPlace, text: string): Plaintext {
  const padded = decrypt(key, boundTo(place), text);
  if (padded === null || !isUtf8(padded)) throw unreadable(place);
  const json = padded.toString().trimEnd();
  try {
    JSON.parse(json);
  } catch {
    // The error of JSON.parse quotes the value.
    throw unreadable(place);
  }
  return new Plaintext(json);
}

/** The number of seconds after which a caller may try again. Somebody has to bring a key. */
const RETRY_AFTER_KEY = 60;

/**
 * The key of evidence of these keys.
 * @throws HawserError unavailable `secret_key_missing`
 */
export function requireEvidence({ evidence, evidenceKeyId }: SecretKeys): EvidenceKey {
  if (evidence !== null) return evidence;
  throw secretKeyMissing(evidenceKeyId ?? 'that opens the key of checksums');
}

/** The error for a secret whose key this server does not have. */
export function secretKeyMissing(id: string, where = 'this server does not have'): HawserError {
  const message = `The key ${id} of secrets is needed, which ${where}: an administrator must put it into the key file`;
  return new HawserError('unavailable', 'secret_key_missing', message, {
    data: { keyId: id },
    retryAfter: RETRY_AFTER_KEY,
  });
}

function unreadable({ pointer }: SecretPlace): HawserError {
  const message = `The encrypted text at ${pointer} cannot be opened there: it was changed, or encrypted for another place`;
  return conflict('secret_unreadable', message, { path: pointer });
}

function boundTo({ configurationId, scopeTypeId, ownerId, pointer }: SecretPlace): string {
  return ['hawser-secret/1', configurationId, scopeTypeId, ownerId, pointer].join('\n');
}

export function newEvidenceKey(): EvidenceKey {
  return { key: createSecretKey(randomBytes(KEY)) };
}

/** What a file with secrets is known by, as 64 hex digits. Without the key it lets nobody try passwords. */
export function evidenceOf({ key }: EvidenceKey, bytes: Uint8Array): string {
  return createHmac('sha256', key).update(bytes).digest('hex');
}

/** It differs from what `boundTo` gives for any place, so no text of a file opens as the key of evidence. */
const EVIDENCE = 'hawser-evidence-key/1';

export function sealEvidenceKey(key: SecretKey, evidence: EvidenceKey): string {
  return encrypt(key, EVIDENCE, evidence.key.export());
}

/** @returns null for another key, and for a text that was changed */
export function openEvidenceKey(key: SecretKey, text: string): EvidenceKey | null {
  const bytes = decrypt(key, EVIDENCE, text);
  return bytes?.length === KEY ? { key: createSecretKey(bytes) } : null;
}

/** Encrypts the pieces of one file of this process. The key is made for the file, and is in memory alone. */
export class FileSeal {
  /** Bytes that a piece takes beyond its own. */
  static readonly overhead = TAG;
  private readonly key = createSecretKey(randomBytes(KEY));

  /** @param number of the piece; each is given once */
  seal(piece: Uint8Array, number: number): Buffer {
    const cipher = createCipheriv(CIPHER, this.key, nonceOf(number), { authTagLength: TAG });
    return Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()]);
  }

  /** @throws Error for a piece that was changed, or has another number */
  open(sealed: Uint8Array, number: number): Buffer {
    const decipher = createDecipheriv(CIPHER, this.key, nonceOf(number), { authTagLength: TAG });
    decipher.setAuthTag(sealed.subarray(-TAG));
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG)), decipher.final()]);
  }
}

function nonceOf(number: number): Buffer {
  const nonce = Buffer.alloc(NONCE);
  nonce.writeUIntBE(number, NONCE - 6, 6);
  return nonce;
}

function encrypt({ id, key }: SecretKey, boundTo: string, bytes: Buffer): string {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG });
  cipher.setAAD(Buffer.from(boundTo));
  const parts = [nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()];
  return `ENC[${id},${Buffer.concat(parts).toString('base64')}]`;
}

function decrypt({ id, key }: SecretKey, boundTo: string, text: string): Buffer | null {
  const [, keyId, base64 = ''] = FORM.exec(text) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  // Two texts must not stand for the same bytes.
  if (keyId !== id || bytes.length <= NONCE + TAG || bytes.toString('base64') !== base64) return null;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAAD(Buffer.from(boundTo));
  decipher.setAuthTag(bytes.subarray(-TAG));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]);
  } catch {
    return null;
  }
}
