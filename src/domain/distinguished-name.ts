/** Names of certificates as text: OpenSSL and .NET write the same one in different spellings. */

/** Where .NET and OpenSSL have names of their own for a type of attribute. */
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
 * Whether two texts name the same subject. The order of the parts, the case, runs of spaces and the manner of
 * escaping (RFC 4514 with backslashes, .NET with quotation marks) do not count.
 */
export function isSameName(one: string, other: string): boolean {
  return normalize(one) === normalize(other);
}

/** Parts are kept apart by a character that no name is shown with. */
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

/** Attributes of the name, their values without quotation marks and escapes. */
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

/** What a backslash stands for with what follows it; null where it is only itself, as in .NET's spelling. */
function readEscape(next: string): { bytes: Buffer; length: number } | null {
  const pair = HEX_PAIR.exec(next)?.[0];
  if (pair !== undefined) return { bytes: Buffer.from(pair, 'hex'), length: 2 };
  const [character = ''] = next;
  return ESCAPABLE.has(character) ? { bytes: Buffer.from(character), length: 1 } : null;
}
