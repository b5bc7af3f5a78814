/**
 * The terms of the version engine. Times are milliseconds since the epoch, object ids are 40 hexadecimal digits.
 *
 * A repository holds one or more series of versions. The repository of a configuration or a composite has one
 * series, `''`. The repository of a configuration's parameters has a series for each scope, such as `Default` or
 * `Environment/prod`, and the series `schema` for uploaded schemas.
 */

import type { Db } from '../db/database.ts';
import type { GitReader, GitTables } from '../db/git-tables.ts';
import type { AtomicFs } from '../git/atomic-fs.ts';
import type { Signature } from '../git/commits.ts';
import type { GivenObject } from '../git/objects.ts';
import type { OnOperation } from '../git/operations.ts';
import type { SignatureKind } from '../git/signature-kinds.ts';
import type {
  CommittedFiles,
  FileContent,
  Person,
  RepositoryRef,
  StoredFile,
  StoredRef,
} from '../git/types.ts';
import type { Locks } from '../lib/locks.ts';
import type { Log } from '../lib/log.ts';
import type { Admit } from './admit.ts';
import type { PlannedEntry } from './planned-entry.ts';
import type {
  LooseRollouts,
  NamedTag,
  PublishedRollout,
  RolloutMove,
  RolloutRef,
  WrittenTag,
} from './rollout-types.ts';
import type { ParameterScope, ScopeNames } from './scope-names.ts';

export type * from './planned-entry.ts';
export type * from './rollout-types.ts';
/** The only series of a configuration or a composite. */
export const ONLY_SERIES = '';

/** What the tag says by which a published version is withdrawn, so that it is offered to nobody any more. */
export interface Withdrawal {
  /** The id of the annotated tag `withdrawn/v<version>`. */
  tag: string;
  /** Epoch milliseconds, in whole seconds. */
  at: number;
  /** The name of the tagger. */
  by: string;
  /** The message of the tag, without a signature. */
  reason: string;
}

/** What the server knows of a version that came by push. Times are those of the server. */
export interface PushRecord {
  createdAt: number;
  creator: Person;
  /** Who pushed it last. */
  pusher: Person;
  pushedAt: number;
  /** For which node a file of scope Node was pushed as published. Absent for all else. */
  nodeId?: string | undefined;
  /** The tag that was pushed with a draft, and that publishing it places as it is. Absent for all else. */
  tag?: string | undefined;
}

export interface VersionRef {
  /** The full name of the branch or tag. */
  name: string;
  series: string;
  version: string;
  status: 'Draft' | 'Published';
  /** The id of a draft's commit, or of a published version's annotated tag. */
  oid: string;
  /** Null while the objects cannot be read. The version is listed all the same, and reading its details fails. */
  commit: string | null;
  /** Null for a draft, and for a published version that is offered. */
  withdrawn: Withdrawal | null;
  /** To whom a published version is open; null where it is open to all, as most are. */
  rollout: RolloutRef | null;
  /** Who pushed it. Absent where the version did not come by push. */
  pushed?: PushRecord | undefined;
  /** For which node a file of scope Node was published. Absent where its tag does not say so, and for all else. */
  nodeId?: string | undefined;
  /** Set only for a version that is no SemVer. Such versions are ordered by their age. */
  createdAt?: number;
}

/** The versions of one series. It never changes: after a change the series has another index. */
export interface VersionIndex {
  /**
   * All versions, highest first: drafts and published ones, withdrawn ones too. The array is the same object for as long
   * as nothing in the series changes.
   */
  readonly versions: readonly VersionRef[];
  /**
   * The versions that are offered, highest first: they are published and not withdrawn. Whatever chooses a version
   * chooses among these. A withdrawn version is had by its name alone, with `get`.
   */
  readonly published: readonly VersionRef[];
  /** All rollouts that have begun: those of versions, and those of parameter files alone. In no order. */
  readonly rollouts: readonly RolloutRef[];
  /** Those of them that no version shows, and those that have not begun. */
  readonly loose: LooseRollouts;
  /** Finds the version that is written exactly so. */
  get(version: string): VersionRef | undefined;
  /** Finds the version that differs in build metadata at most. */
  findSame(version: string): VersionRef | undefined;
}

/** The versions of a repository, which follow its changes: empty for a series that has none. `series` is in no order. */
export interface SeriesIndex {
  of(series: string): VersionIndex;
  readonly series: readonly string[];
}

export interface VersionDetails {
  version: string;
  status: VersionRef['status'];
  commit: string;
  /** Empty for a parameter file or a schema. */
  entryPoint: string;
  /** Whether the version skips its scope on purpose, and so has no file. */
  isPassthrough: boolean;
  /** Sorted by the bytes of their paths. */
  files: readonly StoredFile[];
  createdAt: number;
  createdBy: string;
  /** Whom git's commit names as its author, which is a claim. Null only if it names nobody. */
  author: Person | null;
  /** That of the annotated tag where it has one, else that of the commit. It is present, and verified by nobody. */
  signature: SignatureKind | null;
  publishedAt: number | null;
  publishedBy: string | null;
  withdrawn: Withdrawal | null;
  rollout: RolloutRef | null;
  /** What the tag says, else what the commit says: why the version was made. Null when neither says anything. */
  message: string | null;
}

