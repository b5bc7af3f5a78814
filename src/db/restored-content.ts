/** What a restore gives to a database that holds all of an archive. */

import type { RepositoryName, StoredObject, StoredRepository } from './git-tables.ts';
import type { SecretName } from './secrets.ts';

/** A repository of an archive. */
export interface RestoredRepository extends RepositoryName, Pick<StoredRepository, 'settings' | 'shallow'> {
  /** Object ids by full names. */
  refs: ReadonlyMap<string, string>;
  objects: AsyncIterable<StoredObject>;
}

export interface RestoredContent {
  /** `hawser.db` in a folder of its own. It is brought to this release first, and deleted in the end. */
  file: string;
  repositories: AsyncIterable<RestoredRepository>;
  secrets: ReadonlyMap<SecretName, Buffer>;
}
