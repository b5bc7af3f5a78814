/**
 * The work with the parameter documents of two sides of a preview: what a node gets before, and after. These tasks belong
 * to those of document-tasks.ts, whose memory of documents they share.
 */

import { printJson } from '../domain/json-text.ts';
import type { LeafProvenance } from '../domain/merge.ts';
import { type MergedParameters, type MergeWay, secretsInWay } from '../domain/merge-way.ts';
import type { ParameterDefinitions } from '../domain/parameter-schema.ts';
import { redactAt, redactDocument, type SecretNames } from '../domain/secrets.ts';
import type { Mapping, Value } from '../domain/value.ts';
import { printYaml } from '../domain/yaml-printer.ts';
import { conflict, type FieldError } from '../lib/errors.ts';
import type { DocumentSource } from './document-source.ts';
import { countLeafChanges, listLeafChanges } from './leaf-changes.ts';
import { newProblems } from './new-problems.ts';
import { MAX_PROVENANCE_BYTES } from './provenance-text.ts';

/** How the tasks read, merge and understand documents. */
export interface DocumentReading {
  read(source: DocumentSource): Mapping;
  define(schema: DocumentSource | null): ParameterDefinitions | null;
  /** @throws HawserError conflict `parameter_merge_failed` */
  merge(sources: readonly DocumentSource[], way: MergeWay): MergedParameters;
}

/** What is known of the documents of one side, beside their content. */
export interface SideFacts {
  /** What names the file of each document, as `LeafSide` has it. */
  files: readonly string[];
  secrets: SecretNames;
  way: MergeWay;
}

/** One configuration on both sides. Both lists of a side that does not have it are null. */
export interface TwoSides {
  beforeDocuments: readonly DocumentSource[] | null;
  afterDocuments: readonly DocumentSource[] | null;
  before: SideFacts | null;
  after: SideFacts | null;
}

export interface ComparedSides {
  /** The number of leaves that are there on one side only, or differ. */
  parameterChanges: number;
  /** Problems that are not there before, with paths inside the configuration. */
  newProblems: FieldError[];
}

/** A leaf that is listed, and the members of it as JSON. */
export interface ListedLeaf {
  path: string;
  /** `"before":…,"after":…`, values written exactly and secure ones redacted. */
  values: string;
  /** The index of the document that each value is of; null where there is none. */
  beforeSource: number | null;
  afterSource: number | null;
}

/** The merged parameters of a configuration, or of a child of a composite. */
export interface ShownParameters {
  /** The name of the child. Null for a configuration. */
  child: string | null;
  /** How many of the documents are its own, in their order. */
  documents: number;
  secrets: SecretNames;
  way: MergeWay;
}

export function groupTasks({ read, define, merge }: DocumentReading) {
  const sideOf = (sources: readonly DocumentSource[] | null, facts: SideFacts | null) => {
    if (sources === null || facts === null) return null;
    const documents = sources.map(read);
    return { ...facts, documents, secrets: secretsInWay(facts.secrets, facts.way, documents) };
  };
  const mergedSide = (documents: readonly DocumentSource[] | null, facts: SideFacts | null) => {
    const side = sideOf(documents, facts);
    return side && { ...side, ...merge(documents ?? [], side.way) };
  };
  return {
    /** @throws HawserError conflict `parameter_merge_failed` */
    compareSides(
      input: TwoSides & { beforeSchema: DocumentSource | null; afterSchema: DocumentSource | null },
    ): ComparedSides {
      const before = mergedSide(input.beforeDocuments, input.before);
      const after = mergedSide(input.afterDocuments, input.after);
      const checked = before && { ...before, definitions: define(input.beforeSchema) };
      return {
        parameterChanges: countLeafChanges(before, after),
        newProblems: after ? newProblems(checked, { ...after, definitions: define(input.afterSchema) }) : [],
      };
    },

    /**
     * Lists as many leaves as `compareSides` counts, by the bytes of their paths.
     * @throws HawserError conflict `parameter_merge_failed`, also if the list would take more than 8 MiB
     */
    listLeaves({ beforeDocuments, afterDocuments, before, after }: TwoSides): ListedLeaf[] {
      const [oldSide, nextSide] = [sideOf(beforeDocuments, before), sideOf(afterDocuments, after)];
      const changes = listLeafChanges(oldSide, nextSide);
      let length = 0;
      return changes.map(({ path, before: old, after: next }) => {
        const values = `"before":${printShown(path, old, oldSide)},"after":${printShown(path, next, nextSide)}`;
        length += values.length + path.length;
        if (length > MAX_PROVENANCE_BYTES) throw tooLong();
        return { path, values, beforeSource: old?.source ?? null, afterSource: next?.source ?? null };
      });
    },

    /**
     * The merged parameters as they may be shown, as YAML; of a composite with the children's names as keys.
     * @param input.documents are those of all shown parameters, one after the other
     * @throws HawserError conflict `parameter_merge_failed`
     */
    printParameters(input: {
      documents: readonly DocumentSource[];
      shown: readonly ShownParameters[];
    }): string {
      let at = 0;
      const merged = input.shown.map(({ child, documents, secrets, way }): [string | null, Mapping] => {
        const own = input.documents.slice(at, at + documents);
        at += documents;
        const shown = secretsInWay(secrets, way, own.map(read));
        return [child, redactDocument(merge(own, way).merged, shown)];
      });
      const alone = merged.find(([child]) => child === null);
      return printYaml(alone?.[1] ?? new Map<string, Value>(merged as [string, Mapping][]));
    },
  };
}

function printShown(
  path: string,
  leaf: LeafProvenance | null,
  side: Pick<SideFacts, 'secrets'> | null,
): string {
  return leaf && side ? printJson(redactAt(path, leaf.value, side.secrets)) : 'null';
}

function tooLong() {
  const message = `The parameters that differ take more than ${MAX_PROVENANCE_BYTES} bytes to tell`;
  return conflict('parameter_merge_failed', message);
}
