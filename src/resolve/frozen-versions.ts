/** Versions as they were when they were first looked at. What a repository lists does not change while others move refs. */

import type { BlobInfo, RepositoryKind, RepositoryRef, StoredFile } from '../git/types.ts';
import type { SeriesLists } from '../versions/repository-index.ts';
import type { SortedVersions } from '../versions/sorted-versions.ts';
import type { VersionDetails, VersionRef } from '../versions/types.ts';
import type { ParameterSource, VersionSource } from '../versions/version-source.ts';

export class FrozenVersions implements VersionSource {
  readonly parameters: ParameterSource;
  private readonly stored: VersionSource;
  private readonly lists = new Map<string, Promise<SortedVersions>>();
  private readonly indexes = new Map<string, Promise<SeriesLists>>();

  constructor(stored: VersionSource) {
    this.stored = stored;
    const { parameters } = stored;
    this.parameters = {
      index: (name) => once(this.indexes, `parameters/${name}`, () => parameters.index(name)),
      details: (name, ref) => parameters.details(name, ref),
      content: (name, ref) => parameters.content(name, ref),
    };
  }

  /** The repositories whose versions were looked at, as `<kind>/<name>`. */
  get looks(): string[] {
    return [...this.lists.keys(), ...this.indexes.keys()];
  }

  list(kind: RepositoryKind): Promise<string[]> {
    return this.stored.list(kind);
  }

  has(ref: RepositoryRef): Promise<boolean> {
    return this.stored.has(ref);
  }

  versions(ref: RepositoryRef): Promise<SortedVersions> {
    return once(this.lists, `${ref.kind}/${ref.name}`, () => this.stored.versions(ref));
  }

  details(ref: RepositoryRef, version: VersionRef): Promise<VersionDetails> {
    return this.stored.details(ref, version);
  }

  blob(ref: RepositoryRef, oid: string): Promise<Buffer> {
    return this.stored.blob(ref, oid);
  }

  fileInfos(ref: RepositoryRef, files: readonly Pick<StoredFile, 'oid'>[]): Promise<BlobInfo[]> {
    return this.stored.fileInfos(ref, files);
  }
}

function once<V>(known: Map<string, Promise<V>>, key: string, make: () => Promise<V>): Promise<V> {
  const begun = known.get(key) ?? make();
  known.set(key, begun);
  return begun;
}
