/** The leaves of parameter documents, which are bounded in number and by their paths (rights.md section 6). */

import { isMapping, type Mapping, type Value } from './value.ts';

/** This many leaves a document may have, and what the documents of a node make together. */
export const MAX_LEAVES = 20_000;

/** The JSON Pointers (RFC 6901) of all leaves together, from the document's root, in bytes of UTF-8. */
export const MAX_POINTER_BYTES = 2 * 1024 * 1024;

/**
 * Counts leaves with the bytes of their pointers, and builds none of those. A leaf is whatever is not a mapping with
 * keys: a list is one leaf, and so is an empty mapping.
 */
export class LeafCount {
  leaves = 0;
  pointerBytes = 0;

  get isBeyond(): boolean {
    return this.leaves > MAX_LEAVES || this.pointerBytes > MAX_POINTER_BYTES;
  }

  /** @param pointerBytes of the leaf's pointer */
  add(pointerBytes: number): void {
    this.leaves += 1;
    this.pointerBytes += pointerBytes;
  }

  /**
   * Adds the leaves of what stands at a pointer. Stops at the first one beyond the bounds, so that aliases cannot make
   * it cost more than that.
   */
  addAll(value: Value, pointerBytes: number): void {
    if (isMapping(value) && value.size > 0) this.addKeys(value, pointerBytes);
    else this.add(pointerBytes);
  }

  /** As `addAll` of a whole document, which is no leaf itself, not even without keys. */
  addKeys(mapping: Mapping, pointerBytes: number): void {
    for (const [key, item] of mapping) {
      if (this.isBeyond) return;
      this.addAll(item, pointerBytes + tokenBytes(key));
    }
  }
}

/** The bytes that a key adds to a pointer: the slash, and `~` and `/` as two characters each. */
export function tokenBytes(key: string): number {
  let bytes = 1 + key.length;
  for (let at = 0; at < key.length; at += 1) {
    const code = key.charCodeAt(at);
    if (code === 0x7e || code === 0x2f) bytes += 1;
    else if (code >= 0x800) bytes += isSurrogate(code) ? 1 : 2;
    else if (code >= 0x80) bytes += 1;
  }
  return bytes;
}

/** Each half of a pair counts for two of its four bytes. */
function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}
