/**
 * The work with parameter documents and schemas. These functions take bytes and give plain values, so they can be carried
 * out by the caller or in a thread. Each of them remembers the documents that it has read.
 */

import { LRUCache } from 'lru-cache';
import { compareSchemas, type SchemaChanges } from '../domain/compatibility.ts';
import { readEntryPoint } from '../domain/entry-point.ts';
import { checkFile } from '../domain/file-checks.ts';
import { traceLeaves } from '../domain/leaf-history.ts';
import { LeafCount } from '../domain/leaves.ts';
import { mergeMappings, mergeUntraced } from '../domain/merge.ts';
import { mergeOver } from '../domain/merge-over.ts';
import type { MergeStrategy } from '../domain/merge-strategies.ts';
import {
  type MergedParameters,
  type MergeWay,
  mergedPlainly,
  mergeInWay,
  requireReplaced,
} from '../domain/merge-way.ts';
import { requireMergedSize } from '../domain/merged-size.ts';
import { MAX_ERRORS } from '../domain/parameter-checks.ts';
import { mergeFaults, readParameterDefinitions } from '../domain/parameter-definitions.ts';
import { type ReadDocument, readDocument, requireFewLeaves } from '../domain/parameter-document.ts';
import { type ParameterDefinitions, toJsonSchema } from '../domain/parameter-schema.ts';
import { type SecretNames, secureNames } from '../domain/secrets.ts';
import { hasUnset } from '../domain/unset.ts';
import { holdsSecrets, inTheClear, type Mapping } from '../domain/value.ts';
import type { VariableValues } from '../domain/variables.ts';
import { printYaml } from '../domain/yaml-printer.ts';
import { type FieldError, HawserError, internal, invalid, invalidField } from '../lib/errors.ts';
import { sha256Hex } from '../lib/hash.ts';
import { evidenceOf, type SecretKey } from '../lib/sealed-text.ts';
import type { DocumentSource, SeriesPlace } from './document-source.ts';
import { groupTasks } from './preview-tasks.ts';
import { checkMerged, type ProvenanceInput, printProvenance } from './provenance-text.ts';
import {
  judgeLeaves,
  type KeyRing,
  openLeaves,
  revealLeaf,
  type SecretSurvey,
  sealLeaves,
  surveyLeaves,
  valueAt,
} from './secret-leaves.ts';

export type { DocumentSource } from './document-source.ts';

/** What a document declares about parameters. */
export type Declaration =
  | {
      kind: 'defined';
      /** The `parameters` block as a document of its own, in YAML. */
      block: Uint8Array;
      /** The names of the secure parameters. */
      secure: readonly string[];
      /** The parameters whose strategy is not the default. */
      strategies: readonly (readonly [name: string, strategy: MergeStrategy])[];
    }
  | { kind: 'nothing' }
  /** Why the block cannot be read. */
  | { kind: 'unknown'; message: string; errors: readonly FieldError[] };

/** The merged parameters of a node. */
export interface MergedDocuments {
  /** The merged file, with its secrets in the clear. */
  bytes: Uint8Array;
  /** What the bytes are known by, in hexadecimal: their SHA-256, or an HMAC where they hold secrets. */
  evidence: string;
  /** Whether a leaf of them is stored encrypted. */
  hasSecrets: boolean;
  /** By which rules they are merged: 2 where something other than the defaults of before holds for them. */
  mergeVersion: 1 | 2;
  /** The variables that were replaced, with their values. */
  variables: VariableValues;
}

interface SurveyedFile {
  document: DocumentSource;
  /** Null for a document without encrypted texts. */
  place: SeriesPlace | null;
  secure: SecretNames;
}

interface SealedFile extends SurveyedFile {
  place: SeriesPlace;
  key: SecretKey;
  /** As `Sealing.earlier`. */
  earlier: readonly DocumentSource[];
  rekeys: boolean;
}

interface RevealedLeaf {
  document: DocumentSource;
  pointer: string;
  secure: SecretNames;
}

type ProvenanceRequest = Omit<ProvenanceInput, 'documents' | 'definitions'> & {
  documents: readonly DocumentSource[];
  schema: DocumentSource | null;
};

/**
 * Memory in bytes for parsed documents, for definitions, for counted documents and for steps of merging, each. A parsed
 * document takes several times its text.
 */
