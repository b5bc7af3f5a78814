/** What the store of repositories speaks in. Times are milliseconds since the epoch, object ids 40 hex digits. */

import type { Locks } from '../lib/locks.ts';
import type { Log } from '../lib/log.ts';
import type { AtomicFs } from './atomic-fs.ts';
import type { OnOperation } from './operations.ts';
import type { VersionIndex, VersionRef } from './version-index.ts';

export type { VersionIndex, VersionRef } from './version-index.ts';

export const REPOSITORY_KINDS = ['configurations', 'composites', 'parameters'] as const;
export type RepositoryKind = (typeof REPOSITORY_KINDS)[number];

export interface RepositoryRef {
  kind: RepositoryKind;
  name: string;
}

export interface Person {
  name: string;
  email: string;
}

/** A file to be stored; the path is relative, `/`-separated and already in NFC. */
export interface FileContent {
  path: string;
  content: Uint8Array;
}

export interface StoredFile {
  path: string;
  /** The id of its blob. */
  oid: string;
}

export interface DraftContent {
  entryPoint: string;
  files: readonly FileContent[];
  /** Aborted when whoever asked has gone: nothing is written from then on, and no ref is moved. */
  gone?: AbortSignal;
}

export interface DraftInput extends DraftContent {
  version: string;
  author: Person;
  at: number;
}

/** New content for a draft, whose author and time of making stay. */
export interface DraftChange extends DraftContent {
  committer: Person;
  at: number;
}

export interface BlobInfo {
  size: number;
  /** Hex. */
  sha256: string;
}

/** A ref that is no version, or whose objects cannot be read. */
export interface RepositoryProblem {
  repository: RepositoryRef;
  /** The ref's full name, `blob <oid>`, or empty for the whole repository. */
  ref: string;
  /** `repository_missing`, `repository_damaged`, or in words why the ref is no version. */
  reason: string;
}

export interface VersionDetails {
  version: string;
  status: VersionRef['status'];
  commit: string;
  entryPoint: string;
  /** Sorted by the bytes of their paths. */
  files: readonly StoredFile[];
  createdAt: number;
  createdBy: string;
  publishedAt: number | null;
  publishedBy: string | null;
}

/** What a repository remembers of its row, so that it can be adopted when the row is lost. */
export interface RepositorySettings {
  id: string;
  description: string | null;
  /** The id of the user. */
  createdBy: string;
  useServerManagedParameters: boolean;
  /** Of a composite; configurations have one per version. */
  entryPoint: string | null;
  createdAt: number;
}

/**
 * A repository while its lock is held; refuses to work once the lock is given back. What its holder moves stands only
 * when the holder's work comes to its end: after a failure the refs go back, and drafts and versions are as before,
 * but for published ones that it has deleted.
 */
export interface LockedRepository {
  /** As on the disk when the lock was taken, and after each write of this holder. */
  readonly index: VersionIndex;
  writeDraft(draft: DraftInput): Promise<VersionDetails>;
  /** Gives a draft other content. Not found, or conflict `published_version`. */
  replaceDraft(version: string, change: DraftChange): Promise<VersionDetails>;
  publish(version: string, tagger: Person, at: number): Promise<VersionDetails>;
  deleteDraft(version: string): Promise<void>;
  /**
   * Removes published versions, and the history that leads through them from what is kept: kept commits keep their
   * ids, and `git log` of them ends where a removed version would follow. Not found; conflict `in_use` for the
   * highest stable version, where `main` stands, and `versions_changed`.
   */
  deletePublished(versions: readonly string[]): Promise<void>;
}

export interface GitStoreOptions {
  root: string;
  log: Log;
  /** Bytes of memory for packs, details of versions and facts of blobs together. */
  cacheBytes: number;
  /**
   * Called after every change of refs, from here or from outside; what it rejects with is tried again.
   * @param isAwaited whether a write waits for it; false: a reader may, who must not wait for another process
   */
  onRefsMoved: (repository: RepositoryRef, isAwaited: boolean) => Promise<void>;
  /** Called before a lock is taken, and before refs are moved under it; rejects where that could not be told of. */
  beforeWrite?: () => Promise<void>;
  onOperation?: OnOperation;
  fs?: AtomicFs;
  /** Held for each repository that is written to; of this process alone where none are given. */
  locks?: Locks;
  /** Epoch milliseconds: when the last process ended that may have left locks in files; default: this one's start. */
  leftBefore?: () => number;
}
