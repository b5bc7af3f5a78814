/** Reads and writes JSON (RFC 8259) exactly. `JSON` would lose large integers, `1.0`, and keys that occur twice. */

import { type FieldError, HawserError } from '../lib/errors.ts';
import {
  excerpt,
  isList,
  MAX_DEPTH,
  refuse,
  requireMapping,
  requireShortNumber,
  requireWellFormed,
} from './document-text.ts';
import { spellFinite, spellFloat } from './number-text.ts';
import type { WantedPlaces } from './text-places.ts';
import { Float, isMapping, isSealed, type Mapping, REDACTED, type Value } from './value.ts';

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?/y;
const WORD = /true|false|null/y;
const WORDS: Record<string, Value> = { true: true, false: false, null: null };

/**
 * Reads a JSON text that holds one object.
 *
 * @throws HawserError `validation_failed`: `invalid_json`, `duplicate_key`, `too_deep`, `invalid_text`,
 *   `number_too_long`, `not_a_mapping`
 */
export function readJson(text: string): Mapping {
  return new JsonReader(text).readDocument();
}

/**
 * Reads one JSON value that a sealed text holds, with all digits of numbers.
 * @throws HawserError as `readJson`
 */
export function readJsonValue(text: string): Value {
  return new JsonReader(text).readAll().value;
}

/** Finds the places of the parts that are wanted. @param text as `readJson` takes it */
export function jsonPlaces(text: string, wanted: WantedPlaces): void {
  new JsonReader(text).readAll(wanted);
}

/**
 * Where a text is no JSON and what JSON has there, such as `Line 3, column 5: Expected a value.` It repeats none of the
 * text, which may hold secrets. Null if the text is JSON, or is more than 100 levels deep before its fault.
 */
export function jsonFault(text: string): string | null {
  try {
    new JsonReader(text, true).readAll();
    return null;
  } catch (error) {
    if (error instanceof HawserError && faultCode(error) === 'invalid_json') return error.message;
    if (error instanceof HawserError) return null;
    throw error;
  }
}

const faultCode = ({ data }: HawserError) => (data['errors'] as FieldError[])[0]?.code;

/**
 * Writes exact JSON, with all digits of integers and floats, and `"<redacted>"` for secrets. Values for which JSON has no
 * number become strings in the spelling of YAML: `".inf"`, `"-.inf"`, `".nan"`.
 *
 * @param indent is the number of spaces for each level; 0 writes everything on one line
 */
export function printJson(value: Value, indent = 0): string {
  return print(value, indent > 0 ? '\n' : '', ' '.repeat(indent));
}

/** A number as JSON has it. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** As `printJson` on one line, but numbers that are written as JSON has them keep their very digits. */
export function printAsWritten(value: Value): string {
  if (value instanceof Float && JSON_NUMBER.test(value.text)) return value.text;
  if (isSealed(value)) return printJson(value);
  if (isMapping(value)) {
    const items = Array.from(value, ([key, item]) => `${JSON.stringify(key)}:${printAsWritten(item)}`);
    return `{${items.join()}}`;
  }
  return isList(value) ? `[${value.map(printAsWritten).join()}]` : printJson(value);
}

function print(value: Value, newline: string, step: string): string {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Float) return spellFinite(value) ?? JSON.stringify(spellFloat(value));
  if (isSealed(value)) return JSON.stringify(REDACTED);
  const inner = newline && newline + step;
  if (isMapping(value)) {
    const colon = newline ? ': ' : ':';
    const items = Array.from(value, ([key, item]) => JSON.stringify(key) + colon + print(item, inner, step));
    return items.length === 0 ? '{}' : `{${inner}${items.join(`,${inner}`)}${newline}}`;
  }
  if (isList(value)) {
    const items = value.map((item) => print(item, inner, step));
    return items.length === 0 ? '[]' : `[${inner}${items.join(`,${inner}`)}${newline}]`;
  }
  return JSON.stringify(value);
}

class JsonReader {
  private readonly text: string;
  /** Only the syntax is checked. Values are not kept, and may be what only the rules for documents refuse. */
  private readonly syntaxOnly: boolean;
  private at = 0;

  constructor(text: string, syntaxOnly = false) {
    this.text = text;
    this.syntaxOnly = syntaxOnly;
  }

  readDocument(): Mapping {
    const { value, start } = this.readAll();
    return requireMapping(this.text, start, value);
  }

