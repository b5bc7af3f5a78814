/** Help from the schema: completion of keys and values, and what is known about the parameter at the cursor. */

import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from '@codemirror/autocomplete';
import { type EditorState, type Extension, Facet } from '@codemirror/state';
import { hoverTooltip } from '@codemirror/view';
import { ITEM, type Place, placeInYaml, siblingKeys } from './place.ts';
import { placeInJson } from './place-in-json.ts';
import { treeUntil } from './pointer.ts';
import { allowedValues, factsOf, schemaAt, typeName, writtenValue } from './schema.ts';
import type { DocumentSchema, EditorLanguage } from './settings.ts';

/** The longest time in milliseconds that somebody waits for help in a large text. */
const LONGEST_PARSE = 1_000;

interface Help {
  schema: DocumentSchema;
  language: EditorLanguage;
}

const helpOf = Facet.define<Help, Help | null>({ combine: ([help]) => help ?? null });

/** Completion and tooltips from a schema. */
export function schemaHelp(schema: DocumentSchema, language: EditorLanguage): Extension {
  return [
    helpOf.of({ schema, language }),
    // Nothing is chosen until an arrow key is pressed, so that Enter goes on beginning a new line.
    autocompletion({ override: [complete], selectOnOpen: false, interactionDelay: 0, icons: false }),
    hoverTooltip((view, position) => {
      const dom = helpAt(view.state, position);
      return dom && { pos: position, above: true, create: () => ({ dom }) };
    }),
  ];
}

/** What the schema says about the parameter at a position, as elements; null if it says nothing. */
export function helpAt(state: EditorState, position: number): HTMLElement | null {
  const help = state.facet(helpOf);
  // In front of a line, help is about what stands on it.
  const line = state.doc.lineAt(position);
  const start = line.from + line.text.search(/[^\s-]|$/);
  const place = help && placeAt(state, Math.max(position, start), help.language);
  if (!place) return null;
  const around = schemaAt(help.schema, place.path);
  const path = place.key === null ? place.path : [...place.path, place.key];
  const schema = schemaAt(help.schema, path);
  const name = path.findLast((step) => step !== ITEM);
  if (schema === null || typeof name !== 'string') return null;
  const isRequired = place.key !== null && around?.required?.includes(place.key) === true;
  return helpElement(name, schema, isRequired);
}

function placeAt(state: EditorState, position: number, language: EditorLanguage): Place | null {
  const tree = treeUntil(state, position, LONGEST_PARSE);
  if (language === 'json') return placeInJson(state, tree, position);
  const { name } = tree.resolveInner(position, -1);
  if (/^(Comment|BlockLiteralContent)$/.test(name)) return null;
  const line = state.doc.lineAt(position);
  return placeInYaml(state.doc, line.number, position - line.from);
}

function complete(context: CompletionContext): CompletionResult | null {
  const { state, pos } = context;
  const help = state.facet(helpOf);
  const place = help && placeAt(state, pos, help.language);
  if (!place || (place.written === '' && !context.explicit && place.at === 'key')) return null;
  const path = place.at === 'value' && place.key !== null ? [...place.path, place.key] : place.path;
  const schema = schemaAt(help.schema, path);
  if (schema === null) return null;
  const isYaml = help.language === 'yaml';
  const options =
    place.at === 'key' && schema.properties
      ? keyOptions(state, pos, schema, isYaml)
      : valueOptions(schema, isYaml);
  const from = state.doc.lineAt(pos).from + place.column;
  return options.length === 0 ? null : { from, options, validFor: /^"?[\w.-]*$/ };
}

function keyOptions(
  state: EditorState,
  position: number,
  schema: DocumentSchema,
  isYaml: boolean,
): Completion[] {
  const { doc } = state;
  const line = doc.lineAt(position);
  const known = isYaml ? siblingKeys(doc, doc.lines, line.number) : new Set<string>();
  const hasColon = /^[^:]*:/.test(line.text.slice(position - line.from));
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => !known.has(name))
    .map(([name, each], index) => ({
      label: isYaml ? writtenValue(name, true) : JSON.stringify(name),
      apply: `${isYaml ? writtenValue(name, true) : JSON.stringify(name)}${hasColon ? '' : ': '}`,
      detail: typeName(each),
      sortText: inOrder(index),
      ...(each.description !== undefined && {
        info: () => helpElement(name, each, isRequired(schema, name)),
      }),
    }));
}

function isRequired({ required }: DocumentSchema, name: string): boolean {
  return required?.includes(name) === true;
}

function valueOptions(schema: DocumentSchema, isYaml: boolean): Completion[] {
  return allowedValues(schema).map((value, index) => ({
    label: writtenValue(value, isYaml),
    sortText: inOrder(index),
    ...(value === schema.default && { detail: 'default' }),
  }));
}

/** The order of the schema says more than the alphabet. */
function inOrder(index: number): string {
  return String(index).padStart(6, '0');
}

function helpElement(name: string, schema: DocumentSchema, required: boolean): HTMLElement {
  const terms = factsOf(schema, required).flatMap(([term, text]) => [
    element('dt', term),
    element('dd', text),
  ]);
  return element(
    'div',
    ...[element('strong', name)],
    ...(schema.description === undefined ? [] : [element('p', schema.description)]),
    ...(terms.length > 0 ? [element('dl', ...terms)] : []),
  );
}

/** An element with texts and elements in it. A text never becomes markup. */
export function element(tag: string, ...content: (Node | string)[]): HTMLElement {
  const made = document.createElement(tag);
  made.append(...content);
  return made;
}
