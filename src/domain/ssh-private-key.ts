/** Private keys in OpenSSH's own form (its PROTOCOL.key), as far as they are not protected by a passphrase. */

import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import {
  curveOf,
  ED25519_BYTES,
  fromBase64,
  readSshPublicKey,
  SshFormatError,
  type SshPublicKey,
  SshReader,
} from './ssh-keys.ts';

export interface SshPrivateKey {
  publicKey: SshPublicKey;
  key: KeyObject;
}

/** The key is protected by a passphrase. */
export class SshKeyProtected extends SshFormatError {}

const BEGIN = '-----BEGIN OPENSSH PRIVATE KEY-----';
const END = '-----END OPENSSH PRIVATE KEY-----';
const MAGIC = Buffer.from('openssh-key-v1\0');

/**
 * Reads the file of a private key.
 * @throws SshKeyProtected for a key with a passphrase
 * @throws SshFormatError for other kinds of keys, and for files that hold none. The message holds nothing of the file
 */
export function readSshPrivateKey(text: string): SshPrivateKey {
  const lines = text.replaceAll('\r', '').trim().split('\n');
  const isKey = lines.length > 2 && lines[0] === BEGIN && lines.at(-1) === END;
  const bytes = isKey ? fromBase64(lines.slice(1, -1).join('')) : null;
  if (bytes === null) throw new SshFormatError('the file holds no private key in the form of OpenSSH');
  const reader = new SshReader(bytes);
  if (!reader.take(MAGIC.length).equals(MAGIC))
    throw new SshFormatError('the file holds no private key in the form of OpenSSH');
  const cipher = reader.text();
  reader.string();
  reader.string();
  if (reader.uint32() !== 1) throw new SshFormatError('the file holds several keys');
  const publicKey = readSshPublicKey(reader.string());
  if (cipher !== 'none') throw new SshKeyProtected('the key is protected by a passphrase');
  const secrets = new SshReader(reader.string());
  reader.end();
  const checks = [secrets.uint32(), secrets.uint32()];
  if (checks[0] !== checks[1]) throw new SshFormatError('the key is damaged');
  return { publicKey, key: readKey(publicKey, secrets) };
}

function readKey(publicKey: SshPublicKey, secrets: SshReader): KeyObject {
  if (secrets.text() !== publicKey.type) throw new SshFormatError('the key is damaged');
  const open = publicKey.key.export({ format: 'jwk' });
  const jwk = { ...open, ...readSecrets(publicKey, secrets) };
  try {
    return createPrivateKey({ key: jwk, format: 'jwk' });
  } catch {
    throw new SshFormatError('the key is damaged');
  }
}

/** The members that a JSON Web Key has beside those of its public key. */
function readSecrets({ type }: SshPublicKey, secrets: SshReader): JsonWebKey {
  if (type === 'ssh-ed25519') {
    secrets.string();
    // The seed, and the public key behind it.
    const seed = secrets.string().subarray(0, ED25519_BYTES);
    return { d: seed.toString('base64url') };
  }
  const curve = curveOf(type);
  if (curve !== null) {
    secrets.string();
    secrets.string();
    const d = secrets.positive();
    const padding = Buffer.alloc(Math.max(0, curve.size - d.length));
    return { d: Buffer.concat([padding, d]).toString('base64url') };
  }
  return readRsaSecrets(secrets);
}

function readRsaSecrets(secrets: SshReader): JsonWebKey {
  secrets.string();
  secrets.string();
  const [d, inverse, p, q] = [secrets.positive(), secrets.positive(), secrets.positive(), secrets.positive()];
  const members = { d, p, q, dp: remainder(d, p), dq: remainder(d, q), qi: inverse };
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, value.toString('base64url')]),
  );
}

/** The exponent modulo the prime less one. */
function remainder(exponent: Buffer, prime: Buffer): Buffer {
  const modulus = toNumber(prime) - 1n;
  if (modulus < 1n) throw new SshFormatError('the key is damaged');
  const hex = (toNumber(exponent) % modulus).toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
}

function toNumber(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex')}`);
}