  readAll(wanted?: WantedPlaces): { value: Value; start: number } {
    this.skipSpace();
    const start = this.at;
    if (wanted) wanted.place = { key: null, value: start };
    const value = this.readValue(1, wanted);
    this.skipSpace();
    if (this.at < this.text.length) this.refuseHere('the end of the document');
    return { value, start };
  }

  private readValue(depth: number, wanted?: WantedPlaces): Value {
    const next = this.text[this.at];
    if (next === '{') return this.readMapping(depth, wanted);
    if (next === '[') return this.readList(depth, wanted);
    if (next === '"') return this.readString();
    const word = this.match(WORD)?.[0];
    if (word !== undefined) return WORDS[word] as Value;
    return this.readNumber();
  }

  private readMapping(depth: number, wanted?: WantedPlaces): Mapping {
    const mapping = new Map<string, Value>();
    this.readItems('}', depth, () => {
      const start = this.at;
      if (this.text[start] !== '"') this.refuseHere('a key in double quotes');
      const key = this.readString();
      if (mapping.has(key) && !this.syntaxOnly)
        this.refuseAt(start, 'duplicate_key', `The key ${excerpt(key)} stands here again.`);
      this.skipSpace();
      if (!this.take(':')) this.refuseHere('":"');
      this.skipSpace();
      const part = wanted?.in(key);
      if (part) part.place = { key: start, value: this.at };
      mapping.set(key, this.readValue(depth + 1, part));
      if (part?.place) part.place.end = this.at;
    });
    return mapping;
  }

  private readList(depth: number, wanted?: WantedPlaces): readonly Value[] {
    const list: Value[] = [];
    this.readItems(']', depth, () => {
      const part = wanted?.in(list.length);
      if (part) part.place = { key: null, value: this.at };
      list.push(this.readValue(depth + 1, part));
    });
    return list;
  }

  /** Reads the items between the bracket at this place and `end`. */
  private readItems(end: string, depth: number, readItem: () => void): void {
    if (depth > MAX_DEPTH)
      this.refuseAt(this.at, 'too_deep', `The document is more than ${MAX_DEPTH} levels deep.`);
    this.at += 1;
    this.skipSpace();
    if (this.take(end)) return;
    while (true) {
      readItem();
      this.skipSpace();
      if (this.take(end)) return;
      if (!this.take(',')) this.refuseHere(`"," or "${end}"`);
      this.skipSpace();
    }
  }

  private readString(): string {
    const start = this.at;
    let hasEscapes = false;
    let end = start + 1;
    for (let code = this.text.charCodeAt(end); code !== 0x22; code = this.text.charCodeAt(end)) {
      if (end >= this.text.length) this.refuseAt(start, 'invalid_json', 'This text has no closing quote.');
      if (code < 0x20)
        this.refuseAt(
          end,
          'invalid_json',
          'Line breaks, tabs and other control characters are written as escapes.',
        );
      if (code === 0x5c) hasEscapes = true;
      end += code === 0x5c ? 2 : 1;
    }
    this.at = end + 1;
    const value = hasEscapes ? this.unescape(start) : this.text.slice(start + 1, end);
    return this.syntaxOnly ? value : requireWellFormed(this.text, start, value);
  }

  private unescape(start: number): string {
    try {
      return JSON.parse(this.text.slice(start, this.at));
    } catch {
      return this.refuseAt(start, 'invalid_json', 'This text holds an escape that JSON does not know.');
    }
  }

  private readNumber(): Value {
    const start = this.at;
    const match = this.match(NUMBER);
    if (!match) return this.refuseHere('a value');
    // To make an integer of its digits takes more than linear time.
    if (this.syntaxOnly) return null;
    const digits = requireShortNumber(this.text, start, match[0]);
    const isInteger = match[1] === undefined && match[2] === undefined;
    return isInteger ? BigInt(digits) : new Float(Number(digits), digits);
  }

  private skipSpace(): void {
    this.match(SPACE);
  }

  private take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  private match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match) this.at = pattern.lastIndex;
    return match;
  }

  private refuseHere(expected: string): never {
    const isAtEnd = this.at >= this.text.length;
    if (this.syntaxOnly && !isAtEnd) return this.refuseAt(this.at, 'invalid_json', `Expected ${expected}.`);
    const found = isAtEnd ? 'the end of the document' : excerpt(this.text[this.at] ?? '');
    return this.refuseAt(this.at, 'invalid_json', `Expected ${expected}, found ${found}.`);
  }

  private refuseAt(offset: number, code: string, message: string): never {
    return refuse(this.text, offset, code, message);
  }
}
