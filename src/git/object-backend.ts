/** Where the objects of repositories are kept: in folders, as stock git has them, or in PostgreSQL. */

import type { ObjectContent, StreamedObject, WrappedObject } from './loose-objects.ts';

export interface ReadContent extends ObjectContent {
  /** Whether the hash of the content has been compared with the object's id. */
  isProven: boolean;
}

/** A repository is named by its folder, whether its objects are in it or not. */
export interface ObjectBackend {
  /** @throws HawserError `repository_damaged` when the object is missing or broken; `repository_missing` */
  read(gitdir: string, oid: string): Promise<ReadContent>;
  /** Writes an object, unless the repository holds an unbroken one of its id. From now on it is needed. */
  writeIfAbsent(gitdir: string, object: WrappedObject): Promise<void>;
  /** Writes an object that is hardly there already. */
  write(gitdir: string, object: WrappedObject): Promise<void>;
  /**
   * Writes a large object, which is in memory in pieces alone.
   * @throws HawserError `repository_damaged` where its bytes are not those that its id says; nothing is written then
   */
  writeStream(gitdir: string, object: StreamedObject): Promise<void>;
}
