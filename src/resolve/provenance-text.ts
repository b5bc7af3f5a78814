/** Writes as JSON who set each value of a node's parameters. */

import { printJson } from '../domain/json-text.ts';
import { type LeafProvenance, mergeMappings, type SourceValue } from '../domain/merge.ts';
import {
  type MergedParameters,
  type MergeWay,
  rulesOf,
  secretsInWay,
  traceInWay,
} from '../domain/merge-way.ts';
import { checkParameters, MAX_ERRORS } from '../domain/parameter-checks.ts';
import type { ParameterDefinitions } from '../domain/parameter-schema.ts';
import { PARAMETERS, redactAt, redactDocument, type SecretNames } from '../domain/secrets.ts';
import { UNSET, unsetIn } from '../domain/unset.ts';
import { escapeToken, type Mapping, type Value } from '../domain/value.ts';
import { printYaml } from '../domain/yaml-printer.ts';
import { conflict, type FieldError } from '../lib/errors.ts';

/** The greatest length of the answer in bytes. People read it, and the cost of writing it grows with its length. */
export const MAX_PROVENANCE_BYTES = 8 * 1024 * 1024;

/** The members of a scope that are shown with each value that it sets. */
export interface ShownScope {
  scopeTypeName: string;
  scopeValue: string | null;
  precedence: number;
}

/** A scope that has content, with the shown members of its file. */
export interface ShownSource {
  scope: ShownScope;
  file: { resolvedVersion: string; isPrerelease: boolean };
  /** Which of these changes gave each leaf of the file its value. */
  changes: readonly ShownChange[];
  leaves: ReadonlyMap<string, number>;
}

/** The commit that gave a leaf its value, and the lowest version that has it since. */
export interface ShownChange {
  version: string;
  commit: string;
  author: string;
  committedAt: string;
}

export interface ProvenanceInput {
  /** The first members of the answer. */
  delivered: object;
  /** The sources in the order of merging. */
  sources: readonly ShownSource[];
  documents: readonly Mapping[];
  definitions: ParameterDefinitions | null;
  secrets: SecretNames;
  way: MergeWay;
}

/**
 * Writes the answer. Values are written exactly, and values of secure parameters are left out.
 * @throws HawserError conflict `parameter_merge_failed` if there is too much to be merged, or the answer exceeds 8 MiB
 */
export function printProvenance(input: ProvenanceInput): Buffer {
  const { delivered, documents, definitions, way } = input;
  const secrets = secretsInWay(input.secrets, way, documents);
  const made = traceInWay(documents, way);
  const { merged, provenance } = made;
  const problems = checkMerged(definitions, documents, made);
  const text = new BoundedText();
  text.add(JSON.stringify({ ...delivered, problems }).slice(0, -1));
  text.add(`,"mergedParameters":${JSON.stringify(printYaml(redactDocument(merged, secrets)))}`);
  const scopes = input.sources.map(({ scope, file, changes, leaves }) => ({
    ofLeaf: membersOf({ ...scope, ...file }),
    ofFile: membersOf({ ...scope, resolvedVersion: file.resolvedVersion }),
    ofHidden: membersOf(scope),
    changes: changes.map(({ version: _, ...commit }, at) => ({
      ofLeaf: membersOf(changes[at] as ShownChange),
      ofCommit: membersOf(commit),
    })),
    leaves,
  }));
  text.add(',"provenance":{');
  const mergeOf = strategiesByPointer(way);
  let comma = '';
  for (const [pointer, leaf] of provenance) {
    text.add(`${comma}${JSON.stringify(pointer)}:{`);
    const merge = mergeOf(pointer);
    addLeaf(text, pointer, leaf, { scopes, merge, shown: (value) => redactAt(pointer, value, secrets) });
    comma = ',';
  }
  text.add('},"unset":{');
  addUnset(text, { ...input, secrets }, scopes);
  text.add('}}');
  return text.toBuffer();
}

/** Gives the strategy of the parameter that a leaf is in, as JSON. */
function strategiesByPointer({ strategies }: MergeWay): (pointer: string) => string {
  const byToken = new Map(strategies.map(([name, merge]) => [escapeToken(name), JSON.stringify(merge)]));
  return (pointer) => {
    const [, block, token = ''] = pointer.split('/', 3);
    return (block === PARAMETERS && byToken.get(token)) || 'null';
  };
}

