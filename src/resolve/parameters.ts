/** The parameters of a configuration for one node: which file each scope gives, and what they make together. */

import { idsOfLink, type ScopeLink } from '../db/node-lookup.ts';
import { takesParametersPlace } from '../domain/bundle-paths.ts';
import { type MergeWay, PLAIN_WAY } from '../domain/merge-way.ts';
import { isFile, isOfScope } from '../domain/rollout.ts';
import { type ChosenFile, chooseParameterFile, ownedBy } from '../domain/version-choice.ts';
import { type Awaitable, allOf, andThen, singleFlight, thenOrElse } from '../lib/awaitable.ts';
import { type CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import { HawserError } from '../lib/errors.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import type { SeriesIndex, VersionRef } from '../versions/store.ts';
import type { VersionSource } from '../versions/version-source.ts';
import type { SeriesPlace } from './document-source.ts';
import type { DocumentSource, MergedDocuments } from './document-tasks.ts';
import { type DocumentRunner, openedAt, storedSource } from './documents.ts';
import type { ClosedFiles } from './open-versions.ts';
import type { SeriesPlaces } from './series-places.ts';

/** A scope that applies to a node, with the file that it gives. */
export interface ScopeFile extends ScopeLink {
  /** Null if the scope has no published version that fits. */
  file: VersionRef | null;
  /** Whether the file's major is lower than the configuration's. */
  isFallback: boolean;
}

/** The versions of files that are admitted: those that fit a configuration's version, with prereleases of a channel. */
export interface FileConstraint {
  configurationVersion: string;
  prereleaseChannel: string | null;
}

export interface MergedParameters extends MergedDocuments {
  bytes: Buffer;
}

/** What reads documents, and knows where their secrets open. */
export interface OpeningTools {
  documents: DocumentRunner;
  places: SeriesPlaces;
}

/** The memory for documents in bytes, and the same for merged ones. */
const CACHE_BYTES = 32 * 1024 * 1024;

/**
 * All scopes in the order of merging, each with the file that it gives, if any. Without an index no scope gives a file;
 * this is the case for a configuration that brings its own parameters.
 */
export function chooseFiles(
  files: OfferedFiles,
  links: readonly ScopeLink[],
  constraint: FileConstraint,
): ScopeFile[] {
  return links.map((link) => {
    const chosen = choose(files, link, constraint);
    return { ...link, file: chosen?.file ?? null, isFallback: chosen?.isFallback ?? false };
  });
}

/** Files that are merged, lowest precedence first, and the scope of each. */
export interface ChosenRefs {
  refs: readonly VersionRef[];
  links: readonly ScopeLink[];
}

/** The files alone. This is part of a node's poll after a change, so it makes nothing else. */
export function chooseRefs(
  files: OfferedFiles,
  links: readonly ScopeLink[],
  constraint: FileConstraint,
): ChosenRefs {
  const refs: VersionRef[] = [];
  const given: ScopeLink[] = [];
  for (const link of links) {
    const chosen = choose(files, link, constraint);
    if (!chosen) continue;
    refs.push(chosen.file);
    given.push(link);
  }
  return { refs, links: given };
}

interface Choice extends FileConstraint {
  chosen: ChosenFile<VersionRef> | null;
}

/** The files of a plan: those among which its nodes' are chosen, and those of them that are closed to these nodes. */
export interface OfferedFiles {
  /** Null where there are none to choose from. */
  parameters: SeriesIndex | null;
  closed: ClosedFiles;
}

/** Lists without what is closed. Those who choose compare lists by identity. */
const openLists = new WeakMap<ClosedFiles, WeakMap<readonly VersionRef[], readonly VersionRef[]>>();

function openAmong(
  published: readonly VersionRef[],
  link: ScopeLink,
  closed: ClosedFiles,
): readonly VersionRef[] {
  const known = openLists.get(closed) ?? new WeakMap<readonly VersionRef[], readonly VersionRef[]>();
  openLists.set(closed, known);
  let open = known.get(published);
  if (open === undefined) {
    const ids = idsOfLink(link);
    const own = closed.filter((file) => isOfScope(file, ids));
    const isClosed = (ref: VersionRef) => own.some((file) => isFile(file, ref, link));
    open = published.some(isClosed) ? published.filter((ref) => !isClosed(ref)) : published;
    known.set(published, open);
  }
  return open;
}

/** A poll looks through all choices of a list. Most nodes have one of very few versions and channels. */
const MAX_CHOICES = 8;

/** What was chosen from a list of versions. A new list replaces it with every change in its scope. */
const choices = new WeakMap<readonly VersionRef[], Choice[]>();

/** The file that one scope gives, or null. */
export function chooseFile(
  files: OfferedFiles,
  link: ScopeLink,
  constraint: FileConstraint,
): (ScopeFile & { file: VersionRef }) | null {
  const chosen = choose(files, link, constraint);
  return chosen && { ...link, file: chosen.file, isFallback: chosen.isFallback };
}

function choose(
  { parameters, closed }: OfferedFiles,
  link: ScopeLink,
  { configurationVersion, prereleaseChannel }: FileConstraint,
): Choice['chosen'] {
  if (parameters === null) return null;
  const { scopeTypeName, scopeValue, owner } = link;
  const { published: all } = parameters.of(seriesOf({ scopeType: scopeTypeName, value: scopeValue }));
  const open = closed.length === 0 ? all : openAmong(all, link, closed);
  const published = owner ? ownedBy(open, owner) : open;
  if (published.length === 0) return null;
  const known = choices.get(published) ?? [];
  for (const choice of known) {
    if (
      choice.configurationVersion === configurationVersion &&
      choice.prereleaseChannel === prereleaseChannel
    )
      return choice.chosen;
  }
  const chosen = chooseParameterFile(published, { configurationVersion, prereleaseChannel });
  if (known.length === MAX_CHOICES) known.length = 0;
  known.push({ configurationVersion, prereleaseChannel, chosen });
  choices.set(published, known);
  return chosen;
}

/** The files of a version, without a file or folder that is at the place of the merged parameters. */
export function besideParameters<T extends { path: string }>(files: readonly T[]): readonly T[] {
  const isInPlace = ({ path }: T) => takesParametersPlace(path);
  return files.some(isInPlace) ? files.filter((file) => !isInPlace(file)) : files;
}

/** The result of a merge. A failure is kept too, because it costs as much, and the same documents fail again. */
type MergeOutcome = { merged: MergedParameters } | { failure: HawserError };

/** The content of files, null for passthroughs, and how they merge. */
interface GivenDocuments {
  all: readonly (DocumentSource | null)[];
  way: MergeWay;
}

/** A text for each way, which is remembered as long as its plan is; nothing for the plain one. */
const keysOfWays = new WeakMap<MergeWay, string>([[PLAIN_WAY, '']]);

function keyOfWay(way: MergeWay): string {
  const known = keysOfWays.get(way) ?? ` ${JSON.stringify(way)}`;
  keysOfWays.set(way, known);
  return known;
}

export class ParameterReader {
  private readonly store: VersionSource;
  private readonly documents: DocumentRunner;
  private readonly places: SeriesPlaces;
  /**
   * Documents by the ref's object id, whose content never changes, as they are stored. Null means that the scope is skipped on
   * purpose.
   */
  private readonly sources: CountedCache<{ source: DocumentSource | null }>;
  private readonly reading = new Map<string, Promise<DocumentSource | null>>();
  private readonly outcomes: CountedCache<MergeOutcome>;
  private readonly merging = new Map<string, Promise<MergedParameters | null>>();

  private readonly onMerged: (milliseconds: number) => void;

  /**
   * @param onMerged is told how long each merge took that was not in memory
   * @param cacheBytes memory for documents, and for merged ones
   */
  constructor(
    store: VersionSource,
    { documents, places }: OpeningTools,
    onMerged: (milliseconds: number) => void = () => undefined,
    cacheBytes = { documents: CACHE_BYTES, merged: CACHE_BYTES },
  ) {
    this.store = store;
    this.documents = documents;
    this.places = places;
    this.onMerged = onMerged;
    this.sources = new CountedCache({
      maxSize: cacheBytes.documents,
      sizeCalculation: ({ source }) => (source?.bytes.byteLength ?? 0) + 200,
    });
    this.outcomes = new CountedCache({
      maxSize: cacheBytes.merged,
      sizeCalculation: (outcome) => ('merged' in outcome ? outcome.merged.bytes.length : 1_000) + 200,
    });
  }

  /** The facts of the caches by their names. */
  get caches(): Record<'parameter_documents' | 'merged_parameters', CacheFacts> {
    return { parameter_documents: this.sources.facts, merged_parameters: this.outcomes.facts };
  }

  /** That of the keys of secrets. */
  get generation(): number {
    return this.documents.keys.generation;
  }

  /** The index of the parameter files. It is empty if the configuration has none. */
  index(configurationName: string): Promise<SeriesIndex> {
    return this.store.parameters.index(configurationName);
  }

  /**
   * The content of a version, with its secrets to be opened at its place; null for a passthrough.
   * @throws HawserError `repository_damaged` if objects cannot be read, so that no answer is ever incomplete
   */
  source(configurationName: string, ref: VersionRef): Awaitable<DocumentSource | null> {
    return andThen(this.stored(configurationName, ref), (source) => {
      if (!source?.maySeal) return source;
      return andThen(this.places.of(configurationName, ref.series), (place) => this.opened(source, place));
    });
  }

  /** A document with its secrets to be opened at this place. */
  opened(source: DocumentSource, place: SeriesPlace): DocumentSource {
    return openedAt(source, place, this.documents.keys.generation);
  }

  /** Where the secrets of the files of a scope open, by the name that `seriesOf` gives. */
  placeOf(configurationName: string, series: string): Awaitable<SeriesPlace> {
    return this.places.of(configurationName, series);
  }

  /** The content of a version as it is stored. @throws HawserError as `source` */
  stored(configurationName: string, ref: VersionRef): Awaitable<DocumentSource | null> {
    const cached = this.sources.get(ref.oid);
    if (cached) return cached.source;
    // After a publish for many nodes, all of them ask at the same time.
    return singleFlight(this.reading, `${configurationName} ${ref.oid}`, () =>
      this.read(configurationName, ref),
    );
  }

  /**
   * Merges these versions.
   * @param refs come in the order of merging, lowest precedence first
   * @param way how they merge
   * @returns null if none of them has content
   * @throws HawserError conflict `parameter_merge_failed`, `unknown_variable`, `repository_damaged`; always as a rejected promise
   */
  merge(
    configurationName: string,
    refs: readonly VersionRef[],
    way: MergeWay,
  ): Awaitable<MergedParameters | null> {
    const start = performance.now();
    const sources = allOf(refs.map((ref) => this.source(configurationName, ref)));
    return andThen(sources, (all) => this.mergeSources(configurationName, { all, way }, start));
  }

  private mergeSources(
    configurationName: string,
    given: GivenDocuments,
    start: number,
  ): Awaitable<MergedParameters | null> {
    // The keys name the places of secrets, which are opened for these alone.
    const keys = given.all.map((source) => source?.key).join(' ');
    const key = `${configurationName} ${keys}${keyOfWay(given.way)}`;
    const known = this.outcomes.get(key);
    if (known) return 'merged' in known ? known.merged : Promise.reject(known.failure);
    const make = () => this.mergeDocuments(configurationName, given);
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
    return singleFlight(this.merging, key, () => thenOrElse(make, done, failed));
  }

  private mergeDocuments(
    configurationName: string,
    { all, way }: GivenDocuments,
  ): Awaitable<MergedParameters | null> {
    const documents = all.filter((source) => source !== null);
    if (documents.length === 0) return null;
    const caller = `server ${configurationName}`;
    return andThen(this.documents.run(caller, 'mergeDocuments', { documents, way }), toMergedParameters);
  }

  private async read(configurationName: string, ref: VersionRef): Promise<DocumentSource | null> {
    const { contentType, oid } = await this.store.parameters.details(configurationName, ref);
    const content = await this.store.parameters.content(configurationName, ref);
    // By the id of the file, what was read of a draft that was judged is there for the version that it has become.
    const source = content && storedSource(oid ?? ref.oid, content, contentType ?? 'yaml');
    this.sources.set(ref.oid, { source });
    return source;
  }
}

/** A thread gives bytes as a Uint8Array, not as a Buffer. */
function toMergedParameters({ bytes, ...merged }: MergedDocuments): MergedParameters {
  return { ...merged, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
}

/** Whether the content of the documents is at fault, so that the same documents would fail again. */
function isLasting(error: unknown): error is HawserError {
  if (!(error instanceof HawserError)) return false;
  return (
    ['parameter_merge_failed', 'unknown_variable', 'secret_unreadable'].includes(error.code) ||
    isUnreadable(error)
  );
}

function isUnreadable({ code, cause }: HawserError): boolean {
  return code === 'repository_damaged' && cause instanceof HawserError && cause.kind === 'invalid';
}
