import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { readAllowedSigners } from '../../../src/domain/allowed-signers.ts';
import {
  checkSignature,
  type ExpectedClaims,
  filesSha256,
  readSignedTag,
  signingTrailers,
} from '../../../src/domain/signed-tag.ts';
import { newSshKey, signedTag, type TagOf, tagPayload } from '../../support/ssh-keys.ts';

const NOW = Date.UTC(2026, 11, 1, 12);
const DAY = 86_400_000;
const FILES = [{ path: 'main.dsc.yaml', isExecutable: false, sha256: 'ab'.repeat(32) }];
const EXPECTED: ExpectedClaims = {
  configurationName: 'web-server',
  version: '1.0.0',
  entryPoint: 'main.dsc.yaml',
  filesSha256: filesSha256(FILES),
};
const [ADA, BOB] = [newSshKey(), newSshKey('nistp256')];
const SIGNERS = `ada@example.com,ada ${ADA.publicLine}\n`;
const GOOD: TagOf = { files: FILES, time: NOW };

/** The status, or the reason of one that is Invalid. */
function verdict(raw: Uint8Array, signers = SIGNERS, publishedAt = NOW): string {
  const read = readAllowedSigners(signers);
  expect(read.faults).to.deep.equal([]);
  const { status, reason } = checkSignature(readSignedTag(raw), EXPECTED, read.signers, [publishedAt]);
  return reason ?? status;
}

function withText(change: (text: string) => string, tag = signedTag(ADA, GOOD)): Buffer {
  return Buffer.from(change(tag.toString('latin1')), 'latin1');
}

