import { expect } from 'chai';
import { isSameName } from '../../../src/domain/distinguished-name.ts';

/** As OpenSSL shows it here, then as .NET or somebody else would. */
const SAME: [string, string][] = [
  ['CN=web-01', 'CN=web-01'],
  ['CN=web-01', 'cn = WEB-01'],
  ['CN=web-01', 'CN="web-01"'],
  ['CN=web-01, O=Example', 'O=Example,CN=web-01'],
  ['CN=web-01, O=Example\\, Inc.', 'CN=web-01, O="Example, Inc."'],
  ['CN=a\\+b', 'CN="a+b"'],
  ['CN=say \\"hi\\"', 'CN="say ""hi"""'],
  ['CN=a\\\\z', 'CN=a\\z'],
  ['CN=web, ST=Bavaria', 'CN=web, S=Bavaria'],
  ['emailAddress=a@example.org, CN=web', 'E=a@example.org, CN=web'],
  ['CN=web + OU=ops', 'OU=ops+CN=web'],
  ['CN=Müller', 'CN=M\\C3\\BCller'],
  ['CN=two  words', 'CN=Two Words'],
  ['', ''],
  ['', ' '],
];

const DIFFERENT: [string, string][] = [
  ['CN=web-01', 'CN=web-02'],
  ['CN=web-01', 'OU=web-01'],
  ['CN=web-01', 'CN=web-01, O=Example'],
  ['CN=web-01', ''],
  ['CN=a, CN=b', 'CN="a, CN=b"'],
  ['CN=a\\, CN\\=b', 'CN=a, CN=b'],
  ['CN=web, CN=web', 'CN=web'],
];

describe('the names of certificates', () => {
  for (const [one, other] of SAME) {
    it(`are the same: ${one} | ${other}`, () => {
      expect(isSameName(one, other)).to.equal(true);
      expect(isSameName(other, one)).to.equal(true);
    });
  }

  for (const [one, other] of DIFFERENT) {
    it(`differ: ${one} | ${other}`, () => {
      expect(isSameName(one, other)).to.equal(false);
      expect(isSameName(other, one)).to.equal(false);
    });
  }

  it('end, however they are written', () => {
    for (const piece of ['\\', '"', ',', '\\,', '=', '+"']) {
      expect(isSameName(piece.repeat(1_024), 'CN=web')).to.equal(false);
    }
  });
});
