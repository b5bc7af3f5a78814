/** Compares names of certificates, which OpenSSL and .NET write in different spellings. */

/** Types of attributes for which .NET and OpenSSL use different names. */
const SAME_TYPE: Readonly<Record<string, string>> = {
  S: 'ST',
  E: 'EMAILADDRESS',
  G: 'GN',
  T: 'TITLE',
  'OID.0.9.2342.19200300.100.1.1': 'UID',
};
const HEX_PAIR = /^[0-9A-Fa-f]{2}/;
const ESCAPABLE = new Set(' "#+,;<=>\\');

/**
 * Whether two texts name the same subject. The order of the parts, the case, runs of spaces and the way of escaping
 * (backslashes in RFC 4514, quotation marks in .NET) do not count.
 */
export function isSameName(one: string, other: string): boolean {
  return normalize(one) === normalize(other);
}

/** The parts are separated by a character that no name contains. */
function normalize(name: string): string {
  return splitParts(name).map(normalizePart).filter(Boolean).sort().join('\0');
}

function normalizePart(part: string): string {
  const mark = part.indexOf('=');
  const type = part.slice(0, Math.max(mark, 0)).trim().toUpperCase();
  const value = part
    .slice(mark + 1)
    .trim()
    .replace(/\s+/g, ' ')
    .toLowerCase();
  return type === '' && value === '' ? '' : `${SAME_TYPE[type] ?? type}=${value}`;
}

/** The attributes of the name, with their values without quotation marks and escapes. */
function splitParts(name: string): string[] {
  const parts: Buffer[][] = [[]];
  const append = (bytes: Buffer) => parts.at(-1)?.push(bytes);
  let isQuoted = false;
  for (let rest = name; rest !== ''; ) {
    const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
    const next = rest.slice(character.length);
    const escaped = character === '\\' && !isQuoted ? readEscape(next) : null;
    rest = next.slice(escaped?.length ?? 0);
    if (escaped !== null) append(escaped.bytes);
    else if (character === '"' && isQuoted && next.startsWith('"')) {
      append(Buffer.from('"'));
      rest = next.slice(1);
    } else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && ',;+'.includes(character)) parts.push([]);
    else append(Buffer.from(character));
  }
  return parts.map((bytes) => Buffer.concat(bytes).toString('utf8'));
}

/** The bytes that an escape stands for. Null means that the backslash is only itself, as in .NET's spelling. */
function readEscape(next: string): { bytes: Buffer; length: number } | null {
  const pair = HEX_PAIR.exec(next)?.[0];
  if (pair !== undefined) return { bytes: Buffer.from(pair, 'hex'), length: 2 };
  const [character = ''] = next;
  return ESCAPABLE.has(character) ? { bytes: Buffer.from(character), length: 1 } : null;
}
