/** The text of Git's `packed-refs`: `<oid> <name>` lines, and `^<oid>` for what the tag above it leads to. */

/** A ref to be put into the file. */
export interface PackedRef {
  name: string;
  oid: string;
  /** What an annotated tag leads to in the end; null for a branch. */
  peeled: string | null;
}

const ENTRY = /^([0-9a-f]{40}) (refs\/.+)$/;
/** Promises that names are sorted by their bytes and every annotated tag has its `^` line. */
const HEADER = '# pack-refs with: peeled fully-peeled sorted ';

/** Oids by full name. Lines that cannot be understood are passed over, as git's own writer makes none. */
export function parsePackedRefs(text: string): Map<string, string> {
  const refs = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, oid, name] = ENTRY.exec(line) ?? [];
    if (oid !== undefined && name !== undefined) refs.set(name, oid);
  }
  return refs;
}

/** The oid of one ref, found without taking the whole file apart or even decoding it; null when it is not there. */
export function findPackedRef(file: Buffer, name: string): string | null {
  const at = file.indexOf(` ${name}\n`);
  return at < 40 ? null : file.toString('latin1', at - 40, at);
}

/** The file without one ref and its `^` line, everything else as it was; null when the ref is not in it. */
export function withoutPackedRef(text: string, name: string): string | null {
  const at = text.indexOf(` ${name}\n`);
  if (at < 40) return null;
  let end = at + name.length + 2;
  if (text[end] === '^') end = text.indexOf('\n', end) + 1;
  return text.slice(0, at - 40) + text.slice(end);
}

/** The file with these refs in place of what it holds of their names; null for a file of another make. */
export function withPackedRefs(text: string, added: readonly PackedRef[]): string | null {
  const [header, ...lines] = text === '' ? [HEADER] : text.split('\n');
  if (header?.trimEnd() !== HEADER.trimEnd()) return null;
  const blocks = new Map<string, string>();
  let last = '';
  for (const line of lines) {
    const name = ENTRY.exec(line)?.[2];
    if (name !== undefined) blocks.set(name, `${line}\n`);
    else if (line.startsWith('^')) blocks.set(last, `${blocks.get(last)}${line}\n`);
    else if (line !== '') return null;
    last = name ?? last;
  }
  for (const { name, oid, peeled } of added) {
    blocks.set(name, `${oid} ${name}\n${peeled === null ? '' : `^${peeled}\n`}`);
  }
  const sorted = [...blocks].map(([name, block]) => ({ key: Buffer.from(name), block }));
  sorted.sort((a, b) => Buffer.compare(a.key, b.key));
  return `${HEADER}\n${sorted.map(({ block }) => block).join('')}`;
}
