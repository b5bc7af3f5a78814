/**
 * Public keys of OpenSSH as bytes (RFC 4253, 5656 and 8709): the kinds that may sign versions. A key is taken in the one
 * form that OpenSSH writes, so two keys are the same if their bytes are.
 */

import { createPublicKey, hash, type JsonWebKey, type KeyObject } from 'node:crypto';

/** The kinds of keys, as they are named in files and in keys. */
export const SSH_KEY_TYPES = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
] as const;
export type SshKeyType = (typeof SSH_KEY_TYPES)[number];

export interface SshPublicKey {
  type: SshKeyType;
  /** The whole key, as it stands in base64 in files. */
  blob: Buffer;
  key: KeyObject;
  /** The bits of an RSA key's modulus; null for other kinds, whose length is their kind's. */
  rsaBits: number | null;
}

export interface Curve {
  type: SshKeyType;
  name: string;
  /** As JSON Web Keys name it. */
  jwk: string;
  /** The bytes of a coordinate. */
  size: number;
  hash: 'sha256' | 'sha384' | 'sha512';
}

const CURVES: readonly Curve[] = [
  { type: 'ecdsa-sha2-nistp256', name: 'nistp256', jwk: 'P-256', size: 32, hash: 'sha256' },
  { type: 'ecdsa-sha2-nistp384', name: 'nistp384', jwk: 'P-384', size: 48, hash: 'sha384' },
  { type: 'ecdsa-sha2-nistp521', name: 'nistp521', jwk: 'P-521', size: 66, hash: 'sha512' },
];

export const ED25519_BYTES = 32;
/** OpenSSH's own limit, which bounds how long a check may take. */
const MAX_RSA_BITS = 16_384;
/** Longer public exponents only make checks slow. */
const MAX_EXPONENT_BYTES = 8;
const UNCOMPRESSED = 0x04;

/** The bytes are not what they should be. The message says why, and holds nothing of the bytes. */
export class SshFormatError extends Error {}

/** Takes values off the front of bytes that somebody else wrote. Each read checks that the bytes are there. */
export class SshReader {
  private readonly bytes: Buffer;
  private at = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  take(length: number): Buffer {
    if (length > this.bytes.length - this.at) throw new SshFormatError('the bytes end too early');
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  uint32(): number {
    return this.take(4).readUInt32BE();
  }

  string(): Buffer {
    return this.take(this.uint32());
  }

  /** A text of printable ASCII. */
  text(): string {
    const text = this.string().toString('latin1');
    if (!/^[\x20-\x7e]*$/.test(text)) throw new SshFormatError('a name holds other characters than ASCII');
    return text;
  }

  /** A positive number in its shortest form, as the bytes of its value. */
  positive(): Buffer {
    const bytes = this.string();
    const [first = 0, second = 0] = bytes;
    if (bytes.length === 0 || first >= 0x80) throw new SshFormatError('a number is not positive');
    if (first !== 0) return bytes;
    if (second < 0x80) throw new SshFormatError('a number is not in its shortest form');
    return bytes.subarray(1);
  }

  rest(): Buffer {
    return this.take(this.bytes.length - this.at);
  }

  end(): void {
    if (this.at !== this.bytes.length) throw new SshFormatError('there are bytes behind the end');
  }
}

/** A string or bytes with their length before them. */
export function sshString(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** A number, whose bytes are given without sign, in its shortest form. */
export function sshNumber(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const value = first < 0 ? Buffer.alloc(0) : Buffer.from(bytes.subarray(first));
  return sshString((value[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.alloc(1), value]) : value);
}

export function curveOf(type: SshKeyType): Curve | null {
  return CURVES.find((curve) => curve.type === type) ?? null;
}

/**
 * Reads a public key.
 * @throws SshFormatError for other kinds of keys, and where the bytes are no such key in OpenSSH's form
 */
export function readSshPublicKey(blob: Buffer): SshPublicKey {
  const reader = new SshReader(blob);
  const name = reader.text();
  const type = SSH_KEY_TYPES.find((each) => each === name);
  if (type === undefined) throw new SshFormatError('this kind of key is not taken');
  const { jwk, rsaBits } = readMembers(type, reader);
  reader.end();
  try {
    return { type, blob, key: createPublicKey({ key: jwk, format: 'jwk' }), rsaBits };
  } catch {
    throw new SshFormatError('the key is no key of its kind');
  }
}

/** How OpenSSH shows a key: `SHA256:` and the digest in base64 without padding. */
export function fingerprintOf({ blob }: Pick<SshPublicKey, 'blob'>): string {
  return `SHA256:${hash('sha256', blob, 'base64').replace(/=+$/, '')}`;
}

/** The bytes of a text in base64, or null where it is not in the one form that encoding gives. */
export function fromBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}

/** The number of bits of a number without leading zero bytes. */
function bitsOf(bytes: Buffer): number {
  return bytes.length * 8 - Math.clz32(bytes[0] ?? 0) + 24;
}

function readMembers(type: SshKeyType, reader: SshReader): { jwk: JsonWebKey; rsaBits: number | null } {
  if (type === 'ssh-ed25519') {
    const x = reader.string();
    if (x.length !== ED25519_BYTES) throw new SshFormatError('the key has a wrong length');
    return { jwk: { kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url') }, rsaBits: null };
  }
  const curve = curveOf(type);
  return curve === null ? readRsa(reader) : { jwk: readPoint(curve, reader), rsaBits: null };
}

function readPoint(curve: Curve, reader: SshReader): JsonWebKey {
  if (reader.text() !== curve.name) throw new SshFormatError('the key names another curve than its kind');
  const point = reader.string();
  if (point.length !== 1 + 2 * curve.size || point[0] !== UNCOMPRESSED)
    throw new SshFormatError('the key has a wrong length');
  const x = point.subarray(1, 1 + curve.size).toString('base64url');
  const y = point.subarray(1 + curve.size).toString('base64url');
  return { kty: 'EC', crv: curve.jwk, x, y };
}

function readRsa(reader: SshReader): { jwk: JsonWebKey; rsaBits: number } {
  const [e, n] = [reader.positive(), reader.positive()];
  const isOdd = (bytes: Buffer) => ((bytes.at(-1) ?? 0) & 1) === 1;
  const rsaBits = bitsOf(n);
  const isExponent = isOdd(e) && e.length <= MAX_EXPONENT_BYTES && !(e.length === 1 && e[0] === 1);
  if (!isExponent || !isOdd(n) || rsaBits > MAX_RSA_BITS)
    throw new SshFormatError('the key is no key of its kind');
  return { jwk: { kty: 'RSA', n: n.toString('base64url'), e: e.toString('base64url') }, rsaBits };
}
