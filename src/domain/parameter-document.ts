/** Parameter documents: bytes as an author sent them become values, and values what a schema validator takes. */

import { decodeDocument, isList } from './document-text.ts';
import { readJson } from './json-text.ts';
import { Float, isMapping, type Mapping, type Value } from './value.ts';
import { readYaml } from './yaml-reader.ts';

export type DocumentType = 'yaml' | 'json';

/**
 * Reads a parameter document. A document that is declared JSON must be JSON by RFC 8259, though most such documents
 * would be YAML too.
 *
 * @throws HawserError `validation_failed`, its one error naming line and column; for the codes see `readYaml` and
 *   `readJson`, before them `invalid_utf8` and `too_large`
 */
export function parseParameterDocument(bytes: Uint8Array, contentType: DocumentType): Mapping {
  const text = decodeDocument(bytes);
  return contentType === 'json' ? readJson(text) : readYaml(text);
}

/**
 * The value in the types that a JSON Schema validator knows: objects without a prototype, arrays and numbers. Integers
 * beyond 2^53 become the nearest number, so this is for judging a value, never for storing it.
 */
export function toPlain(value: Value): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Float) return value.value;
  if (isList(value)) return value.map(toPlain);
  if (!isMapping(value)) return value;
  const plain: Record<string, unknown> = Object.create(null);
  for (const [key, item] of value) plain[key] = toPlain(item);
  return plain;
}