export interface DraftContent {
  /** Null for a parameter file or a schema. */
  entryPoint: string | null;
  files: readonly FileContent[] | CommittedFiles;
  /** Whether a parameter file skips its scope on purpose. */
  isPassthrough?: boolean;
  /** Why, as the body of the commit's message. By default a draft that is changed keeps its own. */
  message?: string | undefined;
  /** Aborted when the caller has gone. Nothing is written from then on, and no ref is moved. */
  gone?: AbortSignal;
}

export interface DraftInput extends DraftContent {
  version: string;
  author: Person;
  at: number;
}

/** A draft that is made together with others, with its audit entry, which lacks the commit. */
export interface PlannedDraft extends DraftInput {
  series: string;
  entry: PlannedEntry;
}

/** New content for a draft. The draft keeps its author and the time at which it was made. */
export interface DraftChange extends DraftContent {
  committer: Person;
  at: number;
}

/** One file of a draft that is saved or deleted, which adds a commit to the draft. */
export interface DraftEdit {
  /** In the form in which paths are stored, and fit to stand beside the others. */
  path: string;
  /** Null deletes the file. A new file is not executable, and one that is replaced keeps that bit. */
  content: Uint8Array | null;
  author: Person;
  at: number;
  gone?: AbortSignal;
}

export interface Publishing {
  tagger: Person;
  at: number;
  /** Why, as the body of the tag's message. */
  message?: string | undefined;
  /** The node to which a file of scope Node belongs from then on. */
  nodeId?: string | undefined;
  /** The change set that publishes it. */
  changeSet?: number | undefined;
  /** The rollout that the version is published into. By default it is open to all at once. */
  rollout?: PublishedRollout | undefined;
}

/**
 * A repository while its lock is held. It refuses to work once the lock is given back. The refs that the holder moves
 * stay moved only if the holder's work succeeds. After a failure they are moved back, so drafts and versions are as
 * before, except for versions that `deleteVersions` has removed.
 */
export interface LockedRepository {
  /** The versions on the disk when the lock was taken, and after each write of this holder. */
  readonly index: SeriesIndex;
  /** Conflict `version_exists`, also for a version that differs in build metadata alone. */
  writeDraft(series: string, draft: DraftInput): Promise<VersionDetails>;
  /** Makes drafts, no two of the same version: all of them at once or none. It throws as `writeDraft`. */
  writeDrafts(drafts: readonly PlannedDraft[]): Promise<VersionDetails[]>;
  /** Gives a draft other content. Not found; conflict `published_version` or `draft_changed`. */
  replaceDraft(series: string, version: string, change: DraftChange): Promise<VersionDetails>;
  /** Saves or deletes one file of a draft. Not found; conflict `published_version` or `draft_changed`. */
  editDraft(series: string, version: string, edit: DraftEdit): Promise<VersionDetails>;
  /** Not found; conflict `already_published` or `draft_changed`. */
  publish(series: string, version: string, publishing: Publishing): Promise<VersionDetails>;
  /** Writes the tags that publish these drafts, and notes the entries. Not found; conflict `already_published`. */
  writeTags(
    drafts: readonly { series: string; version: string; publishing: Publishing; entry: PlannedEntry }[],
  ): Promise<WrittenTag[]>;
  /** Publishes what `writeTags` has written, all of it at once. Conflict `draft_changed`, `already_published`. */
  moveTags(tags: readonly WrittenTag[]): Promise<void>;
  /** Ends what a crash left of this. It gives whether anything was left. */
  finishTags(tags: readonly NamedTag[]): Promise<boolean>;
  /** Writes a schema, which is published at once, in place of one of the same version. Conflict `schema_changed`. */
  putSchema(input: DraftInput): Promise<VersionDetails>;
  /** Not found; conflict `published_version` or `draft_changed`. */
  deleteDraft(series: string, version: string): Promise<void>;
  /**
   * Withdraws a published version. One that is withdrawn already stays as it is.
   * Not found; conflict `not_published`, `versions_changed`, or `in_use` while a tag is in the way, such as `withdrawn`.
   */
  withdraw(series: string, version: string, by: Withdrawing): Promise<VersionDetails>;
  /** Offers a withdrawn version again. Not found, also when it is not withdrawn; conflict `versions_changed`. */
  offerAgain(series: string, version: string): Promise<VersionDetails>;
  /**
   * Moves the branch of a rollout from the commit `expected`, or makes it where that is null.
   * @param key the published version that rolls out, or the key of the files
   * Not found; conflict `not_published`, `versions_changed`, `state_changed`, or `in_use` while a branch `rollout` is in the
   * way; `repository_damaged` where its record cannot be read.
   */
  moveRollout(key: string, move: RolloutMove & { expected: string | null }): Promise<RolloutRef>;
  /**
   * Removes versions, and cuts the history that leads through them from what is kept. Kept commits keep their ids.
   * Not found; conflict `in_use` for the version at which `main` stands, and `versions_changed`.
   */
  deleteVersions(refs: readonly VersionRef[]): Promise<void>;
  /** Takes tags that were made elsewhere, with what `load` gives. What it throws must fail the holder's work. */
  takeTags(
    tags: readonly TakenTag[],
    load: () => Promise<TakenObjects>,
  ): Promise<(TakenTag & { commit: string | null })[]>;
  /**
   * Takes all that one push is about, at once. It throws as `requireTakeable`.
   * @param load gives the objects that came; null where they are in the repository already
   */
  takePushes(pushes: readonly PlannedPush[], load: (() => AsyncIterable<GivenObject>) | null): Promise<void>;
  /** Makes the versions of a scope by another name too. `repository_damaged`; conflict `versions_changed`. */
  copyScope(names: ScopeNames): Promise<void>;
  /** Takes away what a scope has by a name that does not hold. See `leaveScope` in renamed-scopes.ts. */
  leaveScope(names: ScopeNames, by: Signature | null): Promise<void>;
  /** Takes a scope off the branch of its type, before its versions are deleted. */
  dropFromBranch(scope: ParameterScope, by: Signature): Promise<void>;
  /** Plans the audit entry of the next change. It is noted on the disk before the ref moves. */
  plan(entry: PlannedEntry): void;
  /** The entries of changes that were made and may not be recorded, each with the commit that it led to. */
  unrecorded(): { entry: PlannedEntry; commit: string | null }[];
  dropUnrecorded(): Promise<void>;
  /**
   * Notes in the database that refs have moved, in the transaction that `write` makes. Where the holder does not call
   * this after its writes, they are noted when its work ends.
   */
  note(write: NotingWrite): Promise<void>;
}

