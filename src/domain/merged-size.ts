/** The bound for what parameter files make together. */

import { conflict } from '../lib/errors.ts';
import { isList } from './document-text.ts';
import { isMapping, type Mapping, type Value } from './value.ts';

export const MAX_MERGED_BYTES = 8 * 1024 * 1024;

/**
 * @param merged the values, before they are written, so that aliases cannot make the text endless; or the text itself
 * @throws HawserError conflict `parameter_merge_failed`
 */
export function requireMergedSize(merged: Mapping | Uint8Array): void {
  const isTooLarge =
    merged instanceof Uint8Array
      ? merged.byteLength > MAX_MERGED_BYTES
      : leastBytes(merged, 0) > MAX_MERGED_BYTES;
  if (!isTooLarge) return;
  const message = `The parameters make more than ${MAX_MERGED_BYTES} bytes together`;
  throw conflict('parameter_merge_failed', message);
}

/** The bytes before the value, and those that it takes at least. It stops at the bound. */
function leastBytes(value: Value, before: number): number {
  let bytes = before;
  if (typeof value === 'string') return bytes + value.length;
  if (value === null || typeof value !== 'object') return bytes + 1;
  if (isMapping(value)) {
    for (const [key, item] of value) {
      if (bytes > MAX_MERGED_BYTES) return bytes;
      bytes = leastBytes(item, bytes + key.length + 1);
    }
    return bytes;
  }
  if (!isList(value)) return bytes + 1;
  for (const item of value) {
    if (bytes > MAX_MERGED_BYTES) return bytes;
    bytes = leastBytes(item, bytes + 1);
  }
  return bytes;
}
