import '../../../src/lib/reflect.ts';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { expect } from 'chai';
import { dotNetName, dotNetSubject } from '../../../src/domain/dotnet-name.ts';

const CN = '2.5.4.3';
const O = '2.5.4.10';
const C = '2.5.4.6';

const tlv = (tag: number, ...contents: Buffer[]): Buffer => {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
};

function identifier(id: string): Buffer {
  const [first = 0, second = 0, ...others] = id.split('.').map(Number);
  const bytes = [first * 40 + second, ...others].flatMap((number) => {
    const groups = [number & 0x7f];
    for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128))
      groups.unshift((rest & 0x7f) | 0x80);
    return groups;
  });
  return tlv(0x06, Buffer.from(bytes));
}

type Attribute = [id: string, value: string | Buffer];

const attribute = ([id, value]: Attribute) =>
  tlv(0x30, identifier(id), typeof value === 'string' ? tlv(0x0c, Buffer.from(value)) : value);
/** A name of parts, each with one attribute or several. */
const name = (...parts: Attribute[][]) =>
  tlv(0x30, ...parts.map((part) => tlv(0x31, ...part.map(attribute))));
const cn = (value: string | Buffer) => dotNetName(name([[CN, value]]));

describe('the subject of a certificate as .NET writes it', () => {
  it('has the last part first', () => {
    const parts = name([[C, 'DE']], [[O, 'Example, Inc.']], [[CN, 'node1.example.org']]);
    expect(dotNetName(parts)).to.equal('CN=node1.example.org, O="Example, Inc.", C=DE');
    expect(dotNetName(name())).to.equal('');
  });

  const VALUES: [value: string, written: string][] = [
    ['web-01', 'web-01'],
    ['two  words', 'two  words'],
    ['Müller', 'Müller'],
    ['back\\slash', 'back\\slash'],
    ['a,b', '"a,b"'],
    ['a+b', '"a+b"'],
    ['a=b', '"a=b"'],
    ['a<b', '"a<b"'],
    ['a>b', '"a>b"'],
    ['a;b', '"a;b"'],
    ['#1', '"#1"'],
    ['say "hi"', '"say ""hi"""'],
    ['"', '""""'],
    [' a', '" a"'],
    ['a ', '"a "'],
    ['\ta', '"\ta"'],
    ['a\nb', '"a\nb"'],
    ['a\rb', 'a\rb'],
    ['a\r', '"a\r"'],
    ['', '""'],
    ['\u00a0a', '\u00a0a'],
    ['a\0\0', 'a'],
  ];
  for (const [value, written] of VALUES) {
    it(`writes ${JSON.stringify(value)} as ${JSON.stringify(written)}`, () => {
      expect(cn(value)).to.equal(`CN=${written}`);
    });
  }

  it('keeps the attributes of one part together, in their order', () => {
    const parts = name(
      [[O, 'Example']],
      [
        [CN, 'web'],
        ['2.5.4.11', 'a+b'],
      ],
    );
    expect(dotNetName(parts)).to.equal('CN=web + OU="a+b", O=Example');
  });

  it('names types as .NET does, and others by their numbers', () => {
    const types: Record<string, string> = {
      '2.5.4.8': 'S',
      '2.5.4.7': 'L',
      '2.5.4.5': 'SERIALNUMBER',
      '2.5.4.12': 'T',
      '2.5.4.42': 'G',
      '1.2.840.113549.1.9.1': 'E',
      '0.9.2342.19200300.100.1.25': 'DC',
      '1.2.3': 'OID.1.2.3',
      '2.999.4': 'OID.2.999.4',
      '1.3.6.1.4.1.4294967297.1': 'OID.1.3.6.1.4.1.4294967297.1',
    };
    for (const [id, type] of Object.entries(types))
      for (const system of ['windows', 'linux'] as const)
        expect(dotNetName(name([[id, 'x']]), system), id).to.equal(`${type}=x`);
  });

  it('differs between systems where OpenSSL has a name for a type', () => {
    const parts = name([['0.9.2342.19200300.100.1.1', 'x']]);
    expect(dotNetName(parts)).to.equal('OID.0.9.2342.19200300.100.1.1=x');
    expect(dotNetName(parts, 'linux')).to.equal('userId=x');
  });

  it('reads every kind of string, and writes others in hexadecimal', () => {
    const text = Buffer.from('web');
    for (const tag of [0x0c, 0x12, 0x13, 0x14, 0x16])
      expect(cn(tlv(tag, text)), String(tag)).to.equal('CN=web');
    expect(cn(tlv(0x1e, Buffer.from('wéb', 'utf16le').swap16()))).to.equal('CN=wéb');
    expect(cn(tlv(0x14, Buffer.from('wéb', 'latin1')))).to.equal('CN=wéb');
    expect(cn(tlv(0x04, text))).to.equal('CN=#776562');
    expect(cn(tlv(0x02, Buffer.from([10])))).to.equal('CN=#02010A');
  });

  it('takes the subject out of a certificate, also a long one', async () => {
    const keys = await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
      'sign',
      'verify',
    ]);
    const long = 'x'.repeat(300);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      name: new x509.Name([
        { C: [{ printableString: 'DE' }] },
        { O: [{ utf8String: `Example, ${long}` }] },
        { CN: [{ utf8String: 'node1.example.org' }] },
      ]),
      signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
      keys,
    });
    const der = Buffer.from(certificate.rawData);
    expect(dotNetSubject(der)).to.equal(`CN=node1.example.org, O="Example, ${long}", C=DE`);
  });

  it('is empty where the name cannot be read', () => {
    const whole = name([[CN, 'web']]);
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from([0x30]),
      whole.subarray(0, 6),
      Buffer.from('3085', 'hex'),
    ])
      expect(dotNetSubject(bytes)).to.equal('');
    expect(() => cn(tlv(0x0c, Buffer.from([0xff])))).to.throw();
  });
});
