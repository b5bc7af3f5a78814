/** The parameters of a configuration for one node: which file each scope gives, and what they make together. */

import type { ScopeLink } from '../db/node-lookup.ts';
import { takesParametersPlace } from '../domain/bundle-paths.ts';
import { mergeUntraced } from '../domain/merge.ts';
import { type ChosenFile, chooseParameterFile } from '../domain/parameter-choice.ts';
import { parseParameterDocument } from '../domain/parameter-document.ts';
import type { Mapping } from '../domain/value.ts';
import { printYaml } from '../domain/yaml-printer.ts';
import type { GitStore, ParameterIndex, ParameterVersionRef } from '../git/store.ts';
import { type Awaitable, allOf, andThen } from '../lib/awaitable.ts';
import { type CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import { internal } from '../lib/errors.ts';
import { sha256Hex } from '../lib/hash.ts';

/** A scope that speaks for a node, with the file that it gives. */
export interface ScopeFile extends ScopeLink {
  /** Null where the scope has no published version that fits. */
  file: ParameterVersionRef | null;
  /** Of a lower major than the configuration's. */
  isFallback: boolean;
}

/** Which versions are wanted: those that fit a configuration's version, prereleases from the channel on. */
export interface FileWish {
  configurationVersion: string;
  prereleaseChannel: string | null;
}

export interface MergedParameters {
  bytes: Buffer;
  /** Hex. */
  sha256: string;
}

/** Memory for parsed documents, and for merged ones; a parsed one weighs several times its text. */
const CACHE_BYTES = 32 * 1024 * 1024;
const WEIGHT_OF_PARSED = 8;

/**
 * In the order of merging; a scope that gives no file is there too, with none. No scope gives any where there is no
 * index, as of a configuration that brings its own parameters.
 */
export function chooseFiles(
  index: ParameterIndex | null,
  links: readonly ScopeLink[],
  wish: FileWish,
): ScopeFile[] {
  return links.map((link) => {
    const chosen = index && choose(index, link, wish);
    return { ...link, file: chosen?.file ?? null, isFallback: chosen?.isFallback ?? false };
  });
}

/** The files alone, for the node's next poll, which costs by their number. */
export function chooseRefs(
  index: ParameterIndex | null,
  links: readonly ScopeLink[],
  wish: FileWish,
): ParameterVersionRef[] {
  const refs: ParameterVersionRef[] = [];
  for (const link of links) {
    const chosen = index && choose(index, link, wish);
    if (chosen) refs.push(chosen.file);
  }
  return refs;
}

type Chosen = ChosenFile<ParameterVersionRef> | null;

/** What was chosen from a list, which another one takes the place of when anything in its scope changes. */
const choices = new WeakMap<readonly ParameterVersionRef[], Map<string, Chosen>>();

function choose(index: ParameterIndex, { scopeTypeName, scopeValue }: ScopeLink, wish: FileWish): Chosen {
  const published = index.published({ scopeType: scopeTypeName, value: scopeValue });
  if (published.length === 0) return null;
  const known = choices.get(published) ?? new Map<string, Chosen>();
  const key = `${wish.configurationVersion} ${wish.prereleaseChannel ?? ''}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const chosen = chooseParameterFile(published, wish);
  choices.set(published, known.set(key, chosen));
  return chosen;
}

/** The files of a version without the one, or the folder, that stands where its merged parameters go. */
export function besideParameters<T extends { path: string }>(files: readonly T[]): readonly T[] {
  const isInPlace = ({ path }: T) => takesParametersPlace(path);
  return files.some(isInPlace) ? files.filter((file) => !isInPlace(file)) : files;
}

export class ParameterReader {
  private readonly store: GitStore;
  /** By the ref's object id, which never changes its content; null of a scope that is skipped on purpose. */
  private readonly documents = new CountedCache<{ document: Mapping | null; bytes: number }>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ bytes }) => bytes * WEIGHT_OF_PARSED + 200,
  });
  private readonly reading = new Map<string, Promise<Mapping | null>>();
  private readonly merged = new CountedCache<MergedParameters>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length + 200,
  });

  private readonly onMerged: (milliseconds: number) => void;

  /** @param onMerged told of each merge that was not in memory how long it took */
  constructor(store: GitStore, onMerged: (milliseconds: number) => void) {
    this.store = store;
    this.onMerged = onMerged;
  }

  /** By name, what is in memory. */
  get caches(): Record<'parameter_documents' | 'merged_parameters', CacheFacts> {
    return { parameter_documents: this.documents.facts, merged_parameters: this.merged.facts };
  }

  /** An empty one of a configuration without any parameter files. */
  index(configurationName: string): Promise<ParameterIndex> {
    return this.store.parameters.index(configurationName);
  }

  /**
   * The content of a version; null of a passthrough.
   * @throws HawserError `repository_damaged` for what cannot be read: never a smaller answer
   */
  document(configurationName: string, ref: ParameterVersionRef): Awaitable<Mapping | null> {
    const cached = this.documents.get(ref.oid);
    if (cached) return cached.document;
    // After a publish for many nodes they all ask at once, and to parse is the dear part of it.
    const key = `${configurationName} ${ref.oid}`;
    const running = this.reading.get(key);
    if (running) return running;
    const reading = this.read(configurationName, ref).finally(() => this.reading.delete(key));
    this.reading.set(key, reading);
    return reading;
  }

  /** What these versions make together, lowest precedence first; null where none of them has content. */
  merge(configurationName: string, refs: readonly ParameterVersionRef[]): Awaitable<MergedParameters | null> {
    const key = `${configurationName} ${refs.map(({ oid }) => oid).join(' ')}`;
    const cached = this.merged.get(key);
    if (cached) return cached;
    const start = performance.now();
    const documents = allOf(refs.map((ref) => this.document(configurationName, ref)));
    return andThen(documents, (all) => {
      const sources = all.filter((document) => document !== null);
      if (sources.length === 0) return null;
      const bytes = Buffer.from(printYaml(mergeUntraced(sources)));
      const merged = { bytes, sha256: sha256Hex(bytes) };
      this.merged.set(key, merged);
      this.onMerged(performance.now() - start);
      return merged;
    });
  }

  private async read(configurationName: string, ref: ParameterVersionRef): Promise<Mapping | null> {
    const { contentType } = await this.store.parameters.details(configurationName, ref);
    const content = await this.store.parameters.content(configurationName, ref);
    const document = content && parse(content, contentType ?? 'yaml');
    this.documents.set(ref.oid, { document, bytes: content?.length ?? 0 });
    return document;
  }
}

/** What was checked at its upload, or was tagged by stock git and is not what it should be. */
function parse(content: Uint8Array, contentType: 'yaml' | 'json'): Mapping {
  try {
    return parseParameterDocument(content, contentType);
  } catch (error) {
    throw internal('repository_damaged', 'A parameter file cannot be read', error);
  }
}
