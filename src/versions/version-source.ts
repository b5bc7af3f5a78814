/** What answers "what does a node get?" reads of versions: those that are stored, or those that somebody proposes. */

import type { BlobInfo, RepositoryKind, RepositoryRef, StoredFile } from '../git/types.ts';
import type { ParameterDetails } from './parameter-files.ts';
import type { SeriesLists } from './repository-index.ts';
import type { SortedVersions } from './sorted-versions.ts';
import type { VersionDetails, VersionRef } from './types.ts';

/** The reading side of the store. `GitStore` says what its methods throw. */
export interface VersionSource {
  readonly parameters: ParameterSource;
  /** The names of the repositories, sorted. */
  list(kind: RepositoryKind): Promise<string[]>;
  has(ref: RepositoryRef): Promise<boolean>;
  /** The versions of a configuration or composite. */
  versions(ref: RepositoryRef): Promise<SortedVersions>;
  details(ref: RepositoryRef, version: VersionRef): Promise<VersionDetails>;
  blob(ref: RepositoryRef, oid: string): Promise<Buffer>;
  fileInfos(ref: RepositoryRef, files: readonly Pick<StoredFile, 'oid'>[]): Promise<BlobInfo[]>;
}

/** The reading side of the parameter files and schemas. The methods take the name of the configuration. */
export interface ParameterSource {
  /** As it is when it is asked for. */
  index(name: string): Promise<SeriesLists>;
  details(name: string, ref: VersionRef): Promise<ParameterDetails>;
  content(name: string, ref: VersionRef): Promise<Buffer | null>;
}