const CACHE_BYTES = 32 * 1024 * 1024;
const WEIGHT_OF_PARSED = 8;
/** The greatest length of each list in a report. Longer lists would help nobody. */
const MAX_CHANGES = 1_000;
/** The definitions of a document without a `parameters` block. Its nodes take no parameters. */
const NO_PARAMETERS: ParameterDefinitions = new Map();

export type DocumentTasks = ReturnType<typeof documentTasks>;

/** @param keys what opens encrypted texts */
export function documentTasks(keys: KeyRing, cacheBytes = CACHE_BYTES) {
  const documents = new ParsedCache((source) => readSource(source, keys), cacheBytes);
  const read = (source: DocumentSource) => documents.get(source).document;
  const define = (source: DocumentSource) => readParameterDefinitions(read(source));
  const definitions = new ParsedCache(define, cacheBytes);
  const definedBy = (schema: DocumentSource | null) => schema && definitions.get(schema);
  const allOf = (sources: readonly DocumentSource[]) => sources.map(read);
  const merging = new StepwiseMerging(read, cacheBytes);
  const isPlain = (sources: readonly DocumentSource[], { strategies, isDeclared }: MergeWay) =>
    strategies.length === 0 && !(isDeclared && sources.some((each) => each.mayUnset && hasUnset(read(each))));
  const mergeBy = (sources: readonly DocumentSource[], way: MergeWay) =>
    isPlain(sources, way) ? mergedPlainly(merging.merge(sources), way) : mergeInWay(allOf(sources), way);
  return {
    ...groupTasks({
      read,
      define: definedBy,
      merge: mergeBy,
    }),

    /** @throws the same errors as `parseParameterDocument` */
    readDocument({ document }: { document: DocumentSource }): void {
      documents.get(document);
    },

    /** The values of a parameter file that its readers take for different things, as errors. @throws as `readDocument` */
    findAmbiguous: ({ document }: { document: DocumentSource }) => documents.get(document).ambiguous,

    /** @param input.isPartial means that the document is one scope's file, of which nothing is required */
    checkDocument(input: {
      schema: DocumentSource | null;
      document: DocumentSource;
      isPartial: boolean;
      variables?: VariableValues | null;
    }) {
      const { schema, document, isPartial: partial, variables = null } = input;
      return checkFile(definedBy(schema), read(document), { partial, variables });
    },

    /** @throws HawserError conflict `parameter_merge_failed`, `unknown_variable` */
    mergeDocuments(input: { documents: readonly DocumentSource[]; way: MergeWay }): MergedDocuments {
      const { documents: sources, way } = input;
      const mergeVersion = way.variables === null && isPlain(sources, way) ? 1 : 2;
      return { ...writeMerged(mergeBy(sources, way), { sources, way, keys }), mergeVersion };
    },

    /** What a parameter file that comes in holds of secrets. @throws the errors of `readDocument` */
    surveySecrets: ({ document, place, secure }: SurveyedFile): SecretSurvey =>
      surveyLeaves(document, { place, secure, keys }),

    /** What a document that is stored holds of secrets. @throws the errors of `readDocument` */
    judgeSecrets: ({ document, secure }: Omit<SurveyedFile, 'place'>) =>
      judgeLeaves(read(document), { secure, keys }),

    /** A parameter file with its secure leaves encrypted. @throws HawserError as `sealLeaves` */
    sealSecrets: ({ document, earlier, ...sealing }: SealedFile): Uint8Array =>
      sealLeaves(document, {
        ...sealing,
        keys,
        earlier: earlier.flatMap((each) => orNothing(() => read(each)) ?? []),
      }),

    /**
     * The JSON text of a secret leaf, encrypted or in the clear; null where there is no such leaf.
     * @throws HawserError `secret_key_missing`, `secret_unreadable`
     */
    revealSecret({ document, pointer, secure }: RevealedLeaf): string | null {
      const value = valueAt(read(document), pointer);
      return value === undefined ? null : revealLeaf(value, pointer, secure);
    },

    /** @throws HawserError conflict `parameter_merge_failed` */
    checkMerged(input: {
      schema: DocumentSource | null;
      documents: readonly DocumentSource[];
      way: MergeWay;
    }) {
      const all = allOf(input.documents);
      return checkMerged(definedBy(input.schema), all, mergeInWay(all, input.way));
    },

    /** @throws HawserError conflict `parameter_merge_failed` */
    printProvenance({ schema, documents: sources, ...input }: ProvenanceRequest): Uint8Array {
      return printProvenance({ ...input, definitions: definedBy(schema), documents: allOf(sources) });
    },

    /**
     * Since which document each leaf of the last one has its value, as `traceLeaves`. What stock git made that is no
     * parameter file, or too large for one, has no values.
     */
    traceLeaves: ({ documents: sources }: { documents: readonly (DocumentSource | null)[] }) =>
      traceLeaves(
        sources.map((source) => source && orNothing(() => read(source))),
        (document) => orNothing(() => mergeMappings([document]).provenance) ?? new Map(),
      ),

    /** What is found in an entry point, and what it declares; null if that is unknown. */
    readEntryPoint({ document: { bytes } }: { document: DocumentSource }) {
      const { document, ...found } = readEntryPoint(bytes);
      return { ...found, declaration: document && declare(document) };
    },

    /** What an uploaded schema declares. */
    declare({ document }: { document: DocumentSource }): Declaration {
      const found = orFault(() => read(document));
      return found instanceof HawserError ? toUnknown(found) : declare(found);
    },

    /** @throws HawserError `validation_failed` for a document that defines no parameters, or wrongly */
    requireDefinitions({ schema }: { schema: DocumentSource }): void {
      const faults = mergeFaults(read(schema));
      if (faults.length > 0)
        throw invalid(
          'validation_failed',
          'How parameters merge is not said as it can be',
          faults.slice(0, MAX_ERRORS),
        );
      if (definitions.get(schema) !== null) return;
      const message = 'The document has no block of parameters to define them';
      throw invalidField('/parameters', message, 'required');
    },

    /** The JSON Schema of documents that follow these definitions, as JSON text. */
    printJsonSchema({ schema }: { schema: DocumentSource }): string {
      return JSON.stringify(toJsonSchema(definitions.get(schema) ?? NO_PARAMETERS));
    },

    /** Gives the first thousand changes of each kind. */
    compareSchemas(input: { older: DocumentSource | null; newer: DocumentSource | null }): SchemaChanges {
      const older = definedBy(input.older) ?? NO_PARAMETERS;
      const changes = compareSchemas(older, definedBy(input.newer) ?? NO_PARAMETERS);
      return {
        breakingChanges: changes.breakingChanges.slice(0, MAX_CHANGES),
        nonBreakingChanges: changes.nonBreakingChanges.slice(0, MAX_CHANGES),
      };
    },
  };
}

