/** Reads parameter files and uploaded schemas: versions that consist of one file, or of none. */

import type { BlobInfos } from '../git/object-caches.ts';
import type { BlobInfo, RepositoryRef } from '../git/types.ts';
import type { CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import { HawserError } from '../lib/errors.ts';
import { sha256Hex } from '../lib/hash.ts';
import { KINDS, SCHEMA_SERIES } from './kinds.ts';
import type { RepositoryIndex, SeriesLists } from './repository-index.ts';
import type { ParameterScope } from './scope-names.ts';
import type {
  DraftContent,
  RolloutRef,
  SeriesIndex,
  VersionDetails,
  VersionIndex,
  VersionRef,
} from './types.ts';

export type { ParameterScope };

export type ParameterContentType = 'yaml' | 'json';

export interface ParameterDetails extends Omit<VersionDetails, 'entryPoint' | 'files'>, BlobInfo {
  /** Null for a scope that is skipped on purpose. It has no content: its size is 0, its hash that of nothing. */
  contentType: ParameterContentType | null;
  /** The id of the content's blob. */
  oid: string | null;
}

/** What is read from the store. */
interface Source {
  index(ref: RepositoryRef): Promise<RepositoryIndex>;
  /** The versions of a configuration. */
  versions(ref: RepositoryRef): Promise<Pick<VersionIndex, 'rollouts'>>;
  details(ref: RepositoryRef, version: VersionRef): Promise<VersionDetails>;
  blob(ref: RepositoryRef, oid: string): Promise<Buffer>;
}

const NOTHING = { size: 0, sha256: sha256Hex(Buffer.alloc(0)) };

/** The methods take the name of the configuration whose parameters they read. */
export class ParameterFiles {
  private readonly source: Source;
  private readonly blobInfos: BlobInfos;
  private readonly contents: CountedCache<Buffer>;
  /** The rollouts of a configuration by the tags of their files. */
  private readonly rolled = new WeakMap<readonly RolloutRef[], ReadonlyMap<string, RolloutRef>>();

  constructor(source: Source, blobInfos: BlobInfos, contents: CountedCache<Buffer>) {
    this.source = source;
    this.blobInfos = blobInfos;
    this.contents = contents;
  }

  /** What is kept of the contents. */
  get facts(): CacheFacts {
    return this.contents.facts;
  }

  /** The versions of all scopes and schemas as they are now. Empty where there is no repository, which is no error. */
  async index(name: string): Promise<SeriesLists> {
    return (await this.source.index(refOf(name))).snapshot;
  }

  /** @throws HawserError `repository_damaged` when an object is missing or broken */
  async details(name: string, ref: VersionRef): Promise<ParameterDetails> {
    const described = await this.describe(name, await this.source.details(refOf(name), ref));
    return { ...described, rollout: await this.rolloutOf(name, ref) };
  }

  /** Of parameters that lie there without their configuration none is known. */
  private async rolloutsOf(name: string): Promise<readonly RolloutRef[]> {
    try {
      return (await this.source.versions({ kind: 'configurations', name })).rollouts;
    } catch (error) {
      if (error instanceof HawserError && error.code === 'repository_missing') return [];
      throw error;
    }
  }

  /** The last rollout of the file that has begun, which is one of its configuration. */
  private async rolloutOf(name: string, { oid, status }: VersionRef): Promise<RolloutRef | null> {
    if (status === 'Draft') return null;
    const rollouts = await this.rolloutsOf(name);
    let known = this.rolled.get(rollouts);
    if (known === undefined) {
      const oldestFirst = [...rollouts].sort((a, b) => (a.record.createdAt < b.record.createdAt ? -1 : 1));
      const entries = oldestFirst.flatMap((rollout) =>
        rollout.record.parameters.map(({ tag }) => [tag, rollout] as const),
      );
      known = new Map(entries);
      this.rolled.set(rollouts, known);
    }
    return known.get(oid) ?? null;
  }

  /** The details of a version that has just been written or read. */
  async describe(name: string, version: VersionDetails): Promise<ParameterDetails> {
    const { entryPoint: _none, files, ...details } = version;
    const [file] = files;
    const info = file ? await this.blobInfos.of(file.oid, () => this.blob(name, file.oid)) : NOTHING;
    const contentType = file ? contentTypeOf(file.path) : null;
    return { ...details, ...info, contentType, oid: file?.oid ?? null };
  }

  /** The bytes of a file, which must not be changed. Null where a scope is skipped. */
  async content(name: string, ref: VersionRef): Promise<Buffer | null> {
    const { files } = await this.source.details(refOf(name), ref);
    return files[0] ? this.blob(name, files[0].oid) : null;
  }

  private async blob(name: string, oid: string): Promise<Buffer> {
    const known = this.contents.get(oid);
    if (known) return known;
    const content = await this.source.blob(refOf(name), oid);
    this.contents.set(oid, content);
    return content;
  }
}

/** The scopes that have any version, of one scope type or of all, in no order. */
export function scopesIn(index: SeriesIndex, scopeType?: string): ParameterScope[] {
  const scopes = index.series.filter((series) => series !== SCHEMA_SERIES).map(scopeOf);
  return scopeType === undefined ? scopes : scopes.filter((scope) => scope.scopeType === scopeType);
}

/** The name of the series of a scope's versions. */
export function seriesOf({ scopeType, value }: ParameterScope): string {
  return value === null ? scopeType : `${scopeType}/${value}`;
}

export function scopeOf(series: string): ParameterScope {
  const [scopeType = '', value = null] = series.split('/');
  return { scopeType, value };
}

/** The content of a parameter file or schema as that of a version. Null skips the scope on purpose. */
export function contentOf(
  series: string,
  content: { type: ParameterContentType; bytes: Uint8Array } | null,
): DraftContent {
  const path = KINDS.parameters.paths(series)?.find((each) => contentTypeOf(each) === content?.type);
  const files = content && path !== undefined ? [{ path, content: content.bytes }] : [];
  return { entryPoint: null, files, isPassthrough: content === null };
}

function contentTypeOf(path: string): ParameterContentType {
  return path.endsWith('.json') ? 'json' : 'yaml';
}

function refOf(name: string): RepositoryRef {
  return { kind: 'parameters', name };
}
