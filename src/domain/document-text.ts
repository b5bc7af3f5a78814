/** What the readers of YAML and JSON share: decoding, the place of a fault, and the limits. */

import { type HawserError, invalid } from '../lib/errors.ts';
import { isMapping, type Mapping, type Value } from './value.ts';

/** The greatest length of a document in characters. A million of them, chosen by an attacker, take some seconds to read. */
export const MAX_LENGTH = 1_000_000;

/** The greatest number of levels, of which the document is the first. Readers, merging and printers recurse. */
export const MAX_DEPTH = 100;

/** The greatest length of a number. Turning digits into an integer costs more than linear time. */
export const MAX_NUMBER_LENGTH = 1_000;

const LONGEST_EXCERPT = 80;

/**
 * Decodes a document, without the byte order mark that it may start with.
 *
 * @throws HawserError `validation_failed` with `invalid_utf8` at the first byte that is not UTF-8, or with `too_large`
 */
export function decodeDocument(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text.length <= MAX_LENGTH) return text;
  return refuse(text, MAX_LENGTH, 'too_large', `A document has at most ${MAX_LENGTH} characters.`);
}

/**
 * The text of the bytes, without the byte order mark.
 * @throws HawserError `validation_failed` with `invalid_utf8` at the first byte that is not UTF-8
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
    return refuse(text, findReplaced(text, bytes), 'invalid_utf8', 'The document is not UTF-8 here.');
  }
}

/**
 * Refuses a document for a fault at `offset` of its text.
 *
 * @throws HawserError `validation_failed`, its one error naming line and column, both from 1, also in its message
 */
export function refuse(text: string, offset: number, code: string, message: string): never {
  const place = positionOf(text, offset);
  const error = { path: '', message: `${inWords(place)}: ${message}`, code, ...place };
  throw invalid('validation_failed', error.message, [error]);
}

/** Line and column in words. */
export function placeOf(text: string, offset: number): string {
  return inWords(positionOf(text, offset));
}

function inWords({ line, column }: { line: number; column: number }): string {
  return `Line ${line}, column ${column}`;
}

/** Line and column, both from 1. */
export function positionOf(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', start)) {
    line += 1;
    start = at + 1;
  }
  return { line, column: offset - start + 1 };
}

/** The error for a document that would cost too much. It has its own code, and points to the whole text. */
export function tooComplex(message: string): HawserError {
  return invalid('too_complex', message, [{ path: '', message, code: 'too_complex' }]);
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function requireMapping(text: string, offset: number, value: Value): Mapping {
  if (isMapping(value)) return value;
  const what = value === null ? ', and there is none' : '';
  return refuse(text, offset, 'not_a_mapping', `The document must be a mapping of names to values${what}.`);
}

/** Half of a surrogate pair is refused, because it cannot be written as UTF-8. */
export function requireWellFormed(text: string, offset: number, value: string): string {
  if (!/\p{Surrogate}/u.test(value)) return value;
  return refuse(text, offset, 'invalid_text', 'The text holds half of a surrogate pair.');
}

export function requireShortNumber(text: string, offset: number, digits: string): string {
  if (digits.length <= MAX_NUMBER_LENGTH) return digits;
  return refuse(text, offset, 'number_too_long', `A number has at most ${MAX_NUMBER_LENGTH} characters.`);
}

/** The text in the form in which a message may quote it: nothing in it can steer a terminal, or hide. */
export function excerpt(text: string): string {
  const quoted = visible(JSON.stringify(text.slice(0, LONGEST_EXCERPT)));
  return text.length > LONGEST_EXCERPT ? `${quoted.slice(0, -1)}…"` : quoted;
}

/** The text with what is invisible in it by numbers. */
export function visible(text: string): string {
  const inHex = (character: string) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, inHex);
}

/** The offset of the first U+FFFD in `text` that the decoder has put in place of bytes that are not UTF-8. */
function findReplaced(text: string, bytes: Uint8Array): number {
  let done = 0;
  let byte = 0;
  for (let at = text.indexOf('\ufffd'); at !== -1; at = text.indexOf('\ufffd', done)) {
    byte += Buffer.byteLength(text.slice(done, at));
    if (bytes[byte] !== 0xef || bytes[byte + 1] !== 0xbf || bytes[byte + 2] !== 0xbd) return at;
    done = at + 1;
    byte += 3;
  }
  return 0;
}
