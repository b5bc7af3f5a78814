import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { findHeader, readClientCert, readEscapedPem } from '../../../src/http/proxies.ts';
import { makeClientCertificate } from '../../support/client-certificates.ts';

describe('the header with a certificate', () => {
  let pem: string;
  let other: string;
  const derOf = (text: string) => new X509Certificate(text).raw;
  const sequence = (bytes: Buffer) => `:${bytes.toString('base64')}:`;
  const thumbprints = (chain: readonly X509Certificate[]) =>
    chain.map(({ fingerprint256 }) => fingerprint256);
  const expected = () => thumbprints([new X509Certificate(pem), new X509Certificate(other)]);

  before(async () => {
    pem = (await makeClientCertificate({ commonName: 'web-01' })).cert;
    other = (await makeClientCertificate({ commonName: 'web-02', rsa: true })).cert;
  });

  describe('is found', () => {
    const name = 'x-ssl-client-cert';

    it('in any case, as often as it is there, and misspelt', () => {
      const raw = ['Host', 'a', 'X-SSL-Client-Cert', 'one', 'x-ssl-client-cert', 'two', 'Accept', name];
      expect(findHeader(raw, name)).to.deep.equal({ values: ['one', 'two'], isMisspelt: false });
      expect(findHeader(['X_SSL-Client_Cert', 'one'], name)).to.deep.equal({ values: [], isMisspelt: true });
      expect(findHeader(['Host', name], name)).to.deep.equal({ values: [], isMisspelt: false });
    });

    it('among whatever other headers, in whatever case and spelling', () => {
      const spelling = fc
        .array(fc.tuple(fc.boolean(), fc.boolean()), { minLength: name.length, maxLength: name.length })
        .map((choices) =>
          [...name].map((letter, at) => {
            const [isUpper, isUnderscore] = choices[at] ?? [false, false];
            if (letter === '-') return isUnderscore ? '_' : '-';
            return isUpper ? letter.toUpperCase() : letter;
          }),
        )
        .map((letters) => letters.join(''));
      const header = fc.tuple(fc.oneof(spelling, fc.constantFrom('Host', 'Cookie', 'X-SSL')), fc.string());
      fc.assert(
        fc.property(fc.array(header), (headers) => {
          const right = headers.filter(([given]) => given.toLowerCase() === name);
          const wrong = headers.filter(([given]) => given.includes('_'));
          expect(findHeader(headers.flat(), name)).to.deep.equal({
            values: right.map(([, value]) => value),
            isMisspelt: wrong.length > 0,
          });
        }),
      );
    });
  });

  describe('as RFC 9440 has it', () => {
    it('holds the certificate, its issuers in the header beside it', () => {
      const chain = [derOf(other), derOf(pem)].map(sequence).join(' ,\t');
      expect(thumbprints(readClientCert(sequence(derOf(pem)), ''))).to.deep.equal(expected().slice(0, 1));
      expect(thumbprints(readClientCert(sequence(derOf(pem)), chain))).to.deep.equal([
        ...expected().slice(0, 1),
        ...expected().reverse(),
      ]);
    });

    it('may come without padding', () => {
      const bare = sequence(derOf(pem)).replaceAll('=', '');
      expect(thumbprints(readClientCert(bare, ''))).to.deep.equal(expected().slice(0, 1));
    });

    it('is nothing else', () => {
      const good = sequence(derOf(pem));
      const faults = {
        'no colons': good.slice(1, -1),
        'one colon': good.slice(1),
        parameters: `${good};a=1`,
        'a list': `${good}, ${good}`,
        PEM: pem.replaceAll('\n', ' '),
        'escaped PEM': encodeURIComponent(pem),
        'PEM within': sequence(Buffer.from(pem)),
        'cut off': sequence(derOf(pem).subarray(0, -1)),
        'followed by more': sequence(Buffer.concat([derOf(pem), Buffer.from('x')])),
        'blanks within': good.replace(/^:(....)/, ':$1 '),
        base64url: good.replace(/.(?=.{8}:$)/, '-'),
        nothing: ':AAAA:',
        text: 'x',
      };
      for (const [fault, value] of Object.entries(faults)) {
        expect(() => readClientCert(value, ''), fault).to.throw();
        expect(
          () => readClientCert(good, value === 'x' ? ',' : `${good},${value.replaceAll(',', ';')}`),
          fault,
        ).to.throw();
      }
    });
  });

  describe('as URL-encoded PEM', () => {
    it('holds the certificate, its issuers perhaps behind it', () => {
      expect(thumbprints(readEscapedPem(encodeURIComponent(pem)))).to.deep.equal(expected().slice(0, 1));
      expect(thumbprints(readEscapedPem(encodeURIComponent(pem + other)))).to.deep.equal(expected());
      const sparing = pem.replaceAll('\n', '%0A').replaceAll(' ', '%20');
      expect(thumbprints(readEscapedPem(sparing)), 'the plus sign left as it is').to.have.length(1);
    });

    it('is nothing else', () => {
      const faults = {
        'half an escape': `${encodeURIComponent(pem)}%`,
        'no UTF-8': `${encodeURIComponent(pem)}%FF`,
        'more text': encodeURIComponent(`${pem}x`),
        'a key': encodeURIComponent(`${pem}-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n`),
        'six certificates': encodeURIComponent(pem.repeat(6)),
        'escaped twice': encodeURIComponent(encodeURIComponent(pem)),
        'cut off': encodeURIComponent(pem.slice(0, -5)),
        'a byte sequence': sequence(derOf(pem)),
        nothing: '',
      };
      for (const [fault, value] of Object.entries(faults))
        expect(() => readEscapedPem(value), fault).to.throw();
    });
  });
});