/** Writes what each file has unset that lower ones have set. Of several files the highest counts for a pointer. */
function addUnset(
  text: BoundedText,
  { documents, secrets, way }: ProvenanceInput,
  scopes: Shown['scopes'],
): void {
  if (!way.isDeclared) return;
  const found = new Map<string, string>();
  for (const [source, document] of documents.entries()) {
    const entries = unsetIn(document);
    if (entries.length === 0) continue;
    const { ofFile, changes, leaves } = scopes[source] ?? NO_SCOPE;
    const { provenance } = mergeMappings(documents.slice(0, source), rulesOf(way));
    const left = new Map(provenance);
    for (const { pointer } of entries) {
      const removed = takeBelow(left, pointer).map(
        ([path, leaf]) =>
          `{"path":${JSON.stringify(path)},${scopes[leaf.source]?.ofHidden},"value":${printJson(redactAt(path, leaf.value, secrets))}}`,
      );
      if (removed.length === 0) continue;
      const by = `${ofFile},${changes[leaves.get(`/${UNSET}`) ?? 0]?.ofCommit}`;
      found.set(pointer, `{${by},"removed":[${removed.join()}]}`);
    }
  }
  let comma = '';
  for (const [pointer, json] of found) {
    text.add(`${comma}${JSON.stringify(pointer)}:${json}`);
    comma = ',';
  }
}

/** Takes the leaves at a pointer and below it out of the map. */
function takeBelow(leaves: Map<string, LeafProvenance>, pointer: string): [string, LeafProvenance][] {
  const taken = [...leaves].filter(([path]) => path === pointer || path.startsWith(`${pointer}/`));
  for (const [path] of taken) leaves.delete(path);
  return taken;
}

/** The document that is checked if no scope gives one. */
const NOTHING_SET: Mapping = new Map([['parameters', new Map()]]);

/** What is wrong with the merged parameters of a node. */
export function checkMerged(
  definitions: ParameterDefinitions | null,
  documents: readonly Mapping[],
  { merged, faults, unreplaced }: Pick<MergedParameters, 'merged' | 'faults' | 'unreplaced'>,
): FieldError[] {
  const checked = documents.length === 0 ? NOTHING_SET : merged;
  const found = checkParameters(definitions, checked, { partial: false, unreplaced });
  return [...found, ...faults].slice(0, MAX_ERRORS);
}

interface ShownMembers {
  ofLeaf: string;
  ofFile: string;
  ofHidden: string;
  changes: readonly { ofLeaf: string; ofCommit: string }[];
}

interface Shown {
  /** The first members of the values of each source, written once. */
  scopes: readonly (Pick<ShownSource, 'leaves'> & ShownMembers)[];
  /** The strategy, as JSON. */
  merge: string;
  shown(value: Value): Value;
}

const NO_SCOPE: Shown['scopes'][number] = {
  ...{ ofLeaf: '', ofFile: '', ofHidden: '', changes: [] },
  leaves: new Map(),
};

/** Writes what follows the opening brace of the leaf. */
function addLeaf(
  text: BoundedText,
  pointer: string,
  { source, value, overridden, mergedFrom, text: before }: LeafProvenance,
  { scopes, merge, shown }: Shown,
): void {
  const { ofLeaf, changes, leaves } = scopes[source] ?? NO_SCOPE;
  text.add(`${ofLeaf},${changes[leaves.get(pointer) ?? 0]?.ofLeaf},"value":`);
  text.add(`${printJson(shown(value))},"overriddenValues":[`);
  addValues(
    text,
    overridden,
    (held) => `${scopes[held.source]?.ofHidden},"value":${printJson(shown(held.value))}`,
  );
  text.add(`],"merge":${merge},"mergedFrom":`);
  if (mergedFrom === undefined) text.add('null');
  else {
    text.add('[');
    addValues(
      text,
      mergedFrom,
      (held) => `${scopes[held.source]?.ofFile},"value":${printJson(shown(held.value))}`,
    );
    text.add(']');
  }
  text.add(`,"text":${before === undefined ? 'null' : printJson(shown(before))}`);
  text.add('}');
}

function addValues(
  text: BoundedText,
  values: readonly SourceValue[],
  print: (held: SourceValue) => string,
): void {
  let comma = '';
  for (const held of values) {
    text.add(`${comma}{${print(held)}}`);
    comma = ',';
  }
}

/** The members of the object as JSON, without the braces. */
function membersOf(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}

/** A text in pieces, with a bound for its length. */
class BoundedText {
  private readonly pieces: string[] = [];
  private bytes = 0;

  add(piece: string): void {
    this.bytes += Buffer.byteLength(piece);
    if (this.bytes > MAX_PROVENANCE_BYTES) throw tooLong();
    this.pieces.push(piece);
  }

  toBuffer(): Buffer {
    return Buffer.from(this.pieces.join(''));
  }
}

function tooLong() {
  const message = `Who set each value takes more than ${MAX_PROVENANCE_BYTES} bytes to tell`;
  return conflict('parameter_merge_failed', message);
}
