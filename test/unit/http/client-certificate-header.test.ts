import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { formatOf, lastElement, NoCertificate } from '../../../src/http/certificate-formats.ts';
import { findHeader } from '../../../src/http/proxies.ts';
import { makeClientCertificate } from '../../support/client-certificates.ts';

describe('the header with a certificate', () => {
  let pem: string;
  let other: string;
  const derOf = (text: string) => new X509Certificate(text).raw;
  const sequence = (bytes: Buffer) => `:${bytes.toString('base64')}:`;
  const thumbprints = (chain: readonly X509Certificate[]) =>
    chain.map(({ fingerprint256 }) => fingerprint256);
  const expected = () => thumbprints([new X509Certificate(pem), new X509Certificate(other)]);

  const readAs = (header: string, value: string) => thumbprints(formatOf(header).read(value, ''));
  const base64 = (text: string) => derOf(text).toString('base64');

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
    const readClientCert = (value: string, chain: string) => formatOf('client-cert').read(value, chain);

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

  describe('as PEM', () => {
    const HEADER = 'X-SSL-Client-Cert';
    const readPem = (value: string) => formatOf(HEADER).read(value, '');

    it('holds the certificate, URL-encoded, its issuers perhaps behind it', () => {
      expect(thumbprints(readPem(encodeURIComponent(pem)))).to.deep.equal(expected().slice(0, 1));
      expect(thumbprints(readPem(encodeURIComponent(pem + other)))).to.deep.equal(expected());
      const sparing = pem.replaceAll('\n', '%0A').replaceAll(' ', '%20');
      expect(thumbprints(readPem(sparing)), 'the plus sign left as it is').to.have.length(1);
    });

    it('may be in one line, with blanks or tabs where Apache and nginx have no line breaks', () => {
      const line = (text: string, blank = ' ') => text.trim().replaceAll('\n', blank);
      expect(readAs(HEADER, line(pem))).to.deep.equal(expected().slice(0, 1));
      expect(readAs(HEADER, `${line(pem)} `), 'a blank for the last line break').to.have.length(1);
      for (const blank of ['\t', '  ', ' \t']) expect(readAs(HEADER, line(pem, blank))).to.have.length(1);
      expect(readAs(HEADER, line(pem).replaceAll(/(?<!BEGIN|END) (?!CERT)/g, '')), 'none').to.have.length(1);
      expect(readAs(HEADER, encodeURIComponent(line(pem)))).to.have.length(1);
      expect(readAs(HEADER, line(pem + other))).to.deep.equal(expected());
    });

    it('is nothing else', () => {
      const faults = {
        'one line of text': '-----BEGIN CERTIFICATE----- nothing -----END CERTIFICATE-----',
        'one empty line': '-----BEGIN CERTIFICATE----- -----END CERTIFICATE-----',
        'a key in one line': `${pem}-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----`.replaceAll(
          '\n',
          ' ',
        ),
        base64: derOf(pem).toString('base64'),
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
      for (const [fault, value] of Object.entries(faults)) expect(() => readPem(value), fault).to.throw();
    });
  });

  describe('as IIS and Azure send it', () => {
    const HEADER = 'X-ARR-ClientCert';

    it('holds the certificate in base64, whatever case its name has', () => {
      expect(readAs(HEADER, base64(pem))).to.deep.equal(expected().slice(0, 1));
      expect(readAs(HEADER.toLowerCase(), base64(other))).to.deep.equal(expected().slice(1));
    });

    it('is nothing else', () => {
      const faults = [
        '%%%',
        'bm90IGEgY2VydA==',
        '-----BEGIN',
        'MII',
        '=',
        sequence(derOf(pem)),
        `${base64(pem)},${base64(pem)}`,
        pem.replaceAll('\n', ' '),
        encodeURIComponent(pem),
        `${base64(pem)}AAAA`,
        Buffer.from(pem).toString('base64'),
      ];
      for (const fault of faults) expect(() => readAs(HEADER, fault), fault.slice(0, 20)).to.throw();
    });
  });

  describe('as Traefik sends it', () => {
    const HEADER = 'X-Forwarded-Tls-Client-Cert';

    it('holds the certificate in base64, escaped before release 2.9.4 and bare since then', () => {
      expect(base64(other), 'a plus sign, which an escape must not take for a blank').to.include('+');
      for (const text of [pem, other])
        for (const value of [base64(text), encodeURIComponent(base64(text))])
          expect(readAs(HEADER, value)).to.deep.equal(thumbprints([new X509Certificate(text)]));
    });

    it('may hold its issuers after commas', () => {
      expect(readAs(HEADER, [pem, other].map(base64).join(','))).to.deep.equal(expected());
      expect(
        readAs(HEADER, [pem, other].map((each) => encodeURIComponent(base64(each))).join(',')),
      ).to.have.length(2);
    });

    it('is nothing else', () => {
      const good = base64(pem);
      const faults = [
        '%',
        '%FF',
        'bm90IGEgY2VydA%3D%3D',
        ',',
        `${good},`,
        `,${good}`,
        `${good}, ${good}`,
        Array(6).fill(good).join(),
        encodeURIComponent(pem),
        pem.replaceAll('\n', ' '),
        sequence(derOf(pem)),
      ];
      for (const fault of faults) expect(() => readAs(HEADER, fault), fault.slice(0, 20)).to.throw();
    });
  });

  describe('as Envoy sends it', () => {
    const HEADER = 'X-Forwarded-Client-Cert';
    const cert = (text: string) => `Cert="${encodeURIComponent(text)}"`;
    /** As the documentation of Envoy shows it, without a certificate. */
    const shown =
      'By=http://frontend.example.com;Hash=468ed33be74eee6556d90c0149c1309e9ba61d6425303443c0748a02dd8de688;' +
      'Subject="/C=US/ST=CA/L=San Francisco/OU=Example/CN=Test Client";URI=http://test.example.com;DNS=example.com;DNS=www.example.com';

    it('holds the certificate in its last element', () => {
      expect(readAs(HEADER, cert(pem))).to.deep.equal(expected().slice(0, 1));
      expect(readAs(HEADER, cert(pem).replace('Cert', 'cert'))).to.have.length(1);
      expect(readAs(HEADER, `${shown};${cert(pem)}`)).to.have.length(1);
      expect(readAs(HEADER, `By=a;${cert(other)},By=b;${cert(pem)};URI=`)).to.deep.equal(
        expected().slice(0, 1),
      );
      expect(readAs(HEADER, `${cert(other)}, ${cert(pem)}`)).to.deep.equal(expected().slice(0, 1));
      const subject = String.raw`Subject="CN=a,O=\"b;Cert=c\""`;
      expect(readAs(HEADER, `${shown},${subject};${cert(pem)}`)).to.deep.equal(expected().slice(0, 1));
    });

    it('holds none where the last element has none, whatever the others have', () => {
      for (const value of [
        shown,
        'By=spiffe://a;Hash=00',
        `${cert(pem)},By=b`,
        `Chain="${encodeURIComponent(pem)}"`,
      ])
        expect(() => readAs(HEADER, value), value.slice(0, 20)).to.throw(NoCertificate);
    });

    it('is nothing else', () => {
      const faults = [
        'Cert="',
        'Cert="nothing"',
        'Cert=""',
        'Cert=',
        'Cert',
        ',',
        `${cert(pem)},`,
        `,${cert(pem)}`,
        `${cert(pem)};`,
        `${cert(pem)};${cert(other)}`,
        `${cert(pem)}x`,
        `x${cert(pem)}"`,
        `Cert="${base64(pem)}"`,
        encodeURIComponent(pem),
        base64(pem),
        cert(pem.repeat(6)),
        cert(`${pem}x`),
        'Cert="%"',
        // A client that opens a quote, in the hope that it swallows what the proxy adds.
        `By="x,By=spiffe://b;${cert(pem)}`,
      ];
      for (const fault of faults)
        expect(() => readAs(HEADER, fault), fault.slice(0, 20))
          .to.throw()
          .not.instanceOf(NoCertificate);
    });

    it('is taken apart as it was written, whatever stands in the values', () => {
      const key = fc.constantFrom('By', 'Hash', 'Cert', 'cert', 'Subject', 'URI', 'DNS');
      // A backslash at the end would escape the quote that follows it: Envoy has no escape for a backslash.
      const quoted = fc
        .string({ unit: fc.constantFrom('"', '\\', ',', ';', '=', ' ', 'a', 'Cert=', '%2D', 'é') })
        .filter((text) => !text.endsWith('\\'));
      const plain = fc.string({ unit: fc.constantFrom('\\', '=', ' ', 'a', '%2D', '/') });
      const value = fc.oneof(
        quoted.map((text) => [text, `"${text.replaceAll('"', '\\"')}"`] as const),
        plain.map((text) => [text, text] as const),
      );
      const element = fc.array(fc.tuple(key, value), { minLength: 1, maxLength: 4 });
      fc.assert(
        fc.property(fc.array(element, { minLength: 1, maxLength: 3 }), (elements) => {
          const written = elements
            .map((pairs) => pairs.map(([name, [, text]]) => `${name}=${text}`).join(';'))
            .join(',');
          const last = elements.at(-1)?.map(([name, [text]]) => [name, text]);
          expect(lastElement(written), written).to.deep.equal(last);
        }),
      );
    });

    it('is read in a time that grows with its length, however it is made', () => {
      for (const text of ['\\', '\\"', 'a=', '"', ';', 'By="', ' '])
        expect(() => lastElement(`By="${text.repeat(12_000)}`), text).to.throw();
    });
  });
});
