/**
 * Texts of several lines that the browser would insert itself, as tools for dictation and tests ask for it. Chromium
 * joins and splits lines by elements with a `style` attribute, which the content security policy reports.
 */

import { type Extension, Prec } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

/** Makes such changes in the editor's own state, so that the browser changes nothing. */
export function ownEditsOfLines(): Extension {
  const handlers = EditorView.domEventHandlers({ beforeinput });
  return Prec.highest(handlers);
}

function beforeinput(event: InputEvent, view: EditorView): boolean {
  if (event.inputType !== 'insertText' || event.data === null || view.state.readOnly) return false;
  const { from, to } = replacedRange(event, view);
  const { doc } = view.state;
  if (!event.data.includes('\n') && doc.lineAt(from).number === doc.lineAt(to).number) return false;
  const insert = view.state.toText(event.data);
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + insert.length },
    scrollIntoView: true,
    userEvent: 'input.type',
  });
  return true;
}

/** What the browser would replace. It may know of a selection that the editor has not heard of yet. */
function replacedRange(event: InputEvent, view: EditorView): { from: number; to: number } {
  const known = view.state.selection.main;
  const range = event.getTargetRanges()[0] ?? selectedRange(view.root);
  if (range === undefined || !view.contentDOM.contains(range.startContainer)) return known;
  const from = view.posAtDOM(range.startContainer, range.startOffset);
  const to = view.posAtDOM(range.endContainer, range.endOffset);
  // Lines that are out of sight have no elements. Only the editor knows which of them are selected.
  const isKnown = from === shownPosition(view, known.from) && to === shownPosition(view, known.to);
  if (isKnown) return known;
  // A selection of all that somebody else made ends inside of the element that stands for the last lines.
  return { from, to: isInGap(range.endContainer) ? endOfGap(range.endContainer, view) : to };
}

function isInGap(node: Node): node is Element {
  return node instanceof Element && node.classList.contains('cm-gap');
}

function endOfGap(gap: Element, view: EditorView): number {
  return view.posAtDOM(view.contentDOM, [...view.contentDOM.childNodes].indexOf(gap) + 1);
}

function shownPosition(view: EditorView, position: number): number {
  const { node, offset } = view.domAtPos(position);
  return view.posAtDOM(node, offset);
}

/** Chromium tells no target ranges of events in a shadow root, but has the root's selection. */
function selectedRange(root: DocumentOrShadowRoot): Range | undefined {
  if (!('getSelection' in root) || typeof root.getSelection !== 'function') return undefined;
  const selection: Selection | null = root.getSelection();
  return selection !== null && selection.rangeCount > 0 ? selection.getRangeAt(0) : undefined;
}
