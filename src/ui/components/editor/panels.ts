/** The line below the text that tells how to leave the editor, and the panel with help about the parameter at the cursor. */

import { type Diagnostic, forEachDiagnostic } from '@codemirror/lint';
import { type EditorState, type Extension, StateEffect, StateField } from '@codemirror/state';
import { type Command, EditorView, keymap, type Panel, showPanel } from '@codemirror/view';
import { element, helpAt } from './help.ts';

/** The id of the line, which describes the text box. It is the only one in its shadow root. */
export const HINT_ID = 'hint';

const setHelp = StateEffect.define<boolean>();

const isHelpOpen = StateField.define<boolean>({
  create: () => false,
  update: (isOpen, { effects }) => effects.find((effect) => effect.is(setHelp))?.value ?? isOpen,
  provide: (field) => showPanel.from(field, (isOpen) => (isOpen ? helpPanel : null)),
});

const toggleHelp: Command = (view) => {
  view.dispatch({ effects: setHelp.of(!isOpenIn(view.state)) });
  return true;
};

function isOpenIn(state: EditorState): boolean {
  return state.field(isHelpOpen, false) === true;
}

/** The panel with help and the keys that open it. */
export function helpPanels(): Extension {
  return [
    isHelpOpen,
    keymap.of([
      { key: 'F1', run: toggleHelp },
      { key: 'Mod-i', run: toggleHelp },
    ]),
  ];
}

function helpPanel(view: EditorView): Panel {
  const dom = element('section');
  dom.className = 'cm-help';
  dom.setAttribute('aria-label', 'Help');
  dom.setAttribute('aria-live', 'polite');
  const show = (state: EditorState) => {
    const help = helpAt(state, state.selection.main.head);
    dom.replaceChildren(help ?? element('p', 'Nothing is known about what stands at the cursor.'));
  };
  show(view.state);
  return {
    dom,
    update: ({ state, docChanged, selectionSet }) => {
      if (docChanged || selectionSet) show(state);
    },
  };
}

/** The line below the text. @param hasHelp whether there is a schema, and thus help */
export function hintPanel(hasHelp: boolean): Extension {
  return showPanel.of((view) => {
    const dom = element('div');
    dom.className = 'cm-hint';
    const text = element('span');
    text.id = HINT_ID;
    const button = hasHelp ? helpButton(view) : null;
    dom.append(text, ...(button ? [button] : []));
    const show = (state: EditorState) => {
      text.textContent = hintOf(state, hasHelp);
      button?.setAttribute('aria-expanded', String(isOpenIn(state)));
    };
    show(view.state);
    return { dom, update: ({ state }) => show(state) };
  });
}

function hintOf(state: EditorState, hasHelp: boolean): string {
  const count = countProblems(state);
  return [
    ...(state.readOnly ? [] : ['Press Escape, then Tab, to leave the editor.']),
    ...(hasHelp ? ['Press F1 for help on the parameter at the cursor.'] : []),
    ...(hasHelp && !state.readOnly ? ['Press Ctrl+Space for what may stand there.'] : []),
    ...(count === 1 ? ['There is 1 problem. Press F8 to go to it.'] : []),
    ...(count > 1 ? [`There are ${count} problems. Press F8 to go to the next.`] : []),
  ].join(' ');
}

/** CodeMirror counts the pieces of text that are marked; where problems overlap, there are more of them. */
function countProblems(state: EditorState): number {
  const known = new Set<Diagnostic>();
  forEachDiagnostic(state, (diagnostic) => known.add(diagnostic));
  return known.size;
}

function helpButton(view: EditorView): HTMLElement {
  const button = element('button', 'Help');
  button.setAttribute('type', 'button');
  button.addEventListener('click', () => {
    toggleHelp(view);
    view.focus();
  });
  return button;
}

/** Escape lets the next Tab leave the editor. Any other key, and leaving, lets Tab indent again. */
export function leaveByEscape(): Extension {
  return [
    EditorView.domEventObservers({
      keydown: ({ key }, view) => {
        if (key === 'Escape') view.setTabFocusMode(true);
        else if (!/^(Tab|Shift|Control|Alt|Meta)$/.test(key)) view.setTabFocusMode(false);
      },
      blur: (_event, view) => view.setTabFocusMode(false),
    }),
    // A dialog around the editor stays open.
    keymap.of([{ key: 'Escape', run: () => true }]),
  ];
}
