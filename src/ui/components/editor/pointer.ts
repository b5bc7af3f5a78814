/** Finds the place in a YAML or JSON text that a JSON Pointer means, by the syntax tree that the highlighting uses. */

import { ensureSyntaxTree, syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';

export type SyntaxTree = ReturnType<typeof syntaxTree>;
export type SyntaxNode = SyntaxTree['topNode'];

/**
 * The tree up to a position. The editor parses in its idle time, so on a busy machine its own tree may still be empty.
 * @param longest in milliseconds; a text that takes longer to parse is read as far as it is parsed
 */
export function treeUntil(state: EditorState, position: number, longest: number): SyntaxTree {
  return ensureSyntaxTree(state, position, longest) ?? syntaxTree(state);
}

/** Reads a part of the text. */
export type ReadText = (from: number, to: number) => string;

export interface TextRange {
  from: number;
  to: number;
}

/** The range of the value; where it is not there, that of the nearest parent's key; the start of the text if there is none. */
export function rangeOfPointer(tree: SyntaxTree, read: ReadText, pointer: string): TextRange {
  let range: TextRange = { from: 0, to: 0 };
  let value = rootOf(tree);
  for (const step of stepsOf(pointer)) {
    const found = value && memberOf(value, step, read);
    if (!found) break;
    value = found.value;
    range = rangeOf(found);
  }
  return range;
}

export interface Member {
  key: SyntaxNode | null;
  value: SyntaxNode | null;
  /** What stands for it where it has neither. */
  whole: SyntaxNode;
}

function rangeOf({ key, value, whole }: Member): TextRange {
  const hasLines = value !== null && isLong(value);
  const { from, to } = (hasLines ? key : (value ?? key)) ?? value ?? whole;
  return { from, to };
}

export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function rootOf({ topNode }: SyntaxTree): SyntaxNode | null {
  if (topNode.name === 'Stream') {
    const document = topNode.getChild('Document');
    return document && valueIn(document);
  }
  return valueIn(topNode);
}

export function memberOf(container: SyntaxNode, step: string, read: ReadText): Member | null {
  return /Sequence$|^Array$/.test(container.name)
    ? itemAt(container, Number(step))
    : entryOf(container, step, read);
}

function entryOf(mapping: SyntaxNode, name: string, read: ReadText): Member | null {
  for (const pair of pairsOf(mapping)) {
    const key = keyOf(pair);
    if (key !== null && scalarOf(read(key.from, key.to)) === name)
      return { key, value: valueIn(pair), whole: pair };
  }
  return null;
}

export const pairsOf = (mapping: SyntaxNode): SyntaxNode[] => [
  ...mapping.getChildren('Pair'),
  ...mapping.getChildren('Property'),
];

export const keyOf = (pair: SyntaxNode): SyntaxNode | null =>
  pair.getChild('Key') ?? pair.getChild('PropertyName');

function itemAt(list: SyntaxNode, index: number): Member | null {
  const whole = list.name === 'Array' ? valuesIn(list)[index] : list.getChildren('Item')[index];
  if (whole === undefined) return null;
  return { key: null, value: list.name === 'Array' ? whole : valueIn(whole), whole };
}

/** The value in a pair, an item or a document, without its tag and its anchor. */
export function valueIn(parent: SyntaxNode): SyntaxNode | null {
  const value = valuesIn(parent)[0] ?? null;
  return value !== null && /^(Tagged|Anchored)$/.test(value.name) ? valueIn(value) : value;
}

const NO_VALUE = /^(Key|PropertyName|Comment|Tag|Anchor|Directive|DirectiveEnd|DocEnd)$/;

export function valuesIn(parent: SyntaxNode): SyntaxNode[] {
  const values: SyntaxNode[] = [];
  for (let child = parent.firstChild; child !== null; child = child.nextSibling) {
    // Punctuation and faults have names that are no words.
    if (/^[A-Z]/.test(child.name) && !NO_VALUE.test(child.name)) values.push(child);
  }
  return values;
}

/** Whether a value has lines of its own, so that its key is marked instead. */
function isLong({ name }: SyntaxNode): boolean {
  return /Mapping$|Sequence$|^BlockLiteral$|^Object$|^Array$/.test(name);
}

/** A key as it is meant: without its quotes. */
export function scalarOf(written: string): string {
  const text = written.trim();
  if (/^'.*'$/s.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  if (!/^".*"$/s.test(text)) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
}
