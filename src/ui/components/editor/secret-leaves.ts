/**
 * Finds the leaves of a parameter file, and puts an encrypted text into its place. All else in the file stays as it is. It is
 * loaded with the editor.
 */

import { jsonLanguage } from '@codemirror/lang-json';
import { yamlLanguage } from '@codemirror/lang-yaml';
import {
  keyOf,
  type Member,
  memberOf,
  pairsOf,
  rootOf,
  type SyntaxNode,
  scalarOf,
  stepsOf,
  valueIn,
  valuesIn,
} from './pointer.ts';
import { writtenValue } from './schema.ts';

/** A value that is no mapping with members. A list is one leaf, and those of its items that are texts are leaves too. */
export interface Leaf {
  /** JSON Pointer from the root of the document. */
  pointer: string;
  /** A text without its quotes; anything else as it is written. */
  text: string;
  isItem: boolean;
}

interface Read {
  text: string;
  isJson: boolean;
}

const slice = (text: string) => (from: number, to: number) => text.slice(from, to);
const treeOf = ({ text, isJson }: Read) => (isJson ? jsonLanguage : yamlLanguage).parser.parse(text);

/** All leaves, in their order. Of a text that is being written there may be some that are none. */
export function leavesOf(document: Read): Leaf[] {
  const root = rootOf(treeOf(document));
  return root === null ? [] : [...leavesIn(root, '', slice(document.text), false)];
}

function* leavesIn(
  node: SyntaxNode | null,
  pointer: string,
  read: (from: number, to: number) => string,
  isItem: boolean,
): Generator<Leaf> {
  const pairs = node === null ? [] : pairsOf(node);
  for (const pair of pairs) {
    const key = keyOf(pair);
    if (key === null) continue;
    const step = scalarOf(read(key.from, key.to)).replaceAll('~', '~0').replaceAll('/', '~1');
    yield* leavesIn(valueIn(pair), `${pointer}/${step}`, read, isItem);
  }
  if (pairs.length > 0) return;
  yield { pointer, text: node === null ? '' : scalarOf(read(node.from, node.to)), isItem };
  if (node === null || !/Sequence$|^Array$/.test(node.name)) return;
  const items = node.name === 'Array' ? valuesIn(node) : node.getChildren('Item').map(valueIn);
  for (const [at, item] of items.entries()) yield* leavesIn(item, `${pointer}/${at}`, read, true);
}

/**
 * The document with a text at a JSON Pointer, in double quotes. Members that lead there and are missing are made.
 * @returns null where no place for it is surely right
 */
export function withText(document: Read, pointer: string, text: string): string | null {
  const edit = editFor(document, stepsOf(pointer), JSON.stringify(text));
  if (edit === null) return null;
  const after = document.text.slice(0, edit.from) + edit.insert + document.text.slice(edit.to);
  // Nothing but the place may read otherwise then.
  const isOther = ({ pointer: other }: Leaf) =>
    !`${pointer}/`.startsWith(`${other}/`) && !other.startsWith(`${pointer}/`);
  const made = leavesOf({ ...document, text: after });
  const [others, before] = [made.filter(isOther), leavesOf(document).filter(isOther)];
  const isThere = made.some((leaf) => leaf.pointer === pointer && leaf.text === text);
  return isThere && JSON.stringify(others) === JSON.stringify(before) ? after : null;
}

interface Edit {
  from: number;
  to: number;
  insert: string;
}

function editFor(document: Read, steps: readonly string[], quoted: string): Edit | null {
  const { text, isJson } = document;
  const root = rootOf(treeOf(document));
  if (root === null && !isJson) return atEnd(text, steps, quoted);
  let [container, parent]: [SyntaxNode | null, Member | null] = [root, null];
  for (const [at, step] of steps.entries()) {
    const found = container && memberOf(container, step, slice(text));
    if (found === null)
      return inserted(document, { container, parent }, entry(steps.slice(at), quoted, isJson));
    [container, parent] = [found.value, found];
  }
  return parent && replaced(text, parent, quoted);
}

/** `name: "text"`; of several steps the outer ones are mappings in braces. */
function entry([step = '', ...within]: readonly string[], quoted: string, isJson: boolean): string {
  const value = within.reduceRight((inner, name) => `{${JSON.stringify(name)}: ${inner}}`, quoted);
  return `${writtenValue(step, !isJson)}: ${value}`;
}

/** The edit for a document without content, which gets its first mapping at the end. */
function atEnd(text: string, [block = '', ...within]: readonly string[], quoted: string): Edit | null {
  if (within.length === 0) return null;
  const isOpen = text !== '' && !text.endsWith('\n');
  const insert = `${isOpen ? '\n' : ''}${block}:\n  ${entry(within, quoted, false)}\n`;
  return { from: text.length, to: text.length, insert };
}

/** The edit that replaces the value. The text goes behind the colon where there is no value, or it begins on a line of its own. */
function replaced(text: string, { key, whole }: Member, quoted: string): Edit {
  const [value] = valuesIn(whole);
  const colon = whole.getChild(':')?.to ?? whole.to;
  if (value === undefined) return { from: colon, to: colon, insert: ` ${quoted}` };
  const to = value.from + text.slice(value.from, value.to).trimEnd().length;
  const isBelow = key !== null && text.slice(key.to, value.from).includes('\n');
  return isBelow ? { from: colon, to, insert: ` ${quoted}` } : { from: value.from, to, insert: quoted };
}

/** The edit for a mapping that lacks the member, which becomes its first one. Null where there is no safe place. */
function inserted(
  { text }: Read,
  { container, parent }: { container: SyntaxNode | null; parent: Member | null },
  written: string,
): Edit | null {
  const [first] = container === null ? [] : pairsOf(container);
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  if (container !== null && /^(FlowMapping|Object)$/.test(container.name)) {
    const at = container.from + 1;
    if (first === undefined) return { from: at, to: at, insert: written };
    const isBelow = text.slice(at, first.from).includes('\n');
    const insert = isBelow ? `${lineBreak}${indent(text, first.from)}${written},` : `${written}, `;
    return { from: at, to: at, insert };
  }
  if (parent?.key == null || (container !== null && first === undefined)) return null;
  const [end = text.length - parent.key.to] = [/\r?\n/.exec(text.slice(parent.key.to))?.index];
  const at = parent.key.to + end;
  if (first !== undefined && first.from < at) return null;
  const space = first === undefined ? `${indent(text, parent.key.from)}  ` : indent(text, first.from);
  return { from: at, to: at, insert: `${lineBreak}${space}${written}` };
}

/** Gives as many blanks as there are characters before a place in its line. */
function indent(text: string, place: number): string {
  return ' '.repeat(place - text.lastIndexOf('\n', place - 1) - 1);
}
