import { expect } from 'chai';
import { readAllowedSigners, servesFor } from '../../../src/domain/allowed-signers.ts';
import { KEY_KINDS, newSshKey } from '../../support/ssh-keys.ts';

const KEY = newSshKey().publicLine;

function faultsOf(text: string): [line: number, message: string][] {
  const { signers, faults } = readAllowedSigners(text);
  if (faults.length > 0) expect(signers).to.deep.equal([]);
  return faults.map(({ line, message }) => [line, message]);
}

describe('the text of those who may sign', () => {
  it('has a line for each key, of every kind that may sign', () => {
    const keys = KEY_KINDS.map((kind) => newSshKey(kind));
    const text = keys
      .map(({ publicLine }, at) => `signer${at}@example.com ${publicLine} laptop of ${at}\n`)
      .join('');
    const { signers, faults } = readAllowedSigners(text);
    expect(faults).to.deep.equal([]);
    expect(signers.map(({ principal }) => principal)).to.deep.equal(
      KEY_KINDS.map((_, at) => `signer${at}@example.com`),
    );
    expect(signers.map(({ blob }) => blob.toString('base64'))).to.deep.equal(
      keys.map(({ publicLine }) => publicLine.split(' ')[1]),
    );
    expect(signers[0]).to.include({ namespaces: null, validAfter: null, validBefore: null });
    expect(signers[0]?.fingerprint).to.match(/^SHA256:[A-Za-z0-9+/]{43}$/);
  });

  it('may have blank lines, comments, CRLF, tabs, quoted principals and a mark at its start', () => {
    const text = `\ufeff# who may sign\r\n\r\n \t# indented\r\n  ada@example.com,*@ops.example.com\t${KEY}\r\n"bob@example.com" ${KEY} a "comment"`;
    const { signers, faults } = readAllowedSigners(text);
    expect(faults).to.deep.equal([]);
    expect(signers.map(({ principal }) => principal)).to.deep.equal(['ada@example.com', 'bob@example.com']);
    expect(readAllowedSigners('')).to.deep.equal({ signers: [], faults: [] });
    expect(readAllowedSigners('\n# nobody\n\n')).to.deep.equal({ signers: [], faults: [] });
  });

  it('may limit a key to namespaces and to a time, in UTC', () => {
    const read = (options: string) => readAllowedSigners(`a ${options} ${KEY}`).signers[0];
    expect(read('namespaces="git,file"')).to.include({ namespaces: 'git,file', validAfter: null });
    expect(read('valid-after="20260102",valid-before="20261231235959Z"')).to.include({
      validAfter: Date.UTC(2026, 0, 2),
      validBefore: Date.UTC(2026, 11, 31, 23, 59, 59),
    });
    expect(read('Valid-After="202601021504"')).to.include({ validAfter: Date.UTC(2026, 0, 2, 15, 4) });
    expect(read('namespaces="a \\"b\\"",valid-before="20260102z"')).to.include({ namespaces: 'a "b"' });
  });

  const wrong: [name: string, line: string, message: RegExp][] = [
    ['a key alone', KEY, /no kind of key|neither/],
    ['principals alone', 'a@example.com', /has no key/],
    ['an empty principal', `a,,b ${KEY}`, /principal is empty/],
    ['an open quotation mark', `"a@example.com ${KEY}`, /principals cannot be read/],
    ['an authority', `a cert-authority ${KEY}`, /cert-authority is not taken/],
    ['an authority beside another option', `a namespaces="git",cert-authority ${KEY}`, /cert-authority/],
    ['an unknown option', `a no-touch-required="x" ${KEY}`, /no-touch-required is not taken/],
    ['an option twice', `a namespaces="git",namespaces="x" ${KEY}`, /twice/],
    ['an option without quotation marks', `a namespaces=git ${KEY}`, /quotation marks/],
    ['an option that does not end', `a namespaces="git ${KEY}`, /quotation marks/],
    ['options that end with a comma', `a namespaces="git", ${KEY}`, /neither/],
    ['options without a key', 'a namespaces="git"', /has no key/],
    ['a day that is not', `a valid-after="20260231" ${KEY}`, /valid-after is no time/],
    ['an hour that is not', `a valid-before="202601022400" ${KEY}`, /valid-before is no time/],
    ['a time of another form', `a valid-before="2026-01-02" ${KEY}`, /valid-before is no time/],
    [
      'a time that ends before it begins',
      `a valid-after="20260102",valid-before="20260101" ${KEY}`,
      /not later/,
    ],
    ['a kind of key that is not taken', `a ssh-dss AAAAB3NzaC1kc3M=`, /"ssh-dss" is no kind/],
    [
      'a key of a security token',
      `a sk-ssh-ed25519@openssh.com AAAA`,
      /"sk-ssh-ed25519@openssh.com" is no kind/,
    ],
    ['a certificate', `a ssh-ed25519-cert-v01@openssh.com AAAA`, /is no kind/],
    ['a key that is not base64', `a ssh-ed25519 ****`, /base64/],
    ['a key without bytes', `a ssh-ed25519`, /base64/],
    ['a key that is cut', `a ${KEY.slice(0, -8)}`, /bytes end too early/],
    ['a key under another kind', `a ${KEY.replace('ssh-ed25519', 'ssh-rsa')}`, /of another kind/],
    ['a short RSA key', `a ${newSshKey('short rsa').publicLine}`, /fewer than 2048 bits/],
    ['a control character', `a\u0000b ${KEY}`, /control character/],
    ['a lone CR', `a ${KEY} x\ry`, /control character/],
  ];
  for (const [name, line, message] of wrong)
    it(`is refused with the line for ${name}`, () => {
      const faults = faultsOf(`# first\nada@example.com ${KEY}\n${line}\n`);
      expect(faults.map(([at]) => at)).to.deep.equal([3]);
      expect(faults[0]?.[1]).to.match(message);
    });

  it('names every line that is wrong, up to twenty', () => {
    expect(faultsOf('x\n\ny\n').map(([line]) => line)).to.deep.equal([1, 3]);
    expect(faultsOf('x\n'.repeat(500))).to.have.length(20);
  });

  it('has at most 1,000 lines and 64 KiB', () => {
    expect(faultsOf('#\n'.repeat(1_000))).to.deep.equal([]);
    expect(faultsOf('#\n'.repeat(1_001))).to.deep.equal([[1_001, 'the text has more than 1000 lines']]);
    const long = `# ${'é'.repeat(32 * 1024 - 1)}`;
    expect(faultsOf(long)).to.deep.equal([]);
    expect(faultsOf(`\n${long}`)).to.deep.equal([[2, 'the text is longer than 65536 bytes']]);
  });

  it('matches namespaces by patterns, of which one may forbid', () => {
    const namespaces: [string, boolean][] = [
      ['git', true],
      ['file,git', true],
      ['file', false],
      ['', false],
      ['*', true],
      ['g?t', true],
      ['g*', true],
      ['*t*', true],
      ['??', false],
      ['GIT', false],
      ['*,!git', false],
      ['!file,git', true],
      ['!file', false],
      [`${'*?'.repeat(10_000)}`, false],
      [`${'*'.repeat(30_000)}x`, false],
    ];
    for (const [text, serves] of namespaces)
      expect(servesFor({ namespaces: text }, 'git'), text.slice(0, 30)).to.equal(serves);
    expect(servesFor({ namespaces: null }, 'git')).to.equal(true);
  });
});
