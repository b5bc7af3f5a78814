/** Writes values as YAML 1.2 in a form that readers of YAML 1.1 read as the same values. */

import { isList } from './document-text.ts';
import { spellFloat } from './number-text.ts';
import { Float, isMapping, isSealed, type Mapping, REDACTED, type Value } from './value.ts';

const STEP = '  ';

/** A key without the mark `?` before it may have at most 1024 characters (YAML 1.2.2, 7.4.2). */
const LONGEST_SIMPLE_KEY = 1_000;

/** Text without quotes must begin like this. Then it can only be text, except for the words below. */
const PLAIN_START = /^[\p{L}_/\\$(]/u;

/** Text without quotes must not hold the start of a value or a comment, or invisible characters. */
const UNFIT = /: | #|[: ]$|(?! )[\p{C}\p{Z}]/u;

/** Most keys and names match this pattern, which implies the two above and takes a tenth of their time. */
const SURELY_PLAIN = /^[A-Za-z_/][\w./-]*(?: [\w./-]+)*$/;

/** Words that YAML 1.1, YAML 1.2 or a lenient reader does not read as text. */
const WORDS = /^(?:y|yes|n|no|on|off|true|false|null|nan|inf|infinity|e[-+]?\d+)$/i;

/**
 * Characters that a reader may refuse, drop or read as a line break: controls, NEL, the separators U+2028 and U+2029,
 * the byte order mark.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const SPECIAL = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/;
const SPECIAL_IN_QUOTES = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Beginnings and ends with which readers disagree about the indentation or the end of a literal block. */
const UNSURE_BLOCK = /^\n*[ \t]|^\n+$|\n[ \t]+\n*$/;

/**
 * Writes a value in block style, and `<redacted>` for secrets. The same value always gives the same bytes. Text of several lines is a literal block if
 * that is exact, else it is in double quotes. No line is folded.
 *
 * The library's own printer is not used. It leaves NEL, U+2028 and DEL unescaped, which a YAML 1.1 reader reads as line
 * breaks or refuses, and it would be the slowest step of merging.
 */
export function printYaml(value: Value): string {
  if (isMapping(value) && value.size > 0) return printMapping(value, '');
  if (isList(value) && value.length > 0) return printList(value, '');
  return `${printInline(value)}\n`;
}

/** Writes the items, each on lines of its own. The first one has no indentation. */
function printMapping(mapping: Mapping, indent: string): string {
  let text = '';
  for (const [key, value] of mapping) {
    const name = printText(key);
    const mark = name.length > LONGEST_SIMPLE_KEY ? `? ${name}\n${indent}:` : `${name}:`;
    text += `${text && indent}${mark}${printItem(value, indent)}`;
  }
  return text;
}

function printList(list: readonly Value[], indent: string): string {
  const inner = indent + STEP;
  let text = '';
  for (const value of list) {
    text += `${text && indent}-`;
    if (isMapping(value) && value.size > 0) text += ` ${printMapping(value, inner)}`;
    else if (isList(value) && value.length > 0) text += ` ${printList(value, inner)}`;
    else text += printItem(value, indent);
  }
  return text;
}

/** Writes what follows a key or a dash at this indentation. */
function printItem(value: Value, indent: string): string {
  const inner = indent + STEP;
  if (isMapping(value) && value.size > 0) return `\n${inner}${printMapping(value, inner)}`;
  if (isList(value) && value.length > 0) return `\n${inner}${printList(value, inner)}`;
  if (typeof value === 'string' && fitsBlock(value)) return printBlock(value, inner);
  return ` ${printInline(value)}\n`;
}

function printInline(value: Value): string {
  if (isSealed(value)) return printText(REDACTED);
  if (typeof value === 'string') return printText(value);
  if (value instanceof Float) return spellFloat(value);
  if (isMapping(value)) return '{}';
  return isList(value) ? '[]' : String(value);
}

function printText(text: string): string {
  const isPlain = SURELY_PLAIN.test(text) || (PLAIN_START.test(text) && !UNFIT.test(text));
  if (isPlain && !WORDS.test(text)) return text;
  return JSON.stringify(text).replace(SPECIAL_IN_QUOTES, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function fitsBlock(text: string): boolean {
  return text.includes('\n') && !SPECIAL.test(text) && !UNSURE_BLOCK.test(text);
}

function printBlock(text: string, indent: string): string {
  const chomp = text.endsWith('\n\n') ? '+' : text.endsWith('\n') ? '' : '-';
  const lines = text.replace(/\n$/, '').split('\n');
  return ` |${chomp}\n${lines.map((line) => line && indent + line).join('\n')}\n`;
}
