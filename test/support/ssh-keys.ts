/** SSH keys, signatures and signed tags, made without any tool of OpenSSH, which a bare machine lacks. */

import { generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto';
import { filesSha256, type HashedFile } from '../../src/domain/signed-tag.ts';
import { sshNumber, sshString } from '../../src/domain/ssh-keys.ts';
import { readSshPrivateKey, type SshPrivateKey } from '../../src/domain/ssh-private-key.ts';
import { type MessageHash, signBySshKey } from '../../src/domain/ssh-signature.ts';

export type KeyKind = 'ed25519' | 'nistp256' | 'nistp384' | 'nistp521' | 'rsa' | 'short rsa';
export const KEY_KINDS: readonly KeyKind[] = ['ed25519', 'nistp256', 'nistp384', 'nistp521', 'rsa'];

export interface SshKey {
  /** `type base64`, as in a `.pub` file. */
  publicLine: string;
  /** The text of the file of the private key. */
  privateFile: string;
  key: SshPrivateKey;
}

/** A new key. */
export function newSshKey(kind: KeyKind = 'ed25519'): SshKey {
  const [type, publicKey, secrets] = members(generate(kind).export({ format: 'jwk' }), kind);
  const blob = Buffer.concat([sshString(type), ...publicKey]);
  const check = Buffer.from('01020304', 'hex');
  const content = Buffer.concat([check, check, sshString(type), ...secrets, sshString('')]);
  const padding = Buffer.from(Array.from({ length: -content.length & 7 }, (_, at) => at + 1));
  const file = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...[sshString('none'), sshString('none'), sshString('')],
    Buffer.from('00000001', 'hex'),
    sshString(blob),
    sshString(Buffer.concat([content, padding])),
  ]);
  const lines = file.toString('base64').match(/.{1,70}/g) ?? [];
  const privateFile = `-----BEGIN OPENSSH PRIVATE KEY-----\n${lines.join('\n')}\n-----END OPENSSH PRIVATE KEY-----\n`;
  return {
    publicLine: `${type} ${blob.toString('base64')}`,
    privateFile,
    key: readSshPrivateKey(privateFile),
  };
}

function generate(kind: KeyKind): KeyObject {
  if (kind === 'ed25519') return generateKeyPairSync('ed25519').privateKey;
  if (kind === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  if (kind === 'short rsa') return generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  return generateKeyPairSync('ec', { namedCurve: kind.replace('nistp', 'P-') }).privateKey;
}

/** The name of the kind, and the members of the public and of the private key. */
function members(jwk: JsonWebKey, kind: KeyKind): [type: string, open: Buffer[], secrets: Buffer[]] {
  const bytes = (member: keyof JsonWebKey) => Buffer.from(String(jwk[member]), 'base64url');
  if (kind === 'ed25519') {
    const open = sshString(bytes('x'));
    return ['ssh-ed25519', [open], [open, sshString(Buffer.concat([bytes('d'), bytes('x')]))]];
  }
  if (jwk.kty === 'EC') {
    const point = sshString(Buffer.concat([Buffer.from([4]), bytes('x'), bytes('y')]));
    const open = [sshString(kind), point];
    return [`ecdsa-sha2-${kind}`, open, [...open, sshNumber(bytes('d'))]];
  }
  const [e, n] = [sshNumber(bytes('e')), sshNumber(bytes('n'))];
  const secrets = (['d', 'qi', 'p', 'q'] as const).map((member) => sshNumber(bytes(member)));
  return ['ssh-rsa', [e, n], [n, e, ...secrets]];
}

export interface TagOf {
  configurationName?: string;
  version?: string;
  entryPoint?: string;
  files?: HashedFile[];
  /** In place of the name and the trailers that the members above give. */
  tagName?: string;
  message?: string;
  time?: number;
}

/** A raw tag object before its signature. Times are epoch milliseconds. */
export function tagPayload({
  configurationName = 'web-server',
  version = '1.0.0',
  entryPoint = 'main.dsc.yaml',
  files = [],
  tagName = `v${version}`,
  message = `Release ${version}\n\nConfiguration: ${configurationName}\nEntry-Point: ${entryPoint}\nFiles-SHA256: ${filesSha256(files)}\n`,
  time = Date.now(),
}: TagOf): string {
  const tagger = `Ada Author <ada@example.com> ${Math.floor(time / 1_000)} +0000`;
  return `object ${'1'.repeat(40)}\ntype commit\ntag ${tagName}\ntagger ${tagger}\n\n${message}`;
}

/** A raw tag object, signed as git does. */
export function signedTag(
  key: SshKey,
  { namespace = 'git', hash = 'sha512', ...tag }: TagOf & { namespace?: string; hash?: MessageHash } = {},
): Buffer {
  const payload = tagPayload(tag);
  return Buffer.from(payload + signBySshKey(key.key, Buffer.from(payload), namespace, hash));
}
