/**
 * The subject of a certificate as .NET writes it (`X509Certificate.Subject`), which is what servers in C# have stored: the
 * last part first, `, ` between the parts, and quotation marks where a value needs them.
 */

import { type DerValue, readDer, readObjectIdentifier } from '../lib/der.ts';

/** The system on which .NET ran. The two differ in the names of a few types only. */
export type DotNetSystem = 'windows' | 'linux';

/** The types that .NET itself names, the same on every system. */
const TYPES: Readonly<Record<string, string>> = {
  '0.9.2342.19200300.100.1.25': 'DC',
  '1.2.840.113549.1.9.1': 'E',
  '2.23.133.2.1': 'TPMManufacturer',
  '2.23.133.2.2': 'TPMModel',
  '2.23.133.2.3': 'TPMVersion',
  '2.5.4.3': 'CN',
  '2.5.4.4': 'SN',
  '2.5.4.5': 'SERIALNUMBER',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'S',
  '2.5.4.9': 'STREET',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '2.5.4.12': 'T',
  '2.5.4.13': 'Description',
  '2.5.4.17': 'PostalCode',
  '2.5.4.18': 'POBox',
  '2.5.4.20': 'Phone',
  '2.5.4.24': 'X21Address',
  '2.5.4.42': 'G',
  '2.5.4.43': 'I',
  '2.5.4.46': 'dnQualifier',
};

/** Others that OpenSSL names, which .NET asks on Linux. On Windows they are numbers. */
const OPENSSL_TYPES: Readonly<Record<string, string>> = {
  '0.9.2342.19200300.100.1.1': 'userId',
  '1.2.840.113549.1.9.2': 'unstructuredName',
  '1.2.840.113549.1.9.8': 'unstructuredAddress',
  '1.3.6.1.4.1.311.60.2.1.1': 'jurisdictionLocalityName',
  '1.3.6.1.4.1.311.60.2.1.2': 'jurisdictionStateOrProvinceName',
  '1.3.6.1.4.1.311.60.2.1.3': 'jurisdictionCountryName',
  '2.5.4.15': 'businessCategory',
  '2.5.4.41': 'name',
  '2.5.4.44': 'generationQualifier',
  '2.5.4.45': 'x500UniqueIdentifier',
  '2.5.4.65': 'pseudonym',
  '2.5.4.97': 'organizationIdentifier',
};

const OCTETS = 0x04;
/** The strings that are read as text, by their tags. All others are written as hexadecimal digits. */
const DECODERS: Readonly<Record<number, (content: Buffer) => string>> = {
  [0x0c]: (content) => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content),
  [0x12]: (content) => content.toString('latin1'),
  [0x13]: (content) => content.toString('latin1'),
  [0x14]: readTeletex,
  [0x16]: (content) => content.toString('latin1'),
  [0x1e]: (content) => Buffer.from(content).swap16().toString('utf16le'),
};

/** A carriage return does not count, as on Windows. */
const QUOTED = /[,+="\n<>#;]/;
const OUTER_SPACE = /^[ \t-\r]|[ \t-\r]$/;

/**
 * @param certificate in DER
 * @returns an empty text where the name cannot be read, as .NET does
 */
export function dotNetSubject(certificate: Buffer, system: DotNetSystem = 'windows'): string {
  try {
    return dotNetName(subjectOf(certificate), system);
  } catch {
    return '';
  }
}

/**
 * @param name a sequence of relative distinguished names in DER
 * @throws Error where it cannot be read
 */
export function dotNetName(name: Buffer, system: DotNetSystem = 'windows'): string {
  return membersOf(name)
    .reverse()
    .map((part) => readDer(part.content).map((attribute) => writeAttribute(attribute, system)))
    .map((attributes) => attributes.join(' + '))
    .join(', ');
}

/** The subject is the sixth member of what is signed, or the fifth in version 1, which has no member for the version. */
function subjectOf(certificate: Buffer): Buffer {
  const [signed] = membersOf(certificate);
  const members = readDer(signed?.content ?? Buffer.alloc(0));
  const subject = members[members[0]?.tag === 0xa0 ? 5 : 4];
  if (subject === undefined) throw new RangeError('the certificate has no subject');
  return subject.encoded;
}

function membersOf(sequence: Buffer): DerValue[] {
  const [whole] = readDer(sequence);
  return readDer(whole?.content ?? Buffer.alloc(0));
}

function writeAttribute({ content }: DerValue, system: DotNetSystem): string {
  const [type, value] = readDer(content);
  if (type === undefined || value === undefined) throw new RangeError('the attribute has no value');
  return `${nameOfType(readObjectIdentifier(type.content), system)}=${writeValue(value)}`;
}

function nameOfType(id: string, system: DotNetSystem): string {
  const name = TYPES[id] ?? (system === 'linux' ? OPENSSL_TYPES[id] : undefined);
  return name ?? `OID.${id}`;
}

function writeValue({ tag, content, encoded }: DerValue): string {
  const decode = DECODERS[tag];
  if (decode === undefined) return writeBytes(tag === OCTETS ? content : encoded);
  const text = decode(content).replace(/\0+$/, '');
  const needsQuotes = text === '' || QUOTED.test(text) || OUTER_SPACE.test(text);
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}

const writeBytes = (bytes: Buffer) => `#${bytes.toString('hex').toUpperCase()}`;

/** .NET takes it for UTF-8 if it is that, and for Latin-1 otherwise. */
function readTeletex(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return content.toString('latin1');
  }
}
