/** Opens the place of the repositories, and what reads and writes their objects. */

import type { AtomicFs } from '../git/atomic-fs.ts';
import { FolderObjects } from '../git/folder-objects.ts';
import type { PackCaches } from '../git/object-caches.ts';
import { ObjectStore } from '../git/objects.ts';
import { SharedRepositories } from '../git/shared-repositories.ts';
import { TableObjects } from '../git/table-objects.ts';
import { type FolderTools, RepositoryFolders } from './repository-folders.ts';
import type { RepositoryPlace } from './repository-place.ts';
import { RepositoryTables } from './repository-tables.ts';
import type { GitStoreOptions } from './types.ts';

export interface PlaceOptions extends FolderTools, Pick<GitStoreOptions, 'shared'> {
  root: string;
  fs: AtomicFs;
  packs: PackCaches;
}

export interface OpenPlace {
  place: RepositoryPlace;
  objects: ObjectStore;
}

export function openPlace({ root, packs, shared, ...tools }: PlaceOptions): OpenPlace {
  const { fs } = tools;
  if (!shared)
    return {
      place: new RepositoryFolders(root, tools),
      objects: new ObjectStore(new FolderObjects(fs, packs)),
    };
  const repositories = new SharedRepositories({ root, ...shared });
  const caching = { cache: fs, root };
  return {
    place: new RepositoryTables(repositories, caching),
    objects: new ObjectStore(new TableObjects(repositories, caching)),
  };
}
