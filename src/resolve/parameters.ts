/** The parameters of a configuration for one node: which file each scope gives, and what they make together. */

import type { ScopeLink } from '../db/node-lookup.ts';
import { takesParametersPlace } from '../domain/bundle-paths.ts';
import { type ChosenFile, chooseParameterFile } from '../domain/version-choice.ts';
import type { GitStore, ParameterIndex, ParameterVersionRef } from '../git/store.ts';
import { type Awaitable, allOf, andThen, settle } from '../lib/awaitable.ts';
import { type CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import { HawserError } from '../lib/errors.ts';
import type { DocumentSource, MergedDocuments } from './document-tasks.ts';
import { type Documents, storedSource } from './documents.ts';

/** A scope that speaks for a node, with the file that it gives. */
export interface ScopeFile extends ScopeLink {
  /** Null where the scope has no published version that fits. */
  file: ParameterVersionRef | null;
  /** Of a lower major than the configuration's. */
  isFallback: boolean;
}

/** Which versions are wanted: those that fit a configuration's version, prereleases from the channel on. */
export interface FileConstraint {
  configurationVersion: string;
  prereleaseChannel: string | null;
}

export interface MergedParameters {
  bytes: Buffer;
  /** Hex. */
  sha256: string;
}

/** Memory for documents, and for merged ones. */
const CACHE_BYTES = 32 * 1024 * 1024;

/**
 * In the order of merging; a scope that gives no file is there too, with none. No scope gives any where there is no
 * index, as of a configuration that brings its own parameters.
 */
export function chooseFiles(
  index: ParameterIndex | null,
  links: readonly ScopeLink[],
  constraint: FileConstraint,
): ScopeFile[] {
  return links.map((link) => {
    const chosen = index && choose(index, link, constraint);
    return { ...link, file: chosen?.file ?? null, isFallback: chosen?.isFallback ?? false };
  });
}

/** The files alone, for the node's next poll, which costs by their number. */
export function chooseRefs(
  index: ParameterIndex | null,
  links: readonly ScopeLink[],
  constraint: FileConstraint,
): ParameterVersionRef[] {
  const refs: ParameterVersionRef[] = [];
  for (const link of links) {
    const chosen = index && choose(index, link, constraint);
    if (chosen) refs.push(chosen.file);
  }
  return refs;
}

type Chosen = ChosenFile<ParameterVersionRef> | null;

/** What was chosen from a list, which another one takes the place of when anything in its scope changes. */
const choices = new WeakMap<readonly ParameterVersionRef[], Map<string, Chosen>>();

function choose(
  index: ParameterIndex,
  { scopeTypeName, scopeValue }: ScopeLink,
  constraint: FileConstraint,
): Chosen {
  const published = index.published({ scopeType: scopeTypeName, value: scopeValue });
  if (published.length === 0) return null;
  const known = choices.get(published) ?? new Map<string, Chosen>();
  const key = `${constraint.configurationVersion} ${constraint.prereleaseChannel ?? ''}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const chosen = chooseParameterFile(published, constraint);
  choices.set(published, known.set(key, chosen));
  return chosen;
}

/** The files of a version without the one, or the folder, that stands where its merged parameters go. */
export function besideParameters<T extends { path: string }>(files: readonly T[]): readonly T[] {
  const isInPlace = ({ path }: T) => takesParametersPlace(path);
  return files.some(isInPlace) ? files.filter((file) => !isInPlace(file)) : files;
}

/** What became of a merge: failing costs as much as succeeding, and the same documents fail again. */
type MergeOutcome = { merged: MergedParameters } | { failure: HawserError };

export class ParameterReader {
  private readonly store: GitStore;
  private readonly documents: Documents;
  /** By the ref's object id, which never changes its content; null of a scope that is skipped on purpose. */
  private readonly sources = new CountedCache<{ source: DocumentSource | null }>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ source }) => (source?.bytes.byteLength ?? 0) + 200,
  });
  private readonly reading = new Map<string, Promise<DocumentSource | null>>();
  private readonly outcomes = new CountedCache<MergeOutcome>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (outcome) => ('merged' in outcome ? outcome.merged.bytes.length : 1_000) + 200,
  });
  private readonly merging = new Map<string, Promise<MergedParameters | null>>();

  private readonly onMerged: (milliseconds: number) => void;

  /** @param onMerged told of each merge that was not in memory how long it took */
  constructor(store: GitStore, documents: Documents, onMerged: (milliseconds: number) => void) {
    this.store = store;
    this.documents = documents;
    this.onMerged = onMerged;
  }

  /** By name, what is in memory. */
  get caches(): Record<'parameter_documents' | 'merged_parameters', CacheFacts> {
    return { parameter_documents: this.sources.facts, merged_parameters: this.outcomes.facts };
  }

  /** An empty one of a configuration without any parameter files. */
  index(configurationName: string): Promise<ParameterIndex> {
    return this.store.parameters.index(configurationName);
  }

  /**
   * The content of a version; null of a passthrough.
   * @throws HawserError `repository_damaged` for objects that cannot be read: never a smaller answer
   */
  source(configurationName: string, ref: ParameterVersionRef): Awaitable<DocumentSource | null> {
    const cached = this.sources.get(ref.oid);
    if (cached) return cached.source;
    // After a publish for many nodes all of them ask at once.
    return shared(this.reading, `${configurationName} ${ref.oid}`, () => this.read(configurationName, ref));
  }

  /**
   * What these versions make together, lowest precedence first; null where none of them has content.
   * @throws HawserError conflict `parameter_merge_failed`, `repository_damaged`; always as a rejected promise
   */
  merge(configurationName: string, refs: readonly ParameterVersionRef[]): Awaitable<MergedParameters | null> {
    const key = `${configurationName} ${refs.map(({ oid }) => oid).join(' ')}`;
    const known = this.outcomes.get(key);
    if (known) return 'merged' in known ? known.merged : Promise.reject(known.failure);
    const start = performance.now();
    const make = () => {
      const sources = allOf(refs.map((ref) => this.source(configurationName, ref)));
      return andThen(sources, (all) => this.mergeSources(configurationName, all));
    };
    const done = (merged: MergedParameters | null) => {
      if (merged === null) return null;
      this.outcomes.set(key, { merged });
      this.onMerged(performance.now() - start);
      return merged;
    };
    const failed = (error: unknown) => {
      if (isLasting(error)) this.outcomes.set(key, { failure: error });
      throw error;
    };
    return shared(this.merging, key, () => settle(make, done, failed));
  }

  private mergeSources(
    configurationName: string,
    all: readonly (DocumentSource | null)[],
  ): Awaitable<MergedParameters | null> {
    const documents = all.filter((source) => source !== null);
    if (documents.length === 0) return null;
    const caller = `server ${configurationName}`;
    return andThen(this.documents.run(caller, 'mergeDocuments', { documents }), toMergedParameters);
  }

  private async read(configurationName: string, ref: ParameterVersionRef): Promise<DocumentSource | null> {
    const { contentType } = await this.store.parameters.details(configurationName, ref);
    const content = await this.store.parameters.content(configurationName, ref);
    const source = content && storedSource(ref.oid, content, contentType ?? 'yaml');
    this.sources.set(ref.oid, { source });
    return source;
  }
}

/** Those who ask while an answer is being made share it. */
function shared<T>(running: Map<string, Promise<T>>, key: string, make: () => Awaitable<T>): Awaitable<T> {
  const known = running.get(key);
  if (known) return known;
  const made = make();
  if (!(made instanceof Promise)) return made;
  const making = made.finally(() => running.delete(key));
  running.set(key, making);
  return making;
}

/** A thread gives bytes, which are no Buffer any more. */
function toMergedParameters({ bytes, sha256 }: MergedDocuments): MergedParameters {
  return { bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), sha256 };
}

/** Whether it is the fault of the documents' content, which stays until others take their place. */
function isLasting(error: unknown): error is HawserError {
  if (!(error instanceof HawserError)) return false;
  return error.code === 'parameter_merge_failed' || isUnreadable(error);
}

function isUnreadable({ code, cause }: HawserError): boolean {
  return code === 'repository_damaged' && cause instanceof HawserError && cause.kind === 'invalid';
}
