/** The text of Git's `packed-refs`: `<oid> <name>` lines, and `^<oid>` for what the tag above it points to. */

export interface RefValue {
  oid: string;
  /** What an annotated tag leads to in the end; null: the ref is no annotated tag; undefined: not known. */
  peeled: string | null | undefined;
}

const ENTRY = /^([0-9a-f]{40}) (refs\/.+)$/;
const PEELED = /^\^([0-9a-f]{40})$/;

/** All refs of the file by full name. Lines that cannot be understood are passed over, as git's own writer makes none. */
export function parsePackedRefs(text: string): Map<string, RefValue> {
  const refs = new Map<string, RefValue>();
  // The header promises that every annotated tag has its `^` line; without it, its lack says nothing.
  const unpeeled = /^# pack-refs with:.* (fully-)?peeled\b/.test(text) ? null : undefined;
  let last: RefValue | undefined;
  for (const line of text.split('\n')) {
    const [, oid, name] = ENTRY.exec(line) ?? [];
    if (oid !== undefined && name !== undefined) {
      last = { oid, peeled: name.startsWith('refs/tags/') ? unpeeled : null };
      refs.set(name, last);
    } else if (last !== undefined) {
      const peeled = PEELED.exec(line)?.[1];
      if (peeled !== undefined) last.peeled = peeled;
    }
  }
  return refs;
}

/** The oid of one ref, found without taking the whole file apart; null when it is not there. */
export function findPackedRef(text: string, name: string): string | null {
  const at = text.indexOf(` ${name}\n`);
  return at < 40 ? null : text.slice(at - 40, at);
}

/** The file without one ref and its `^` line, everything else as it was; null when the ref is not in it. */
export function withoutPackedRef(text: string, name: string): string | null {
  const at = text.indexOf(` ${name}\n`);
  if (at < 40) return null;
  let end = at + name.length + 2;
  if (text[end] === '^') end = text.indexOf('\n', end) + 1;
  return text.slice(0, at - 40) + text.slice(end);
}
