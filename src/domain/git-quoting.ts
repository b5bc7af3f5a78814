/** Paths as git writes them in patches (quote_c_style in git's quote.c, with `core.quotePath` on). */

const ESCAPES: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
};

/** The path, in quotes where any of its bytes needs that. */
export function quotedPath(path: string): string {
  if (/^[ !#-[\]-~]*$/.test(path)) return path;
  let text = '';
  for (const byte of Buffer.from(path)) {
    const isPlain = byte >= 0x20 && byte < 0x7f;
    text += ESCAPES[byte] ?? (isPlain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`);
  }
  return `"${text}"`;
}