/** @throws HawserError conflict `unknown_variable`, `parameter_merge_failed` */
function writeMerged(
  made: MergedParameters,
  { sources, way, keys }: { sources: readonly DocumentSource[]; way: MergeWay; keys: KeyRing },
): Omit<MergedDocuments, 'mergeVersion'> {
  requireReplaced(made);
  const { merged, used } = made;
  const hasSecrets = sources.some(({ place }) => place !== null) && holdsSecrets(merged);
  const clear = hasSecrets ? (inTheClear(merged) as Mapping) : merged;
  requireMergedSize(clear);
  const bytes = Buffer.from(printYaml(clear));
  requireMergedSize(bytes);
  // A plain hash would let whoever sees it try passwords.
  const evidence = hasSecrets ? evidenceOf(keys.evidenceKey(), bytes) : sha256Hex(bytes);
  const variables = Object.fromEntries(used.map((name) => [name, way.variables?.[name] ?? '']));
  return { bytes, evidence, hasSecrets, variables };
}

const sizeCalculation = ({ bytes }: { bytes: number }) => bytes * WEIGHT_OF_PARSED + 200;

/** Results of reading sources, by the keys of the sources. */
class ParsedCache<V> {
  private readonly read: (source: DocumentSource) => V;
  private readonly cache: LRUCache<string, { value: V; bytes: number }>;

  constructor(read: (source: DocumentSource) => V, maxSize: number) {
    this.read = read;
    this.cache = new LRUCache<string, { value: V; bytes: number }>({ maxSize, sizeCalculation });
  }

  get(source: DocumentSource): V {
    const known = this.cache.get(source.key);
    if (known) return known.value;
    const value = this.read(source);
    this.cache.set(source.key, { value, bytes: source.bytes.byteLength });
    return value;
  }
}

