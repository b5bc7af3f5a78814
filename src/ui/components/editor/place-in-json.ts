/** Where the cursor is in a JSON document: in which object, at which key, and whether a key or a value is written there. */

import type { EditorState } from '@codemirror/state';
import { ITEM, type Place, type Step } from './place.ts';
import { type SyntaxNode, type SyntaxTree, scalarOf } from './pointer.ts';

const VALUE = /("(?:[^"\\]|\\.)*")\s*:\s*("?[^",{}[\]]*)$/;
const WORD = /"?[^",:{}[\]\s]*$/;

/** The place of a position. The containers come from the tree; what is being written is read from the line. */
export function placeInJson(state: EditorState, tree: SyntaxTree, position: number): Place {
  const line = state.doc.lineAt(position);
  const before = line.text.slice(0, position - line.from);
  const node = tree.resolveInner(position, -1);
  const path = pathOf(node, state);
  const value = VALUE.exec(before);
  if (value?.[1] !== undefined) {
    const key = scalarOf(value[1]);
    // The tree has a property already if its value has begun.
    if (path.at(-1) === key && !isContainerIn(node)) path.pop();
    const written = value[2] ?? '';
    return { path, key, at: 'value', column: before.length - written.length, written };
  }
  const written = WORD.exec(before)?.[0] ?? '';
  const name = node.name === 'PropertyName' ? scalarOf(state.sliceDoc(node.from, node.to)) : null;
  if (name !== null) path.pop();
  return { path, key: name, at: 'key', column: before.length - written.length, written };
}

function isContainerIn({ name }: SyntaxNode): boolean {
  return name === 'Object' || name === 'Array';
}

function pathOf(start: SyntaxNode, state: EditorState): Step[] {
  const path: Step[] = [];
  for (let node: SyntaxNode | null = start; node !== null; node = node.parent) {
    if (node.name === 'Array') path.unshift(ITEM);
    if (node.name !== 'Property') continue;
    const key = node.getChild('PropertyName');
    if (key !== null) path.unshift(scalarOf(state.sliceDoc(key.from, key.to)));
  }
  return path;
}
