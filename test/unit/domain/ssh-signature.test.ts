import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { fingerprintOf, readSshPublicKey, SshFormatError, sshString } from '../../../src/domain/ssh-keys.ts';
import { readSshPrivateKey, SshKeyProtected } from '../../../src/domain/ssh-private-key.ts';
import {
  isSignatureOf,
  readSshSignature,
  signBySshKey,
  writeSshSignature,
} from '../../../src/domain/ssh-signature.ts';
import { KEY_KINDS, type KeyKind, newSshKey, type SshKey } from '../../support/ssh-keys.ts';

const KEYS = new Map<KeyKind, SshKey>(
  [...KEY_KINDS, 'short rsa' as const].map((kind) => [kind, newSshKey(kind)]),
);
/** By `ssh-keygen -Y sign -n git`, of MESSAGE. */
const OF_OPENSSH = {
  publicLine: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIInA+e7XbawR016tCOQDlnhUY9sUNBu795tww1rT47+R',
  fingerprint: 'SHA256:t7wipMLdEzjnnAVS4TBCZO62qBaBEItGzQbdM30EZGA',
  signature: [
    '-----BEGIN SSH SIGNATURE-----',
    'U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgicD57tdtrBHTXq0I5AOWeFRj2x',
    'Q0G7v3m3DDWtPjv5EAAAADZ2l0AAAAAAAAAAZzaGE1MTIAAABTAAAAC3NzaC1lZDI1NTE5',
    'AAAAQEJIu7MJ90fdGgvLqMLFuS1A2kV5norX3KvVfhk91Srqt2PJ4QVNlunUwdvLPrSADR',
    'j9u4SkREMiBr/AT0tbxQU=',
    '-----END SSH SIGNATURE-----',
    '',
  ].join('\n'),
};
const MESSAGE = Buffer.from('a message\n');

function keyOf(kind: KeyKind): SshKey {
  const key = KEYS.get(kind);
  if (key === undefined) throw new Error(`no key ${kind}`);
  return key;
}

function bytesOf(armor: string): Buffer {
  return Buffer.from(armor.split('\n').slice(1, -2).join(''), 'base64');
}

function armorOf(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,70}/g) ?? [];
  return `-----BEGIN SSH SIGNATURE-----\n${lines.join('\n')}\n-----END SSH SIGNATURE-----\n`;
}

/** Whether it is a signature of the message; null where it cannot be read. */
function verdict(armor: string, message = MESSAGE): boolean | null {
  try {
    return isSignatureOf(readSshSignature(armor), message);
  } catch (error) {
    if (error instanceof SshFormatError) return null;
    throw error;
  }
}

describe('SSH signatures', () => {
  for (const kind of KEYS.keys())
    for (const hash of ['sha256', 'sha512'] as const)
      it(`are made and verified by a key of ${kind}, with ${hash}`, () => {
        const armor = signBySshKey(keyOf(kind).key, MESSAGE, 'git', hash);
        const signature = readSshSignature(armor);
        expect(signature).to.include({ namespace: 'git', hash });
        expect(signature.key.blob.toString('base64')).to.equal(keyOf(kind).publicLine.split(' ')[1]);
        expect(isSignatureOf(signature, MESSAGE)).to.equal(true);
        expect(isSignatureOf(signature, Buffer.from('another message\n'))).to.equal(false);
        expect(isSignatureOf({ ...signature, namespace: 'file' }, MESSAGE)).to.equal(false);
      });

  it('are those that OpenSSH made', () => {
    const { publicLine, signature } = OF_OPENSSH;
    const read = readSshSignature(signature);
    expect(read.key.blob.toString('base64')).to.equal(publicLine.split(' ')[1]);
    expect(fingerprintOf(read.key)).to.equal(OF_OPENSSH.fingerprint);
    expect(isSignatureOf(read, MESSAGE)).to.equal(true);
  });

  for (const kind of KEYS.keys())
    it(`do not count after any byte has changed, with a key of ${kind}`, function () {
      this.timeout(20_000);
      const bytes = bytesOf(signBySshKey(keyOf(kind).key, MESSAGE, 'git'));
      // Magic, version, key, namespace, then the reserved string, the digest and the value.
      for (const [at, byte] of bytes.entries()) {
        const changed = Buffer.from(bytes);
        changed[at] = byte ^ 1;
        expect(verdict(armorOf(changed)), `byte ${at}`).to.not.equal(true);
      }
    });

  it('cannot be read when they are cut anywhere, or followed by anything', () => {
    const bytes = bytesOf(signBySshKey(keyOf('ed25519').key, MESSAGE, 'git'));
    for (let length = 0; length < bytes.length; length += 1)
      expect(verdict(armorOf(bytes.subarray(0, length))), `${length} bytes`).to.equal(null);
    expect(verdict(armorOf(Buffer.concat([bytes, Buffer.alloc(1)])))).to.equal(null);
  });

  it('cannot be read when their lines are not those of one signature', () => {
    const armor = signBySshKey(keyOf('ed25519').key, MESSAGE, 'git');
    expect(verdict(armor)).to.equal(true);
    expect(verdict(armor.trimEnd())).to.equal(true);
    const wrong = [
      '',
      ` ${armor}`,
      `\n${armor}`,
      `${armor}\n`,
      `${armor}x`,
      armor + armor,
      armor.replace('BEGIN SSH', 'BEGIN PGP'),
      armor.replace('-----END SSH SIGNATURE-----', ''),
      armor.replaceAll('\n', '\r\n'),
      armor.replace('U', '!'),
      armor.replace('\nU', '\n U'),
      armor.replace(/(=*)\n-----END/, 'A$1\n-----END'),
      'x'.repeat(1_000_000),
      `-----BEGIN SSH SIGNATURE-----\n-----END SSH SIGNATURE-----\n`,
    ];
    for (const text of wrong) expect(verdict(text), JSON.stringify(text.slice(0, 200))).to.equal(null);
  });

  it('are taken with the algorithms of their keys alone', () => {
    const { publicKey } = keyOf('rsa').key;
    const { value } = readSshSignature(signBySshKey(keyOf('rsa').key, MESSAGE, 'git'));
    const write = (algorithm: string, bytes: Buffer) =>
      writeSshSignature(
        publicKey.blob,
        Buffer.concat([sshString(algorithm), sshString(bytes)]),
        'git',
        'sha512',
      );
    expect(verdict(write('rsa-sha2-512', value))).to.equal(true);
    expect(verdict(write('rsa-sha2-256', value))).to.equal(false);
    expect(verdict(write('rsa-sha2-512', Buffer.concat([Buffer.alloc(1), value])))).to.equal(false);
    expect(verdict(write('rsa-sha2-512', Buffer.alloc(0)))).to.equal(false);
    for (const name of ['ssh-rsa', 'ssh-ed25519', 'toString', '', 'rsa-sha2-512\n'])
      expect(verdict(write(name, value)), name).to.equal(null);
  });

  it('are not taken with another digest, without a namespace, or of another version', () => {
    const { publicKey } = keyOf('ed25519').key;
    const signed = Buffer.concat([sshString('ssh-ed25519'), sshString(Buffer.alloc(64))]);
    const write = (namespace: string, hash: string) =>
      writeSshSignature(publicKey.blob, signed, namespace, hash as 'sha512');
    expect(verdict(write('git', 'sha512'))).to.equal(false);
    for (const [namespace, hash] of [
      ['', 'sha512'],
      ['git', 'sha1'],
      ['git', 'md5'],
      ['git\0', 'sha512'],
    ] as const)
      expect(verdict(write(namespace, hash)), `${namespace} ${hash}`).to.equal(null);
    const other = bytesOf(write('git', 'sha512'));
    other.writeUInt32BE(2, 6);
    expect(verdict(armorOf(other))).to.equal(null);
  });
});

