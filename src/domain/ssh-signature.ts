/**
 * SSH signatures of files and texts, as `ssh-keygen -Y sign` makes them (OpenSSH's PROTOCOL.sshsig): they name the key, a
 * namespace and a digest, and sign these together with the digest of the message.
 */

import { hash, sign, verify } from 'node:crypto';
import {
  curveOf,
  fromBase64,
  readSshPublicKey,
  SshFormatError,
  type SshPublicKey,
  SshReader,
  sshNumber,
  sshString,
} from './ssh-keys.ts';
import type { SshPrivateKey } from './ssh-private-key.ts';

/** Digests of the message. */
const MESSAGE_HASHES = ['sha256', 'sha512'] as const;
export type MessageHash = (typeof MESSAGE_HASHES)[number];

export interface SshSignature {
  key: SshPublicKey;
  namespace: string;
  hash: MessageHash;
  /** The name of the algorithm and what it made. */
  algorithm: string;
  value: Buffer;
}

const BEGIN_SIGNATURE = '-----BEGIN SSH SIGNATURE-----';
const END_SIGNATURE = '-----END SSH SIGNATURE-----';
const MAGIC = Buffer.from('SSHSIG');
const VERSION = 1;
/** As ssh-keygen breaks lines. */
const LINE = 70;
/** The largest key has 16,384 bits, and so has its signature. All lengths are checked, so this is to save work. */
const MAX_ARMOR = 16 * 1024;
const ED25519_SIGNATURE = 64;
const RSA_HASHES: Record<string, 'sha256' | 'sha512'> = {
  'rsa-sha2-256': 'sha256',
  'rsa-sha2-512': 'sha512',
};

/**
 * Reads a signature with the lines around it, and nothing before or behind them but the last line's end.
 * @throws SshFormatError for anything else, and for keys and algorithms that are not taken
 */
export function readSshSignature(armor: string): SshSignature {
  const lines = armor.length > MAX_ARMOR ? [] : armor.replace(/\n$/, '').split('\n');
  if (lines.length < 3 || lines[0] !== BEGIN_SIGNATURE || lines.at(-1) !== END_SIGNATURE)
    throw new SshFormatError('the lines are not those of one SSH signature');
  const blob = fromBase64(lines.slice(1, -1).join(''));
  if (blob === null) throw new SshFormatError('the lines between are not base64');
  return readBlob(blob);
}

/** Whether the signature is one of this message by the key that it names. Who may sign is another question. */
export function isSignatureOf(signature: SshSignature, message: Uint8Array): boolean {
  const { key, namespace, algorithm, value } = signature;
  const data = bytesToSign(message, namespace, signature.hash);
  const curve = curveOf(key.type);
  if (curve !== null) {
    const plain = readEcdsa(value, curve.size);
    return plain !== null && verify(curve.hash, data, { key: key.key, dsaEncoding: 'ieee-p1363' }, plain);
  }
  if (key.type === 'ssh-ed25519') return verify(null, data, key.key, value);
  // A signature with leading zeros may come without them.
  const size = Math.ceil((key.rsaBits ?? 0) / 8);
  if (value.length > size) return false;
  const padded = Buffer.concat([Buffer.alloc(size - value.length), value]);
  return verify(RSA_HASHES[algorithm] ?? '', data, key.key, padded);
}

/** What a key signs for a message; an agent of OpenSSH is given these bytes. */
export function bytesToSign(message: Uint8Array, namespace: string, algorithm: MessageHash): Buffer {
  const digest = hash(algorithm, message, 'buffer');
  const reserved = Buffer.alloc(0);
  return Buffer.concat([MAGIC, ...[namespace, reserved, algorithm, digest].map(sshString)]);
}

/**
 * The text of a signature.
 * @param publicKey the blob of the key
 * @param signed what the key made of `bytesToSign`: the name of the algorithm and its value, each with its length, as an
 *   agent of OpenSSH gives it
 */
export function writeSshSignature(
  publicKey: Uint8Array,
  signed: Uint8Array,
  namespace: string,
  algorithm: MessageHash,
): string {
  const version = Buffer.alloc(4);
  version.writeUInt32BE(VERSION);
  const members = [publicKey, namespace, Buffer.alloc(0), algorithm, signed].map(sshString);
  const base64 = Buffer.concat([MAGIC, version, ...members]).toString('base64');
  const lines = base64.match(new RegExp(`.{1,${LINE}}`, 'g')) ?? [];
  return `${[BEGIN_SIGNATURE, ...lines, END_SIGNATURE].join('\n')}\n`;
}

/** Signs a message by a key, as `ssh-keygen -Y sign` does. */
export function signBySshKey(
  { publicKey, key }: SshPrivateKey,
  message: Uint8Array,
  namespace: string,
  algorithm: MessageHash = 'sha512',
): string {
  const data = bytesToSign(message, namespace, algorithm);
  const curve = curveOf(publicKey.type);
  if (curve !== null) {
    const plain = sign(curve.hash, data, { key, dsaEncoding: 'ieee-p1363' });
    const [r, s] = [plain.subarray(0, curve.size), plain.subarray(curve.size)];
    return write(publicKey.type, Buffer.concat([sshNumber(r), sshNumber(s)]));
  }
  if (publicKey.type === 'ssh-ed25519') return write(publicKey.type, sign(null, data, key));
  return write('rsa-sha2-512', sign('sha512', data, key));

  function write(name: string, value: Buffer): string {
    const signed = Buffer.concat([sshString(name), sshString(value)]);
    return writeSshSignature(publicKey.blob, signed, namespace, algorithm);
  }
}

function readBlob(blob: Buffer): SshSignature {
  const reader = new SshReader(blob);
  if (!reader.take(MAGIC.length).equals(MAGIC)) throw new SshFormatError('it is no SSH signature');
  if (reader.uint32() !== VERSION) throw new SshFormatError('it is of another version of the format');
  const key = readSshPublicKey(reader.string());
  const namespace = reader.text();
  // Reserved. Who reads a signature passes over it (PROTOCOL.sshsig).
  reader.string();
  const name = reader.text();
  const digest = MESSAGE_HASHES.find((each) => each === name);
  const signed = new SshReader(reader.string());
  reader.end();
  const [algorithm, value] = [signed.text(), signed.string()];
  signed.end();
  if (namespace === '') throw new SshFormatError('it has no namespace');
  if (digest === undefined) throw new SshFormatError('its digest is not taken');
  const fits = key.type === 'ssh-rsa' ? Object.hasOwn(RSA_HASHES, algorithm) : algorithm === key.type;
  if (!fits) throw new SshFormatError('its algorithm is not one of its key');
  if (key.type === 'ssh-ed25519' && value.length !== ED25519_SIGNATURE)
    throw new SshFormatError('its value has a wrong length');
  return { key, namespace, hash: digest, algorithm, value };
}

/** The two numbers one after the other; null where they are none, or too long. */
function readEcdsa(value: Buffer, size: number): Buffer | null {
  try {
    const reader = new SshReader(value);
    const numbers = [reader.positive(), reader.positive()];
    reader.end();
    if (numbers.some(({ length }) => length > size)) return null;
    return Buffer.concat(numbers.flatMap((each) => [Buffer.alloc(size - each.length), each]));
  } catch (error) {
    if (error instanceof SshFormatError) return null;
    throw error;
  }
}