/** The tag of a version or of its withdrawal, or the branch of its rollout. */
export interface TakenTag {
  /** The full name of the ref. */
  name: string;
  oid: string;
  named: { series: string; version: string; status: VersionRef['status'] | 'Withdrawn' | 'Rollout' };
  /** The audit entry, which lacks the commit. */
  entry: PlannedEntry;
}

/** A version that was pushed. */
export interface TakenPush {
  series: string;
  version: string;
  /** What the client takes the draft's commit for; null where there should be none. Absent where no draft was pushed. */
  from?: string | null;
  /**
   * The draft's commit, the tag of a published version with its commit, or a commit for which a tag is to be made. Null
   * for a draft that is to go.
   */
  to:
    | { draft: string }
    | { tag: string; commit: string }
    | { commit: string; entryPoint: string | null }
    | null;
  /** Whether it is a parameter file that skips its scope on purpose. */
  isPassthrough: boolean;
  record: PushRecord;
}

/** One with its audit entry, which lacks the commit. */
export interface PlannedPush extends TakenPush {
  entry: PlannedEntry;
}

/** The objects that tags lead to, and the commits at which their history ends. */
export interface TakenObjects {
  objects: AsyncIterable<GivenObject>;
  ends: readonly string[];
}

/** Who withdraws a version, when (epoch milliseconds) and why. */
export interface Withdrawing {
  tagger: Person;
  at: number;
  /** As `tidyText` leaves it. */
  reason: string;
}

/** Makes a transaction, in which it calls `note`, and commits it. */
export type NotingWrite = (note: (trx: Db) => Promise<void>) => Promise<void>;

/** A ref that is no version, or whose objects cannot be read. */
export interface RepositoryProblem {
  repository: StoredRef;
  /** The full name of the ref, `blob <oid>`, or empty for the whole repository. */
  ref: string;
  /** `repository_missing`, `repository_damaged`, or a sentence that says why the ref is no version. */
  reason: string;
}

/**
 * Whether something is damaged or missing. Otherwise the repository is whole, and somebody has made a ref that is named
 * like a version and is none.
 */
export function isDamage({ reason }: RepositoryProblem): boolean {
  return reason === 'repository_missing' || reason === 'repository_damaged';
}

export interface GitStoreOptions {
  root: string;
  log: Log;
  /** Bytes of memory for packs, details of versions and facts about blobs together. */
  cacheBytes: number;
  /**
   * Called after every change of refs, made here or by another program. A call that rejects is repeated later.
   * @param isAwaited true when a write waits for the call; false when a reader may wait, who must not wait for
   *   another process
   * @param trx the transaction that the note belongs into; default: one of its own
   */
  onRefsMoved: (repository: RepositoryRef, isAwaited: boolean, trx?: Db) => Promise<void>;
  /** Called before a lock is taken, and before refs are moved. It rejects when others could not be notified. */
  beforeWrite?: () => Promise<void>;
  /** Says whether a tag of a configuration counts that no push has brought. By default each does. */
  admit?: Admit | undefined;
  onOperation?: OnOperation;
  fs?: AtomicFs;
  /** The tables in which the repositories are; `tables` is null where nothing is written. By default they are in folders. */
  shared?: { reader: GitReader; tables: GitTables | null } | undefined;
  /** One lock for each repository that is written to. By default the locks hold in this process alone. */
  locks?: Locks;
}
