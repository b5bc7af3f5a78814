/** Repositories in PostgreSQL: what is asked of their tables. Object ids are 40 hexadecimal digits. */

import type { Db, RepositoryRemovalsTable } from './schema.ts';

/** Which repository a configuration, a composite or a set of parameters has, or the one of the change sets. */
export interface RepositoryName {
  kind: RepositoryRemovalsTable['kind'] | 'changes';
  name: string;
}

export interface StoredRepository extends RepositoryName {
  id: string;
  /** What the repository remembers of its row in the registry, as it was given at its creation. */
  settings: object | null;
  /** The commits at which history ends. */
  shallow: readonly string[];
  /** Changes at random with every change of the refs, so that a database restored to an older moment is noticed too. */
  state: string;
}

/** The refs of a repository at one moment: object ids by full names. */
export interface StoredRefs {
  repository: StoredRepository;
  refs: Map<string, string>;
}

/** PostgreSQL gives many objects of up to so many bytes in one query, sooner than each is found in a file. */
export const SMALL_OBJECT = 32 * 1024;

export interface StoredObject {
  oid: string;
  type: string;
  /** The bytes of the content. */
  size: number;
  /** What the file of a loose object holds: the header and the content, deflated. */
  deflated: readonly Buffer[];
}

/** An object whose deflated bytes come in pieces, only once. */
export type ComingObject = Omit<StoredObject, 'deflated'> & { deflated: AsyncIterable<Buffer> };

/** The value of a ref before and after a move; null where it does not exist. */
export interface MovedRef {
  name: string;
  from: string | null;
  to: string | null;
}

/** A change of a repository's refs, as the feed tells it. */
export interface RefsChange extends RepositoryName {
  /** The state before and after; null where there is no repository. */
  before: string | null;
  after: string | null;
  /** Null if they are too many to be told. */
  moves: readonly MovedRef[] | null;
}

/** Moves of refs that belong together. */
export interface RefsMove extends RefsChange {
  /** The id of the repository. */
  id: string;
  before: string;
  after: string;
  moves: readonly MovedRef[];
  /** The commits at which history ends from now on; null leaves them as they are. */
  shallow: readonly string[] | null;
}

/** Reads what was committed before the call. Each throws HawserError unavailable while PostgreSQL is away. */
export interface GitReader {
  find(name: RepositoryName): Promise<StoredRepository | undefined>;
  /** All repositories that are there, by kind and name. */
  list(): Promise<StoredRepository[]>;
  refs(name: RepositoryName): Promise<StoredRefs | undefined>;
  readObject(repositoryId: string, oid: string): Promise<StoredObject | null>;
  /** Those of these objects that are there, in groups of some MiB, or of one object that is larger. */
  readObjects(repositoryId: string, oids: readonly string[]): AsyncIterable<readonly StoredObject[]>;
  /** The types of all objects of a repository, by their ids. */
  objectTypes(repositoryId: string): Promise<Map<string, string>>;
}

export interface GitTables extends GitReader {
  /**
   * Writes an object that may be there already, and marks it as needed from now on. It is acknowledged by the commit of
   * the refs that lead to it, which flushes it too.
   */
  writeObject(repositoryId: string, object: StoredObject): Promise<void>;
  /** Does the same with a large object that comes in pieces. What it throws while it comes undoes the write. */
  writeStream(repositoryId: string, object: ComingObject): Promise<void>;
  /** Carries out work in a transaction that takes its turn in the feed. */
  transaction(work: (trx: Db) => Promise<void>): Promise<void>;
  /** Makes a repository without refs. @throws the driver's error if there is one of this name */
  create(trx: Db, repository: StoredRepository): Promise<void>;
  /**
   * Moves refs and tells the feed of it. Each one has the value that its move begins at, if the repository has the state
   * `before`.
   * @returns false, with nothing changed, if it has another state
   */
  moveRefs(trx: Db, change: RefsMove): Promise<boolean>;
  /** Takes a repository away for all who look. Its objects are removed later, in slices. */
  remove(trx: Db, name: RepositoryName): Promise<void>;
  /**
   * The repositories that may hold objects to which no ref leads, because refs were removed or moved away. Each is named
   * once a day, until a day after the last of these.
   */
  prunable(): Promise<StoredRepository[]>;
  /** Deletes those of these objects that are older than a day, to which no ref leads, and notes that it was done. */
  prune(repositoryId: string, oids: readonly string[]): Promise<void>;
  /** Deletes the objects of removed repositories, an hour after their removal. */
  pruneRemoved(): Promise<void>;
}