interface CountedMapping {
  mapping: Mapping;
  count: LeafCount;
}

/**
 * Merges documents one after the other, and remembers all steps but the last. After a publish for all nodes, most nodes
 * differ in the last of their documents only.
 */
class StepwiseMerging {
  private readonly read: (source: DocumentSource) => Mapping;
  private readonly counted: ParsedCache<CountedMapping>;
  /** Null stands for documents that cannot be merged by themselves. A later one may replace what is too much. */
  private readonly steps: LRUCache<string, { step: CountedMapping | null; bytes: number }>;

  constructor(read: (source: DocumentSource) => Mapping, maxSize: number) {
    this.read = read;
    this.counted = new ParsedCache((source) => count(read(source)), maxSize);
    this.steps = new LRUCache<string, { step: CountedMapping | null; bytes: number }>({
      ...{ maxSize, sizeCalculation },
    });
  }

  /** @throws HawserError conflict `parameter_merge_failed` */
  merge(sources: readonly DocumentSource[]): Mapping {
    const last = sources.at(-1);
    const below = sources.length > 1 ? this.step(sources.slice(0, -1)) : null;
    if (last && below) {
      const above = this.counted.get(last);
      if (!below.count.plus(above.count).isBeyond) return mergeOver(below.mapping, above.mapping);
    }
    return mergeUntraced(sources.map(this.read));
  }

  private step(sources: readonly DocumentSource[]): CountedMapping | null {
    const [first, second] = sources;
    if (first && !second) return this.counted.get(first);
    let key = '';
    for (const source of sources) key += `${source.key} `;
    const known = this.steps.get(key);
    if (known) return known.step;
    const step = this.mergeStep(sources);
    const bytes = sources.reduce((sum, source) => sum + source.bytes.byteLength, 0);
    this.steps.set(key, { step, bytes });
    return step;
  }

  private mergeStep(sources: readonly DocumentSource[]): CountedMapping | null {
    try {
      return count(this.merge(sources));
    } catch (error) {
      if (error instanceof HawserError) return null;
      throw error;
    }
  }
}

function count(mapping: Mapping): CountedMapping {
  const leaves = new LeafCount();
  leaves.addKeys(mapping, 0);
  return { mapping, count: leaves };
}

/** The leaves of a stored document are counted when it is merged, so that the error reaches the node's users. */
function readSource({ type, bytes, isStored, place }: DocumentSource, keys: KeyRing): ReadDocument {
  const read = isStored ? orDamaged(() => readDocument(bytes, type)) : readDocument(bytes, type);
  if (!isStored) requireFewLeaves(read.document);
  return place === null ? read : { ...read, document: openLeaves(read.document, place, keys) };
}

function orDamaged<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw internal('repository_damaged', 'A parameter file cannot be read', error);
  }
}

function declare(document: Mapping): Declaration {
  const block = document.get('parameters') ?? null;
  const found = orFault(() => {
    const alone = new Map([['parameters', block]]);
    requireFewLeaves(alone);
    const definitions = readParameterDefinitions(alone);
    return (
      definitions && {
        secure: [...secureNames(definitions)],
        strategies: strategiesIn(definitions),
        block: Buffer.from(printYaml(alone)),
      }
    );
  });
  if (found instanceof HawserError) return toUnknown(found);
  return found === null ? { kind: 'nothing' } : { kind: 'defined', ...found };
}

function strategiesIn(definitions: ParameterDefinitions): [string, MergeStrategy][] {
  const found: [string, MergeStrategy][] = [];
  for (const [name, { merge }] of definitions) if (merge !== undefined) found.push([name, merge]);
  return found;
}

function toUnknown({ message, data }: HawserError): Declaration {
  return { kind: 'unknown', message, errors: (data['errors'] ?? []) as FieldError[] };
}

/** Gives null where a document itself is at fault. */
function orNothing<T>(work: () => T): T | null {
  const read = orFault(work, ['invalid', 'internal', 'conflict']);
  return read instanceof HawserError ? null : read;
}

function orFault<T>(work: () => T, kinds = ['invalid', 'internal']): T | HawserError {
  try {
    return work();
  } catch (error) {
    if (error instanceof HawserError && kinds.includes(error.kind)) return error;
    throw error;
  }
}
