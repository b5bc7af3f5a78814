/** Turns the bytes of parameter documents into values, and values into the types of a schema validator. */

import { type FieldError, invalid } from '../lib/errors.ts';
import { decodeDocument, isList, positionOf, tooComplex } from './document-text.ts';
import { readJson } from './json-text.ts';
import { LeafCount, MAX_LEAVES, MAX_POINTER_BYTES } from './leaves.ts';
import { Float, isMapping, type Mapping, type Value } from './value.ts';
import { type AmbiguousScalar, readParameterYaml } from './yaml-reader.ts';

export type DocumentType = 'yaml' | 'json';

/** A document that has been read. */
export interface ReadDocument {
  document: Mapping;
  /** The values that YAML readers take for different things, as errors. A parameter file that comes in has none. */
  ambiguous: readonly FieldError[];
}

/**
 * Reads a document. A document that is declared as JSON must be JSON by RFC 8259, though most of them are YAML too.
 *
 * @throws HawserError `validation_failed` with one error that names line and column. Its code is `invalid_utf8`,
 *   `too_large`, or one of those of `readYaml` and `readJson`
 */
export function readDocument(bytes: Uint8Array, contentType: DocumentType): ReadDocument {
  const source = decodeDocument(bytes);
  if (contentType === 'json') return { document: readJson(source), ambiguous: [] };
  const { text, document, ambiguous } = readParameterYaml(source);
  return { document, ambiguous: ambiguous.map((scalar) => toError(text, scalar)) };
}

/**
 * Reads a parameter document.
 * @throws the errors of `readDocument` and `requireFewLeaves`
 */
export function parseParameterDocument(bytes: Uint8Array, contentType: DocumentType): Mapping {
  const { document } = readDocument(bytes, contentType);
  requireFewLeaves(document);
  return document;
}

function toError(text: string, { path, text: value, other, offset }: AmbiguousScalar): FieldError {
  const { line, column } = positionOf(text, offset);
  const ways = other === null ? `in quotes: "${value}"` : `in quotes, "${value}", or as ${other}`;
  const message = `Line ${line}, column ${column}: ${value} means different things to YAML readers; write it ${ways}`;
  return { path, message, code: 'ambiguous_scalar', line, column };
}

/**
 * Refuses a parameter file that its readers would read in different ways.
 * @param isSecret tells of a path whether the message must not have the value
 * @throws HawserError `validation_failed` with an error `ambiguous_scalar` for each value that is ambiguous
 */
export function requireUnambiguous(
  { ambiguous }: Pick<ReadDocument, 'ambiguous'>,
  isSecret: (path: string) => boolean = () => false,
): void {
  if (ambiguous.length === 0) return;
  const errors = ambiguous.map((error) => (isSecret(error.path) ? withoutValue(error) : error));
  throw invalid('validation_failed', 'Some values can be read in more than one way', errors);
}

function withoutValue(error: FieldError): FieldError {
  const { line, column } = error;
  const message = `Line ${line}, column ${column}: YAML readers take this value for different things; write it in quotes`;
  return { ...error, message };
}

/** @throws HawserError invalid `too_complex` if the document has too many leaves, or their paths are too long */
export function requireFewLeaves(document: Mapping): void {
  const count = new LeafCount();
  count.addKeys(document, 0);
  if (!count.isBeyond) return;
  throw count.leaves > MAX_LEAVES
    ? tooComplex(`The document has more than ${MAX_LEAVES} leaves.`)
    : tooComplex(`The paths of the document's leaves have more than ${MAX_POINTER_BYTES} bytes together.`);
}

/**
 * The value in the types that a JSON Schema validator knows: objects without a prototype, arrays and numbers. Integers
 * beyond 2^53 become the nearest number, so the result is for checks only, and must never be stored.
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