describe('SSH keys', () => {
  it('are shown by the digest of their bytes, as OpenSSH shows them', () => {
    const { publicKey } = keyOf('nistp384').key;
    const digest = createHash('sha256').update(publicKey.blob).digest('base64').replaceAll('=', '');
    expect(fingerprintOf(publicKey)).to.equal(`SHA256:${digest}`);
  });

  it('are refused when they are of another kind or no key of theirs', () => {
    const ed25519 = (bytes: Buffer) => Buffer.concat([sshString('ssh-ed25519'), sshString(bytes)]);
    const curve = (name: string, point: Buffer) =>
      Buffer.concat([sshString('ecdsa-sha2-nistp256'), sshString(name), sshString(point)]);
    const rsa = (e: Buffer, n: Buffer) => Buffer.concat([sshString('ssh-rsa'), sshString(e), sshString(n)]);
    const [three, n] = [Buffer.from([3]), Buffer.alloc(257, 0xff)];
    n[0] = 0;
    expect(readSshPublicKey(rsa(three, n)).rsaBits).to.equal(2048);
    const wrong: Buffer[] = [
      Buffer.alloc(0),
      Buffer.alloc(4, 0xff),
      Buffer.concat([sshString('ssh-dss'), sshString(Buffer.alloc(32))]),
      Buffer.concat([
        sshString('sk-ssh-ed25519@openssh.com'),
        sshString(Buffer.alloc(32)),
        sshString('ssh:'),
      ]),
      ed25519(Buffer.alloc(31)),
      ed25519(Buffer.alloc(33)),
      Buffer.concat([ed25519(Buffer.alloc(32)), Buffer.alloc(1)]),
      curve('nistp256', Buffer.alloc(65, 4)),
      curve('nistp384', Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)])),
      curve('nistp256', Buffer.concat([Buffer.from([2]), Buffer.alloc(32, 1)])),
      rsa(Buffer.from([1]), n),
      rsa(Buffer.from([4]), n),
      rsa(Buffer.from([0, 3]), n),
      rsa(Buffer.alloc(9, 3), n),
      rsa(three, n.subarray(1)),
      rsa(three, Buffer.concat([Buffer.from([1]), Buffer.alloc(2049, 0xff)])),
    ];
    for (const blob of wrong)
      expect(() => readSshPublicKey(blob), blob.subarray(0, 60).toString('hex')).to.throw(SshFormatError);
  });

  it('are read from files that no passphrase protects', () => {
    const { privateFile } = keyOf('ed25519');
    expect(() => readSshPrivateKey(privateFile.replaceAll('\n', '\r\n'))).to.not.throw();
    const protectedFile = Buffer.from(privateFile.split('\n').slice(1, -2).join(''), 'base64')
      .toString('latin1')
      .replace('\0\0\0\x04none\0\0\0\x04none', '\0\0\0\x0aaes256-ctr\0\0\0\x04none');
    const armor = `-----BEGIN OPENSSH PRIVATE KEY-----\n${Buffer.from(protectedFile, 'latin1').toString('base64')}\n-----END OPENSSH PRIVATE KEY-----\n`;
    expect(() => readSshPrivateKey(armor)).to.throw(SshKeyProtected, 'passphrase');
    for (const text of ['', 'x', privateFile.replace('OPENSSH', 'RSA'), privateFile.slice(0, 200)])
      expect(() => readSshPrivateKey(text)).to.throw(SshFormatError);
  });
});
