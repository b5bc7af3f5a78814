/** Writes as JSON who set each value of a node's parameters. */

import { printJson } from '../domain/json-text.ts';
import { type LeafProvenance, mergeMappings } from '../domain/merge.ts';
import { checkParameters } from '../domain/parameter-checks.ts';
import type { ParameterDefinitions } from '../domain/parameter-schema.ts';
import { redactAt, redactDocument, type SecretNames } from '../domain/secrets.ts';
import type { Mapping, Value } from '../domain/value.ts';
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
}

/**
 * Writes the answer. Values are written exactly, and values of secure parameters are left out.
 * @throws HawserError conflict `parameter_merge_failed` if there is too much to be merged, or the answer exceeds 8 MiB
 */
export function printProvenance(input: ProvenanceInput): Buffer {
  const { delivered, documents, definitions, secrets } = input;
  const { merged, provenance } = mergeMappings(documents);
  const problems = checkMerged(definitions, documents, merged);
  const text = new BoundedText();
  text.add(JSON.stringify({ ...delivered, problems }).slice(0, -1));
  text.add(`,"mergedParameters":${JSON.stringify(printYaml(redactDocument(merged, secrets)))}`);
  const scopes = input.sources.map(({ scope, file, changes, leaves }) => ({
    ofLeaf: membersOf({ ...scope, ...file }),
    ofHidden: membersOf(scope),
    changes: changes.map(membersOf),
    leaves,
  }));
  text.add(',"provenance":{');
  let comma = '';
  for (const [pointer, leaf] of provenance) {
    text.add(`${comma}${JSON.stringify(pointer)}:{`);
    addLeaf(text, pointer, leaf, { scopes, shown: (value) => redactAt(pointer, value, secrets) });
    comma = ',';
  }
  text.add('}}');
  return text.toBuffer();
}

/** The document that is checked if no scope gives one. */
const NOTHING_SET: Mapping = new Map([['parameters', new Map()]]);

/** What is wrong with the merged parameters of a node. */
export function checkMerged(
  definitions: ParameterDefinitions | null,
  documents: readonly Mapping[],
  merged: Mapping,
): FieldError[] {
  return checkParameters(definitions, documents.length === 0 ? NOTHING_SET : merged, { partial: false });
}

interface Shown {
  /** The first members of the values of each source, written once. */
  scopes: readonly (Pick<ShownSource, 'leaves'> & { ofLeaf: string; ofHidden: string; changes: string[] })[];
  shown(value: Value): Value;
}

const NO_SCOPE: Shown['scopes'][number] = { ofLeaf: '', ofHidden: '', changes: [], leaves: new Map() };

/** Writes what follows the opening brace of the leaf. */
function addLeaf(text: BoundedText, pointer: string, leaf: LeafProvenance, { scopes, shown }: Shown): void {
  const { ofLeaf, changes, leaves } = scopes[leaf.source] ?? NO_SCOPE;
  text.add(`${ofLeaf},${changes[leaves.get(pointer) ?? 0]},"value":`);
  text.add(`${printJson(shown(leaf.value))},"overriddenValues":[`);
  let comma = '';
  for (const { source, value } of leaf.overridden) {
    text.add(`${comma}{${scopes[source]?.ofHidden},"value":${printJson(shown(value))}}`);
    comma = ',';
  }
  text.add(']}');
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
