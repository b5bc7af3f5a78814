// full: SQLite
/** What is verified and made here is compared with OpenSSH's own program. */

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readAllowedSigners } from '../../../src/domain/allowed-signers.ts';
import { judgeSigning, readSignedTag } from '../../../src/domain/signed-tag.ts';
import { fingerprintOf } from '../../../src/domain/ssh-keys.ts';
import { readSshPrivateKey } from '../../../src/domain/ssh-private-key.ts';
import {
  isSignatureOf,
  type MessageHash,
  readSshSignature,
  signBySshKey,
} from '../../../src/domain/ssh-signature.ts';
import { itWith } from '../../support/optional-tools.ts';
import { newSshKey, tagPayload } from '../../support/ssh-keys.ts';

const NOW = Date.UTC(2026, 11, 1, 12);
const DAY = 86_400_000;
const KINDS: [name: string, options: string[]][] = [
  ['ed25519', ['-t', 'ed25519']],
  ['nistp256', ['-t', 'ecdsa', '-b', '256']],
  ['nistp384', ['-t', 'ecdsa', '-b', '384']],
  ['nistp521', ['-t', 'ecdsa', '-b', '521']],
  ['rsa', ['-t', 'rsa', '-b', '2048']],
];

let folder = '';
const at = (name: string) => join(folder, name);

function keygen(words: string[], input: string | Buffer = ''): { code: number | null; stdout: string } {
  // Times without Z are local for OpenSSH.
  const { status, stdout } = spawnSync('ssh-keygen', words, { input, env: { ...process.env, TZ: 'UTC' } });
  return { code: status, stdout: stdout.toString() };
}

function made(words: string[], input: string | Buffer = ''): string {
  const { code, stdout } = keygen(words, input);
  expect(code, words.join(' ')).to.equal(0);
  return stdout;
}

/** Whether OpenSSH takes the signature as git would ask it. */
function isGoodForOpenSsh(payload: Buffer, armor: string, signers: string, time: number): boolean {
  writeFileSync(at('signers'), signers);
  writeFileSync(at('signature'), armor);
  const stamp = new Date(time).toISOString().replace(/\D/g, '').slice(0, 14);
  const words = [
    '-Y',
    'verify',
    '-n',
    'git',
    '-f',
    at('signers'),
    '-I',
    'ada@example.com',
    '-s',
    at('signature'),
  ];
  return keygen([...words, `-Overify-time=${stamp}Z`], payload).code === 0;
}

function isGoodHere(payload: Buffer, armor: string, signers: string): boolean {
  const { signers: read, faults } = readAllowedSigners(signers);
  expect(faults, signers).to.deep.equal([]);
  const tag = readSignedTag(Buffer.concat([payload, Buffer.from(armor)]));
  return judgeSigning(tag, read).status === 'Valid';
}

