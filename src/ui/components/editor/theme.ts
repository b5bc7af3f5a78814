/** The colours and measures of the editor. The tokens come from the page, because custom properties are inherited. */

import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-key)' },
  { tag: [tags.string, tags.attributeValue], color: 'var(--code-string)' },
  { tag: tags.number, color: 'var(--code-number)' },
  {
    tag: [tags.bool, tags.null, tags.keyword, tags.typeName, tags.labelName, tags.meta],
    color: 'var(--code-keyword)',
  },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
]);

const box = {
  backgroundColor: 'var(--code-bg)',
  color: 'var(--text)',
  border: '1px solid var(--edge)',
};

const theme = EditorView.theme({
  '&': {
    ...box,
    borderRadius: 'var(--round)',
    minHeight: '14rem',
    maxHeight: '70vh',
    fontSize: 'var(--dense)',
  },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '1px' },
  '.cm-scroller': {
    // The line below the text stays at the lower edge of the box.
    flex: '1 1 auto',
    fontFamily: 'var(--mono)',
    lineHeight: '1.5',
    overflow: 'auto',
  },
  // Nothing draws the cursor and the selection but the browser, so forced colours hold for them too.
  '.cm-content': { caretColor: 'var(--text)', minHeight: '8rem' },
  '.cm-gutters': {
    backgroundColor: 'var(--code-bg)',
    color: 'var(--muted)',
    borderRight: '1px solid var(--border)',
  },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in srgb, var(--text) 5%, transparent)',
  },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'transparent', outline: '1px solid var(--focus)' },
  '&.cm-focused .cm-nonmatchingBracket': {
    backgroundColor: 'transparent',
    outline: '1px dashed var(--focus)',
  },
  '.cm-sealed, .cm-sealed *': { color: 'var(--muted)' },
  '.cm-specialChar': { color: 'var(--code-keyword)' },
  '.cm-panels, .cm-tooltip': box,
  '.cm-panels': { border: 'none' },
  '.cm-panels.cm-panels-bottom': { borderTop: '1px solid var(--border)' },
  '.cm-hint': {
    ...{ display: 'flex', flexWrap: 'wrap', gap: '0.25rem 1rem', justifyContent: 'space-between' },
    ...{ padding: '0.25rem 0.5rem', color: 'var(--muted)', fontFamily: 'var(--sans)' },
  },
  '.cm-hint button, .cm-panel button': {
    ...{ font: 'inherit', color: 'var(--text)', background: 'transparent', minHeight: '1.75rem' },
    ...{
      border: '1px solid var(--edge)',
      borderRadius: 'var(--round)',
      padding: '0 0.75rem',
      cursor: 'pointer',
    },
  },
  'button:focus-visible': { outline: '2px solid var(--focus)', outlineOffset: '1px' },
  '.cm-help, .cm-tooltip-hover, .cm-completionInfo': {
    fontFamily: 'var(--sans)',
    padding: '0.5rem',
  },
  '.cm-tooltip-hover': { maxWidth: 'min(30rem, 90vw)' },
  '.cm-help': { maxHeight: '12rem', overflow: 'auto' },
  dl: {
    display: 'grid',
    gridTemplateColumns: 'max-content 1fr',
    gap: '0.125rem 0.75rem',
    margin: '0.25rem 0 0',
  },
  dt: { color: 'var(--muted)' },
  dd: { margin: '0', overflowWrap: 'anywhere' },
  p: { margin: '0.25rem 0' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--focus)',
    color: 'var(--code-bg)',
  },
  '.cm-completionDetail': { fontStyle: 'normal', marginLeft: '1rem' },
  '.cm-completionMatchedText': { textDecoration: 'underline' },
  '.cm-diagnostic': { color: 'var(--text)' },
  '@media (forced-colors: active)': {
    '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
      ...{ forcedColorAdjust: 'none', backgroundColor: 'Highlight', color: 'HighlightText' },
    },
    '.cm-activeLine': { outline: '1px dotted CanvasText', outlineOffset: '-1px' },
  },
});

/** All of the editor's looks. */
export const looks: Extension = [theme, syntaxHighlighting(colours)];
