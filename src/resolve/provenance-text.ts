/** Writes who set each value of a node's parameters, as JSON. */

import { printJson } from '../domain/json-text.ts';
import { type LeafProvenance, mergeMappings } from '../domain/merge.ts';
import { checkParameters } from '../domain/parameter-checks.ts';
import type { ParameterDefinitions } from '../domain/parameter-schema.ts';
import type { Mapping, Value } from '../domain/value.ts';
import { printYaml } from '../domain/yaml-printer.ts';
import { conflict, type FieldError } from '../lib/errors.ts';
import { redactAt, redactDocument, type SecretNames } from './secrets.ts';

/** The most there may be of it, in bytes: people and pages read it, and writing it costs by its length. */
export const MAX_PROVENANCE_BYTES = 8 * 1024 * 1024;

/** A scope as it is shown beside each value that it sets. */
export interface ShownScope {
  scopeTypeName: string;
  scopeValue: string | null;
  precedence: number;
}

/** A scope that has content, with what is told of its file. */
export interface ShownSource {
  scope: ShownScope;
  file: {
    resolvedVersion: string;
    isPrerelease: boolean;
    commit: string;
    author: string;
    committedAt: string;
  };
}

export interface ProvenanceInput {
  /** The members that come first. */
  delivered: object;
  /** In the order of merging. */
  sources: readonly ShownSource[];
  documents: readonly Mapping[];
  definitions: ParameterDefinitions | null;
  secrets: SecretNames;
}

/**
 * The answer, in which values are written exactly; those of secure parameters are not in it.
 * @throws HawserError conflict `parameter_merge_failed`: too much to be merged, or to be told in 8 MiB
 */
export function printProvenance(input: ProvenanceInput): Buffer {
  const { delivered, documents, definitions, secrets } = input;
  const { merged, provenance } = mergeMappings(documents);
  const problems = checkMerged(definitions, documents, merged);
  const text = new BoundedText();
  text.add(JSON.stringify({ ...delivered, problems }).slice(0, -1));
  text.add(`,"mergedParameters":${JSON.stringify(printYaml(redactDocument(merged, secrets)))}`);
  const scopes = input.sources.map(({ scope, file }) => ({
    ofLeaf: membersOf({ ...scope, ...file }),
    ofHidden: membersOf(scope),
  }));
  text.add(',"provenance":{');
  let comma = '';
  for (const [pointer, leaf] of provenance) {
    text.add(`${comma}${JSON.stringify(pointer)}:{`);
    addLeaf(text, leaf, { scopes, shown: (value) => redactAt(pointer, value, secrets) });
    comma = ',';
  }
  text.add('}}');
  return text.toBuffer();
}

/** Where no scope gives a document, it is as if one set nothing. */
const NOTHING_SET: Mapping = new Map([['parameters', new Map()]]);

/** What is wrong with what a node gets. */
export function checkMerged(
  definitions: ParameterDefinitions | null,
  documents: readonly Mapping[],
  merged: Mapping,
): FieldError[] {
  return checkParameters(definitions, documents.length === 0 ? NOTHING_SET : merged, { partial: false });
}

interface Shown {
  /** For each source the members that its values begin with; they are written out once. */
  scopes: readonly { ofLeaf: string; ofHidden: string }[];
  shown(value: Value): Value;
}

/** What follows the brace that opens the leaf. */
function addLeaf(text: BoundedText, leaf: LeafProvenance, { scopes, shown }: Shown): void {
  text.add(`${scopes[leaf.source]?.ofLeaf},"value":${printJson(shown(leaf.value))},"overriddenValues":[`);
  let comma = '';
  for (const { source, value } of leaf.overridden) {
    text.add(`${comma}{${scopes[source]?.ofHidden},"value":${printJson(shown(value))}}`);
    comma = ',';
  }
  text.add(']}');
}

/** Gives the members of the object as JSON, without the braces. */
function membersOf(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}

/** Text in pieces, of which there may only be so much. */
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