describe('signed tags', () => {
  it('are valid by a line with their key, whose first principal is named', () => {
    const tag = readSignedTag(signedTag(ADA, GOOD));
    const { signers } = readAllowedSigners(`bob@example.com ${BOB.publicLine}\n${SIGNERS}`);
    expect(checkSignature(tag, EXPECTED, signers, [NOW])).to.deep.equal({
      status: 'Valid',
      principal: 'ada@example.com',
      fingerprint: signers[1]?.fingerprint,
      reason: null,
    });
    expect(verdict(signedTag(ADA, { ...GOOD, hash: 'sha256' }))).to.equal('Valid');
  });

  it('are unsigned without a signature of SSH', () => {
    expect(verdict(Buffer.from(tagPayload(GOOD)))).to.equal('Unsigned');
    const pgp = `${tagPayload(GOOD)}-----BEGIN PGP SIGNATURE-----\n\nx\n-----END PGP SIGNATURE-----\n`;
    expect(verdict(Buffer.from(pgp))).to.equal('Unsigned');
    const { signers } = readAllowedSigners(SIGNERS);
    expect(checkSignature(readSignedTag(Buffer.from(pgp)), EXPECTED, signers, [NOW])).to.deep.equal({
      status: 'Unsigned',
      principal: null,
      fingerprint: null,
      reason: null,
    });
  });

  const malformed: [name: string, change: (text: string) => string][] = [
    [
      'a second line of a signature before it',
      (text) => text.replace('\n-----B', '\n-----BEGIN X-----\n-----B'),
    ],
    ['two signatures', (text) => text + text.slice(text.indexOf('-----BEGIN'))],
    ['a text behind it', (text) => `${text}Entry-Point: other.dsc.yaml\n`],
    ['an empty line behind it', (text) => `${text}\n`],
    ['a NUL behind it', (text) => `${text}\0`],
    ['no end', (text) => text.replace('-----END SSH SIGNATURE-----\n', '')],
    ['a damaged first line', (text) => text.replace('SSH SIGNATURE-----', 'SSH SIGNATURE----')],
    ['base64 that is none', (text) => text.replace(/\nU1/, '\n!!')],
    ['no object', (text) => text.replace(/^object .*\n/, '')],
    ['a second name', (text) => text.replace('\ntag ', '\ntag v2.0.0\ntag ')],
    ['another header', (text) => text.replace('\ntagger ', '\nextra x\ntagger ')],
    ['no tagger', (text) => text.replace(/\ntagger .*\n/, '\n')],
    ['a time that is none', (text) => text.replace(/> \d+ /, '> x ')],
    ['bytes that are no UTF-8', (text) => text.replace('Release', '\xff')],
  ];
  for (const [name, change] of malformed)
    it(`are bad_format with ${name}`, () => {
      expect(verdict(withText(change))).to.equal('bad_format');
    });

  it('are bad_signature when a byte before the signature has changed', () => {
    const tag = signedTag(ADA, GOOD);
    expect(verdict(withText((text) => text.replace('Release', 'release'), tag))).to.equal('bad_signature');
    expect(verdict(withText((text) => text.replace('1111', '1112'), tag))).to.equal('bad_signature');
    expect(verdict(withText((text) => text.replace('tag v1.0.0', 'tag v1.0.1'), tag))).to.equal(
      'bad_signature',
    );
    const others = signedTag(BOB, { ...GOOD, version: '2.0.0' })
      .toString('latin1')
      .split('-----BEGIN')[1];
    const swapped = withText((text) => `${text.split('-----BEGIN')[0]}-----BEGIN${others}`, tag);
    expect(verdict(swapped, `${SIGNERS}bob@example.com ${BOB.publicLine}`)).to.equal('bad_signature');
  });

  it('are unknown_signer by a key that no line has', () => {
    expect(verdict(signedTag(BOB, GOOD))).to.equal('unknown_signer');
    expect(verdict(signedTag(ADA, GOOD), '')).to.equal('unknown_signer');
    expect(verdict(signedTag(newSshKey('short rsa'), GOOD))).to.equal('unknown_signer');
  });

  it('are wrong_namespace where the signature or the line has another one', () => {
    expect(verdict(signedTag(ADA, { ...GOOD, namespace: 'file' }))).to.equal('wrong_namespace');
    const only = (namespaces: string) => `ada namespaces="${namespaces}" ${ADA.publicLine}`;
    expect(verdict(signedTag(ADA, GOOD), only('file'))).to.equal('wrong_namespace');
    expect(verdict(signedTag(ADA, { ...GOOD, namespace: 'file' }), only('file'))).to.equal('wrong_namespace');
    expect(verdict(signedTag(ADA, GOOD), only('file,git'))).to.equal('Valid');
  });

  it('count when both the time of the tag and that of publishing are within those of the line', () => {
    const line = `ada valid-after="20261201",valid-before="20261202" ${ADA.publicLine}`;
    const at = (time: number, publishedAt = NOW) =>
      verdict(signedTag(ADA, { ...GOOD, time }), line, publishedAt);
    expect(at(NOW)).to.equal('Valid');
    expect(at(Date.UTC(2026, 11, 1), Date.UTC(2026, 11, 2))).to.equal('Valid');
    expect(at(Date.UTC(2026, 11, 1) - 1_000)).to.equal('not_yet_valid');
    expect(at(Date.UTC(2026, 11, 2) + 1_000)).to.equal('expired');
    expect(at(NOW, NOW + DAY)).to.equal('expired');
    expect(at(NOW, NOW - DAY)).to.equal('not_yet_valid');
    expect(at(NOW - 2 * DAY, NOW + 2 * DAY)).to.equal('not_yet_valid');
  });

  it('are judged by the first line that fits, and by the first with the key where none does', () => {
    const expired = `first valid-before="20250101" ${ADA.publicLine}\n`;
    const file = `second namespaces="file" ${ADA.publicLine}\n`;
    expect(verdict(signedTag(ADA, GOOD), `${expired}${file}${SIGNERS}`)).to.equal('Valid');
    expect(verdict(signedTag(ADA, GOOD), `${expired}${file}`)).to.equal('expired');
    expect(verdict(signedTag(ADA, GOOD), `${file}${expired}`)).to.equal('wrong_namespace');
    const { signers } = readAllowedSigners(`${expired}${file}${SIGNERS}`);
    const { principal } = checkSignature(readSignedTag(signedTag(ADA, GOOD)), EXPECTED, signers, [NOW]);
    expect(principal).to.equal('ada@example.com');
  });

  const trailers = (lines: Record<string, string>) =>
    Object.entries(lines)
      .map(([key, value]) => `${key}: ${value}\n`)
      .join('');
  const GOOD_TRAILERS = signingTrailers(EXPECTED);
  const said: [name: string, tag: TagOf, reason: string][] = [
    ['another tag', { tagName: 'v2.0.0' }, 'wrong_name'],
    ['a name that holds the right one', { tagName: 'refs/tags/v1.0.0' }, 'wrong_name'],
    ['another configuration', { configurationName: 'db-server' }, 'wrong_name'],
    ['another spelling of the configuration', { configurationName: 'Web-Server' }, 'wrong_name'],
    ['another entry point', { entryPoint: 'other.dsc.yaml' }, 'wrong_entry_point'],
    ['other files', { files: [] }, 'wrong_files'],
    [
      'an executable file more',
      { files: FILES.map((file) => ({ ...file, isExecutable: true })) },
      'wrong_files',
    ],
    ['no trailers', { message: 'Release 1.0.0\n' }, 'wrong_name'],
    ['trailers as the subject', { message: trailers(GOOD_TRAILERS) }, 'wrong_name'],
    ['trailers that are not last', { message: `A\n\n${trailers(GOOD_TRAILERS)}\nB\n` }, 'wrong_name'],
    [
      'a trailer twice',
      { message: `A\n\n${trailers(GOOD_TRAILERS)}configuration: web-server\n` },
      'wrong_name',
    ],
    [
      'a trailer in the text too',
      { message: `A\n\nEntry-Point: main.dsc.yaml\n\n${trailers(GOOD_TRAILERS)}` },
      'wrong_entry_point',
    ],
    [
      'a digest in upper case',
      {
        message: `A\n\n${trailers({ ...GOOD_TRAILERS, 'Files-SHA256': EXPECTED.filesSha256.toUpperCase() })}`,
      },
      'wrong_files',
    ],
  ];
  for (const [name, tag, reason] of said)
    it(`are ${reason} with ${name}`, () => {
      expect(verdict(signedTag(ADA, { ...GOOD, ...tag }))).to.equal(reason);
    });

  it('are read with other trailers, a text, and lines that end as those of Windows', () => {
    const message = `Release\n\nA text: with a colon\n\nPublished-At: 2026-12-01T12:00:00.000Z\n${trailers(GOOD_TRAILERS)}`;
    expect(verdict(signedTag(ADA, { ...GOOD, message }))).to.equal('Valid');
    expect(verdict(signedTag(ADA, { ...GOOD, message: message.replaceAll('\n', '\r\n') }))).to.equal('Valid');
  });

  it('tell the first of several reasons', () => {
    const tag = signedTag(BOB, { namespace: 'file', tagName: 'v2.0.0', time: NOW - DAY });
    expect(verdict(tag)).to.equal('unknown_signer');
    const line = `bob valid-after="20261201" ${BOB.publicLine}`;
    expect(verdict(tag, line)).to.equal('wrong_namespace');
    expect(verdict(signedTag(BOB, { tagName: 'v2.0.0', time: NOW - DAY }), line)).to.equal('not_yet_valid');
    expect(verdict(signedTag(BOB, { tagName: 'v2.0.0', time: NOW }), line)).to.equal('wrong_name');
    expect(verdict(withText((text) => `${text.replace('Release', 'x')}x`))).to.equal('bad_format');
  });
});

describe('the digest of files', () => {
  it('is that of lines with digest, mode and path, by the bytes of the paths', () => {
    const [one, two, three] = ['1', '2', '3'].map((digit) => digit.repeat(64));
    const digest = filesSha256([
      { path: '\u{1f600}.txt', isExecutable: false, sha256: three ?? '' },
      { path: 'b/"x" y.sh', isExecutable: true, sha256: one ?? '' },
      { path: '\uffee.txt', isExecutable: false, sha256: two ?? '' },
      { path: 'B.txt', isExecutable: false, sha256: two ?? '' },
    ]);
    const text = `${two} 100644 B.txt\n${one} 100755 b/"x" y.sh\n${two} 100644 \uffee.txt\n${three} 100644 \u{1f600}.txt\n`;
    expect(digest).to.equal(createHash('sha256').update(text).digest('hex'));
    expect(filesSha256([])).to.equal(createHash('sha256').digest('hex'));
  });
});
