/** Opens CodeMirror in a shadow root. This file and what it imports is loaded only when a page shows an editor. */

import { completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, indentOnInput, indentUnit } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  MatchDecorator,
  ViewPlugin,
} from '@codemirror/view';
import { SEALED, sealedName } from '../../sealed.ts';
import { schemaHelp } from './help.ts';
import { ownEditsOfLines } from './native-edits.ts';
import { HINT_ID, helpPanels, hintPanel, leaveByEscape } from './panels.ts';
import { rangeOfPointer, treeUntil } from './pointer.ts';
import type { DocumentSchema, EditorHandle, EditorProblem, EditorSettings } from './settings.ts';
import { looks } from './theme.ts';
import { yamlWithIndentation } from './yaml.ts';

/** Opens an editor in an element that nothing else uses. */
export function openEditor(host: HTMLElement, first: EditorSettings): EditorHandle {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  return new OpenEditor(root, first);
}

/** The longest time in milliseconds that the lines of problems are looked for in a large text. */
const LONGEST_PARSE = 200;
const LANGUAGES: Record<EditorSettings['language'], () => Extension> = {
  yaml: yamlWithIndentation,
  json,
  text: () => [],
};

class OpenEditor implements EditorHandle {
  readonly #view: EditorView;
  /** What may change while the text and its history stay. */
  readonly #changing = new Compartment();
  #settings: EditorSettings;
  /** The text as the page knows it. */
  #text: string;

  constructor(root: ShadowRoot, settings: EditorSettings) {
    this.#settings = settings;
    this.#text = settings.text;
    this.#view = new EditorView({ root, parent: root, state: this.#stateOf(settings) });
    this.#showProblems();
  }

  update(settings: EditorSettings): void {
    const before = this.#settings;
    this.#settings = settings;
    const isOtherText = settings.text !== before.text && settings.text !== this.#text;
    if (isOtherText || settings.path !== before.path) this.#replace(settings);
    else if (CHANGING.some((name) => !isSame(settings[name], before[name]))) {
      this.#view.dispatch({ effects: this.#changing.reconfigure(extensionsOf(settings)) });
    }
    if (isOtherText || !isSame(settings.problems, before.problems)) this.#showProblems();
  }

  destroy(): void {
    this.#view.destroy();
  }

  #replace(settings: EditorSettings): void {
    const { anchor, head } = this.#view.state.selection.main;
    this.#text = settings.text;
    this.#view.setState(this.#stateOf(settings));
    const end = this.#view.state.doc.length;
    this.#view.dispatch({ selection: { anchor: Math.min(anchor, end), head: Math.min(head, end) } });
  }

  #stateOf(settings: EditorSettings): EditorState {
    const changes = EditorView.updateListener.of(({ docChanged, state }) => {
      if (!docChanged) return;
      this.#text = state.sliceDoc();
      this.#settings.onChange?.(this.#text);
    });
    const save = () => {
      this.#settings.onSave?.();
      return true;
    };
    const keys = keymap.of([{ key: 'Mod-s', run: save, preventDefault: true }]);
    const { text } = settings;
    const changing = this.#changing.of(extensionsOf(settings));
    return EditorState.create({ doc: text, extensions: [changes, keys, separatorOf(text), changing] });
  }

  #showProblems(): void {
    const { state } = this.#view;
    const problems = this.#settings.problems ?? [];
    const diagnostics = problems.map((problem) => diagnosticOf(state, problem));
    this.#view.dispatch(setDiagnostics(state, diagnostics));
  }
}

/** What `extensionsOf` reads, but for the path. */
const CHANGING = ['label', 'language', 'isReadOnly', 'schema'] as const;

/** Pages make some of the settings anew each time, with the same content. */
function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function extensionsOf({ path, label, language, isReadOnly, schema }: EditorSettings): Extension {
  const hasHelp = Boolean(schema) && language !== 'text';
  return [
    // What depends on order stands first: a key is offered to the first of them.
    hasHelp ? helpPanels() : [],
    isReadOnly ? [EditorState.readOnly.of(true)] : [history(), keymap.of([indentWithTab])],
    keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
    leaveByEscape(),
    hasHelp ? schemaHelp(schema as DocumentSchema, language) : [],
    LANGUAGES[language](),
    ...[lineNumbers(), lintGutter(), highlightActiveLine(), highlightActiveLineGutter()],
    ...[highlightSpecialChars(), bracketMatching(), indentOnInput(), indentUnit.of('  ')],
    ...[ownEditsOfLines(), sealedMarks()],
    EditorView.lineWrapping,
    // An element that can be edited takes the focus without a tabindex too, but checkers do not know that.
    EditorView.contentAttributes.of({
      'aria-label': label ?? path,
      'aria-describedby': HINT_ID,
      tabindex: '0',
    }),
    hintPanel(hasHelp),
    looks,
  ];
}

/** Encrypted texts stand as they are, in a quieter colour, and say what they are. */
function sealedMarks(): Extension {
  const matcher = new MatchDecorator({
    regexp: SEALED,
    decoration: ([, keyId = '']) =>
      Decoration.mark({ class: 'cm-sealed', attributes: { title: sealedName(keyId) } }),
  });
  return ViewPlugin.define(
    (view) => {
      let marks = matcher.createDeco(view);
      return {
        get marks() {
          return marks;
        },
        update(update) {
          marks = matcher.updateDeco(update, marks);
        },
      };
    },
    { decorations: ({ marks }) => marks },
  );
}

/** Keeps the line breaks of the file: CRLF where all are, and a CR as a character where only some are. */
function separatorOf(text: string): Extension {
  if (!text.includes('\r')) return [];
  const isWindows = !/\r(?!\n)|(?:^|[^\r])\n/.test(text);
  return EditorState.lineSeparator.of(isWindows ? '\r\n' : '\n');
}

function diagnosticOf(state: EditorState, problem: EditorProblem): Diagnostic {
  const { path, line, column, message, severity } = problem;
  const range =
    typeof line === 'number' ? lineRange(state, line, column ?? 1) : pointedRange(state, path ?? '');
  return { ...range, message, severity: severity ?? 'error' };
}

function lineRange({ doc }: EditorState, line: number, column: number): { from: number; to: number } {
  const { from, to } = doc.line(Math.min(Math.max(1, line), doc.lines));
  return { from: Math.min(from + column - 1, to), to };
}

function pointedRange(state: EditorState, pointer: string): { from: number; to: number } {
  const tree = treeUntil(state, state.doc.length, LONGEST_PARSE);
  const { from, to } = rangeOfPointer(tree, (start, end) => state.sliceDoc(start, end), pointer);
  return { from, to: Math.min(to, state.doc.lineAt(from).to) };
}
