/**
 * The same calls for the versions of every kind of repository. A series is an ordered list of versions. A configuration
 * or composite has only the series ''. Parameters have `Default`, one series for each value of a scope type
 * (`Environment/prod`), and `schema` for uploaded schemas. Every call of the two stores' locked writers is in this file.
 */

import type {
  DraftChange,
  DraftContent,
  DraftInput,
  GitStore,
  LockedParameters,
  LockedRepository,
  ParameterContent,
  ParameterDetails,
  ParameterIndex,
  ParameterScope,
  ParameterVersionRef,
  Person,
  RepositoryKind,
  RepositoryRef,
  SchemaUpload,
  VersionDetails,
  VersionIndex,
  VersionRef,
} from '../git/store.ts';

export const ONLY_SERIES = '';
export const SCHEMA_SERIES = 'schema';

export function seriesOf({ scopeType, value }: ParameterScope): string {
  return value === null ? scopeType : `${scopeType}/${value}`;
}

/** The scope of a series of parameter files. Names of scope types have no slash. */
export function scopeOf(series: string): ParameterScope {
  const end = series.indexOf('/');
  if (end < 0) return { scopeType: series, value: null };
  return { scopeType: series.slice(0, end), value: series.slice(end + 1) };
}

/** The content of a version, by the kind of its repository. */
export interface ContentOf {
  configurations: Pick<DraftContent, 'entryPoint' | 'files'>;
  composites: Pick<DraftContent, 'entryPoint' | 'files'>;
  parameters: { content: ParameterContent };
}

/** What is known of a version, by the kind of its repository. */
export interface DetailsOf {
  configurations: VersionDetails;
  composites: VersionDetails;
  parameters: ParameterDetails;
}

/** The versions of a repository. */
export interface SeriesIndex {
  /** The series that have versions, without that of schemas. */
  series(): string[];
  index(series: string): VersionIndex;
}

/** Who writes, when, and a signal that is aborted when the caller has gone. */
interface Writing {
  author: Person;
  at: number;
  gone?: AbortSignal;
}

/** A repository whose lock is held. Its index follows each write. */
export interface SeriesWriter<K extends RepositoryKind> extends SeriesIndex {
  writeDraft(series: string, version: string, draft: ContentOf[K] & Writing): Promise<DetailsOf[K]>;
  /** Gives a draft other content. Its author and the time of its making stay. */
  replaceDraft(series: string, version: string, draft: ContentOf[K] & Writing): Promise<DetailsOf[K]>;
  publish(series: string, version: string, tagger: Person, at: number): Promise<DetailsOf[K]>;
  deleteDraft(series: string, version: string): Promise<void>;
  /** Removes versions and the history through them. Some may be gone though it throws. */
  deleteVersions(versions: readonly SeriesVersion[]): Promise<void>;
  /** Keeps a version that is published at once, in place of an earlier one of its name. */
  putPublished(series: string, upload: SchemaUpload): Promise<DetailsOf[K]>;
}

export interface SeriesVersion {
  series: string;
  ref: VersionRef;
}

export async function readSeries(store: GitStore, ref: RepositoryRef): Promise<SeriesIndex> {
  if (ref.kind === 'parameters') return parameterIndex(await store.parameters.index(ref.name));
  const index = await store.index(ref);
  return { series: () => [ONLY_SERIES], index: () => index };
}

export function readDetails(
  store: GitStore,
  ref: RepositoryRef,
  version: VersionRef,
): Promise<VersionDetails | ParameterDetails> {
  return ref.kind === 'parameters'
    ? store.parameters.details(ref.name, version as ParameterVersionRef)
    : store.details(ref, version);
}

/** Runs `work` alone in the repository. Must not be nested. */
export function lockSeries<K extends RepositoryKind, T>(
  store: GitStore,
  ref: RepositoryRef & { kind: K },
  work: (writer: SeriesWriter<K>) => Promise<T>,
): Promise<T> {
  const run = (writer: unknown) => work(writer as SeriesWriter<K>);
  return ref.kind === 'parameters'
    ? store.parameters.exclusive(ref.name, (locked) => run(parameterWriter(locked)))
    : store.exclusive(ref, (locked) => run(versionWriter(locked)));
}

function parameterIndex(index: ParameterIndex): SeriesIndex {
  const schemas = (): VersionIndex => {
    const versions = index.schemas();
    return { versions, published: versions, get: (wanted) => versions.find((ref) => ref.version === wanted) };
  };
  return {
    series: () => index.scopes().map(seriesOf),
    index(series) {
      if (series === SCHEMA_SERIES) return schemas();
      const scope = scopeOf(series);
      const [versions, published] = [index.versions(scope), index.published(scope)];
      return { versions, published, get: (version) => index.get(scope, version) };
    },
  };
}

function parameterWriter(locked: LockedParameters): SeriesWriter<'parameters'> {
  const write = async (series: string, version: string, draft: ContentOf['parameters'] & Writing) =>
    (await locked.writeDraft(scopeOf(series), { version, ...draft })).details;
  return {
    series: () => parameterIndex(locked.index).series(),
    index: (series) => parameterIndex(locked.index).index(series),
    writeDraft: write,
    replaceDraft: write,
    publish: (series, version, tagger, at) => locked.publish(scopeOf(series), version, tagger, at),
    deleteDraft: (series, version) => locked.deleteDraft(scopeOf(series), version),
    deleteVersions: (versions) =>
      locked.deleteVersions(versions.map(({ ref }) => ref as ParameterVersionRef)),
    putPublished: (_series, upload) => locked.putSchema(upload),
  };
}

function versionWriter(locked: LockedRepository): Omit<SeriesWriter<'configurations'>, 'putPublished'> {
  return {
    series: () => [ONLY_SERIES],
    index: () => locked.index,
    writeDraft: (_series, version, draft) => locked.writeDraft({ version, ...draft } satisfies DraftInput),
    replaceDraft: (_series, version, { author: committer, ...draft }) =>
      locked.replaceDraft(version, { ...draft, committer } satisfies DraftChange),
    publish: (_series, version, tagger, at) => locked.publish(version, tagger, at),
    deleteDraft: (_series, version) => locked.deleteDraft(version),
    deleteVersions: (versions) => locked.deletePublished(versions.map(({ ref }) => ref.version)),
  };
}