describe('signatures here and by ssh-keygen', () => {
  before(function () {
    this.timeout(60_000);
    folder = mkdtempSync(join(tmpdir(), 'hawser-keygen-'));
    for (const [name, options] of KINDS)
      if (spawnSync('ssh-keygen', ['-q', ...options, '-N', '', '-C', 'ada', '-f', at(name)]).error) return;
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [name] of KINDS)
    itWith(
      ['ssh-keygen'],
      `keys of ${name} made by it are read, and what is signed by them is good for both`,
      () => {
        const key = readSshPrivateKey(readFileSync(at(name), 'utf8'));
        expect(made(['-l', '-f', at(name)])).to.include(fingerprintOf(key.publicKey));
        const payload = Buffer.from(tagPayload({ time: NOW }));
        const signers = `ada@example.com ${readFileSync(at(`${name}.pub`), 'utf8')}`;
        for (const hash of ['sha256', 'sha512'] as MessageHash[]) {
          const ours = signBySshKey(key, payload, 'git', hash);
          expect(isGoodForOpenSsh(payload, ours, signers, NOW), `ours with ${hash}`).to.equal(true);
          const theirs = made(
            ['-Y', 'sign', '-q', '-f', at(name), '-n', 'git', `-Ohashalg=${hash}`],
            payload,
          );
          expect(readSshSignature(theirs).hash).to.equal(hash);
          expect(isSignatureOf(readSshSignature(theirs), payload)).to.equal(true);
          expect(isGoodHere(payload, theirs, signers)).to.equal(true);
        }
      },
    );

  itWith(['ssh-keygen'], 'keys of the tests are keys for it', () => {
    for (const [name] of KINDS) {
      const key = newSshKey(name as 'ed25519');
      writeFileSync(at('ours'), key.privateFile, { mode: 0o600 });
      chmodSync(at('ours'), 0o600);
      expect(made(['-y', '-f', at('ours')]).trim(), name).to.equal(key.publicLine);
    }
  });

  itWith(['ssh-keygen'], 'a key with a passphrase is refused', () => {
    made(['-q', '-t', 'ed25519', '-N', 'long passphrase', '-f', at('protected')]);
    expect(() => readSshPrivateKey(readFileSync(at('protected'), 'utf8'))).to.throw('passphrase');
  });

  itWith(['ssh-keygen'], 'each is taken or refused by both alike', () => {
    const pub = (name: string) => readFileSync(at(`${name}.pub`), 'utf8').trim();
    const line = (options: string, name = 'ed25519') => `ada@example.com ${options}${pub(name)}\n`;
    const lists: [string, string][] = [
      ['good', line('')],
      ['with a comment and others', `# x\r\n\nbob@example.com ${pub('nistp256')}\n${line('')}`],
      ['of several principals', `bob@example.com,ada@example.com ${pub('ed25519')}\n`],
      ['in quotation marks', `"ada@example.com" ${pub('ed25519')}\n`],
      ['expired', line('valid-before="20261130" ')],
      ['ending at this second', line('valid-before="20261201120000" ')],
      ['beginning at this second', line('valid-after="20261201120000Z" ')],
      ['not yet valid', line('valid-after="202612011201" ')],
      ['within', line('valid-after="20261130",valid-before="20261202Z" ')],
      ['removed', line('', 'nistp256')],
      ['empty', '# nobody\n'],
      ['for files', line('namespaces="file" ')],
      ['for git', line('namespaces="file,git" ')],
      ['by a pattern', line('namespaces="g?t" ')],
      ['but git', line('namespaces="*,!git" ')],
      ['twice, the first expired', line('valid-before="20250101" ') + line('')],
      ['twice, both wrong', line('valid-before="20250101" ') + line('namespaces="file" ')],
    ];
    const verdicts = new Set<boolean>();
    for (const time of [NOW, NOW - 2 * DAY, NOW + 2 * DAY])
      for (const [namespace, hash] of [
        ['git', 'sha512'],
        ['git', 'sha256'],
        ['file', 'sha512'],
      ])
        for (const [name, signers] of lists) {
          const payload = Buffer.from(tagPayload({ time }));
          const words = ['-Y', 'sign', '-q', '-f', at('ed25519'), '-n', namespace ?? '', `-Ohashalg=${hash}`];
          const armor = made(words, payload);
          const [here, there] = [
            isGoodHere(payload, armor, signers),
            isGoodForOpenSsh(payload, armor, signers, time),
          ];
          verdicts.add(there);
          expect(here, `${name}, ${namespace}, ${hash}, ${new Date(time).toISOString()}`).to.equal(there);
        }
    expect(verdicts.size).to.equal(2);
  });

  itWith(['ssh-keygen'], 'what it refuses as damaged is refused here too', () => {
    const payload = Buffer.from(tagPayload({ time: NOW }));
    const signers = `ada@example.com ${readFileSync(at('ed25519.pub'), 'utf8')}`;
    const good = made(['-Y', 'sign', '-q', '-f', at('ed25519'), '-n', 'git'], payload);
    expect(isGoodForOpenSsh(payload, good, signers, NOW)).to.equal(true);
    for (let place = 0; place < good.length; place += 1) {
      const letter = good[place] === 'A' ? 'B' : 'A';
      const armor = good.slice(0, place) + letter + good.slice(place + 1);
      if (isGoodHere(payload, armor, signers))
        expect(isGoodForOpenSsh(payload, armor, signers, NOW), `letter ${place}`).to.equal(true);
    }
    expect(isGoodForOpenSsh(Buffer.concat([payload, Buffer.from('x')]), good, signers, NOW)).to.equal(false);
  });
});
