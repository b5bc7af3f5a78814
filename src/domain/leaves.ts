/** Counts the leaves of parameter documents. Their number and the length of their paths are bounded. */

import { isMapping, type Mapping, type Value } from './value.ts';

/** The greatest number of leaves of a document, and of all documents of a node together. */
export const MAX_LEAVES = 20_000;

/** The greatest length of the JSON Pointers (RFC 6901) of all leaves together, in bytes of UTF-8. */
export const MAX_POINTER_BYTES = 2 * 1024 * 1024;

/**
 * Counts leaves and the bytes of their pointers, without building the pointers. A leaf is any value but a mapping with
 * keys: a list is one leaf, and so is an empty mapping.
 */
export class LeafCount {
  leaves = 0;
  pointerBytes = 0;

  get isBeyond(): boolean {
    return this.leaves > MAX_LEAVES || this.pointerBytes > MAX_POINTER_BYTES;
  }

  /** The most that two documents can have when they are merged. */
  plus(other: LeafCount): LeafCount {
    const sum = new LeafCount();
    sum.leaves = this.leaves + other.leaves;
    sum.pointerBytes = this.pointerBytes + other.pointerBytes;
    return sum;
  }

  /** @param pointerBytes is the length of the leaf's pointer */
  add(pointerBytes: number): void {
    this.leaves += 1;
    this.pointerBytes += pointerBytes;
  }

  /**
   * Adds the leaves of the value at a pointer. It stops at the first leaf beyond the bounds, so that aliases cannot make
   * it cost more than that.
   */
  addAll(value: Value, pointerBytes: number): void {
    if (isMapping(value) && value.size > 0) this.addKeys(value, pointerBytes);
    else this.add(pointerBytes);
  }

  /** Does the same for a whole document, which is never a leaf itself, even if it has no keys. */
  addKeys(mapping: Mapping, pointerBytes: number): void {
    for (const [key, item] of mapping) {
      if (this.isBeyond) return;
      this.addAll(item, pointerBytes + tokenBytes(key));
    }
  }
}

/** The number of bytes that a key adds to a pointer: a slash, then the key with `~` and `/` as two characters each. */
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

/** A surrogate pair has four bytes in UTF-8, so each half counts as two. */
function isSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdfff;
}
