/**
 * The author of versions: every draft, replacement, publishing and deletion that is asked of this server, of every kind.
 * Each goes the same way under the lock of the repository: it is checked, Git is written (which is the change), and one
 * transaction notes the new generation and the audit entry. Where that cannot be written, the ref goes back.
 */

import type { Database } from '../db/database.ts';
import { isOutcomeUnknown } from '../db/errors.ts';
import { PARAMETER_WRITES } from '../domain/lock-names.ts';
import { missingRepository } from '../git/disk-errors.ts';
import type { GivenObject } from '../git/objects.ts';
import type { RepositoryKind } from '../git/types.ts';
import { notFound } from '../lib/errors.ts';
import type { Locks } from '../lib/locks.ts';
import { paced } from '../lib/pace.ts';
import { AUTHORED, type KindFacts, type Planned, type PlannedChange, PUSHED } from './author-kinds.ts';
import { SCHEMA_SERIES } from './kinds.ts';
import { scopeOf } from './parameter-files.ts';
import { fileBlocker, rolloutBlocker } from './rollout-rules.ts';
import {
  AUDITED,
  type Authorship,
  notFoundIfDeleted,
  type Owner,
  type ResourceRows,
  requireRow,
} from './rows.ts';
import { findBlockers, findDraft, type PublishRules } from './rules.ts';
import type { GitStore } from './store.ts';
import {
  type DraftContent,
  type DraftEdit,
  type LockedRepository,
  ONLY_SERIES,
  type PlannedDraft,
  type PlannedEntry,
  type PlannedPush,
  type PublishedRollout,
  type SeriesIndex,
  type TakenPush,
  type VersionDetails,
  type VersionIndex,
  type VersionRef,
} from './types.ts';
import { finishRollouts } from './unfinished-rollouts.ts';
import { recordUnrecorded, withCommit } from './unrecorded.ts';
import { type AuditChange, recordChanges } from './version-records.ts';

/** The row to which the versions of a kind of repository belong. */
type RowOf<K extends RepositoryKind> = ResourceRows[K extends 'composites' ? 'composites' : 'configurations'];

export interface AuthorTools {
  database: Database;
  store: GitStore;
  /** `PARAMETER_WRITES` is shared while a file is written, so that its scope type and value stay as they are. */
  locks: Locks;
}

/** Whose repository is locked, and what is looked at once it is. */
type LockOwner<K extends RepositoryKind> = Owner<K> & Pick<Partial<Authorship>, 'actor' | 'requireCurrent'>;

/**
 * Runs `work` alone in the repository of the resource for which the caller's access was checked. That resource may have
 * been deleted since, and somebody else may have made another of its name, which this caller must not touch.
 * @throws HawserError not_found where it was deleted; `repository_missing`; `frozen`; what `requireCurrent` or `work` throws
 */
export async function underLock<K extends RepositoryKind, T>(
  tools: Pick<AuthorTools, 'database' | 'store'>,
  owner: LockOwner<K>,
  work: (writer: LockedRepository, row: RowOf<K>) => Promise<T>,
): Promise<T> {
  try {
    return await runUnderLock(tools, owner, work);
  } catch (error) {
    // The next holder of the lock records what has no entry.
    const { kind, resource } = owner;
    if (isOutcomeUnknown(error))
      tools.database.onceBack(() => runUnderLock(tools, { kind, resource }, nothing));
    throw error;
  }
}

async function nothing(): Promise<void> {}

function runUnderLock<K extends RepositoryKind, T>(
  { database, store }: Pick<AuthorTools, 'database' | 'store'>,
  { kind, resource: { id, name }, actor, requireCurrent }: LockOwner<K>,
  work: (writer: LockedRepository, row: RowOf<K>) => Promise<T>,
): Promise<T> {
  const { rows } = AUTHORED[kind];
  const run = async (writer: LockedRepository) => {
    const row = (await requireRow(database.read, rows, id)) as RowOf<K>;
    if (kind === 'configurations')
      await finishRollouts({ database, store }, { kind, resource: { id, name } }, writer);
    await recordUnrecorded(database, { kind, resource: { id, name } }, writer);
    await requireCurrent?.();
    await actor?.requireUnfrozen?.(database.read);
    return work(writer, row);
  };
  return notFoundIfDeleted(database, rows, id, () => store.exclusive({ kind, name }, run));
}

/**
 * Runs `work` alone, with an author that writes versions in the name of the target's principal.
 * @throws HawserError as `underLock`
 */
export function authorVersions<K extends RepositoryKind, T>(
  tools: AuthorTools,
  target: Authorship<K>,
  work: (author: VersionAuthor<K>, row: RowOf<K>) => Promise<T>,
): Promise<T> {
  const run = () => authorUnderLock(tools, target, work);
  return target.kind === 'parameters' ? tools.locks.share(PARAMETER_WRITES, run) : run();
}

/**
 * The same for parameter files, while the lock of their configuration is held too, so that nothing begins to roll out meanwhile.
 * @throws HawserError as `underLock`
 */
export function authorBesideRollouts<T>(
  tools: AuthorTools,
  target: Authorship<'parameters'>,
  work: (author: VersionAuthor<'parameters'>, configuration: LockedRepository) => Promise<T>,
): Promise<T> {
  const { resource, actor } = target;
  const owner = { kind: 'configurations', resource, actor } as const;
  return tools.locks.share(PARAMETER_WRITES, () =>
    underLock(tools, owner, (configuration) =>
      authorUnderLock(tools, target, (author) => work(author, configuration)),
    ),
  );
}

function authorUnderLock<K extends RepositoryKind, T>(
  tools: AuthorTools,
  target: Authorship<K>,
  work: (author: VersionAuthor<K>, row: RowOf<K>) => Promise<T>,
): Promise<T> {
  return underLock(tools, target, async (writer, row) => {
    const hadParameters = target.kind === 'parameters' && 'has_parameters' in row && row.has_parameters === 1;
    // Writing would begin a new history in place of the one that is lost, and nobody would notice.
    if (hadParameters && !(await tools.store.has({ kind: 'parameters', name: row.name })))
      throw missingRepository();
    return work(new VersionAuthor(tools, target, writer), row);
  });
}

interface WithdrawOptions {
  series?: string;
  /** Ends what must end before it is withdrawn, and gives the entries. It is called where the version is offered. */
  first?(writer: LockedRepository, before: VersionRef): Promise<readonly AuditChange[]>;
  /** Records the entries. Default: by themselves. */
  record?(entries: readonly AuditChange[], writer: LockedRepository): Promise<void>;
}

interface PublishOptions {
  series?: string;
  message?: string | undefined;
  rollout?: PublishedRollout;
  nodeId?: string | undefined;
  others?: readonly AuditChange[];
  /** Records the entries. Default: by themselves. */
  record?(entries: readonly AuditChange[]): Promise<void>;
}

/** A draft that is published together with others. */
export interface DraftToPublish {
  series: string;
  ref: VersionRef;
  message?: string | undefined;
  nodeId?: string | undefined;
}

interface NewDraft {
  series: string;
  version: string;
  content: DraftContent;
}

/** Writes versions for one caller while the lock is held. */
export class VersionAuthor<K extends RepositoryKind> {
  private readonly database: Database;
  private readonly store: GitStore;
  private readonly target: Authorship<K>;
  private readonly writer: LockedRepository;
  private readonly facts: KindFacts;

  constructor(
    { database, store }: Pick<AuthorTools, 'database' | 'store'>,
    target: Authorship<K>,
    writer: LockedRepository,
  ) {
    this.database = database;
    this.store = store;
    this.target = target;
    this.writer = writer;
    this.facts = AUTHORED[target.kind];
  }

  /** The versions of all series, as they are under the lock. */
  get all(): SeriesIndex {
    return this.writer.index;
  }

  index(series = ONLY_SERIES): VersionIndex {
    return this.writer.index.of(series);
  }

  /**
   * The draft, or undefined without such a version.
   * @throws HawserError conflict `published_version`
   */
  findDraft(version: string, series = ONLY_SERIES, message?: string): VersionRef | undefined {
    return findDraft(this.index(series), version, message);
  }

  /** @throws HawserError not_found without such a version, conflict `published_version` */
  requireDraft(version: string, series?: string, message?: string): VersionRef {
    const ref = this.findDraft(version, series, message);
    if (ref === undefined) throw notFound(this.facts.noSuchVersion);
    return ref;
  }

  /** @throws HawserError conflict `version_exists` */
  async createDraft(version: string, content: DraftContent, series = ONLY_SERIES): Promise<VersionDetails> {
    const { created: action } = this.facts.actions;
    const entry = this.plan(series, version, { action, ...this.facts.draftDetails(content, null) });
    const made = await this.writer.writeDraft(series, { version, ...content, ...this.writing });
    return this.record(entry, made);
  }

  /** Makes drafts, all of them at once, and records them in one transaction. @throws HawserError as `createDraft` */
  async createDrafts(drafts: readonly NewDraft[]): Promise<VersionDetails[]> {
    if (drafts.length === 0) return [];
    const { created: action } = this.facts.actions;
    const planned: PlannedDraft[] = [];
    for await (const { series, version, content } of paced(drafts)) {
      const entry = this.entry(series, version, { action, ...this.facts.draftDetails(content, null) });
      planned.push({ series, version, ...content, ...this.writing, entry });
    }
    const made = await this.writer.writeDrafts(planned);
    const entries = planned.map(({ entry }, at) => withCommit(entry, made[at]?.commit ?? null));
    const { actor } = this.target;
    await recordChanges(this.database, this.target, { writer: this.writer, actor }, entries);
    return made;
  }

  /**
   * Gives a draft other content.
   * @param told the audit entry; default: that the draft was replaced
   * @throws HawserError conflict `draft_changed`
   */
  async replaceDraft(
    before: VersionRef,
    content: DraftContent,
    { series = ONLY_SERIES, told }: { series?: string; told?: AuditChange } = {},
  ): Promise<VersionDetails> {
    const { version } = before;
    const { author: committer, ...when } = this.writing;
    const { details, replaces } = this.facts.draftDetails(content, before);
    const action = told?.action ?? this.facts.actions.replaced;
    const planned = { action, details: { ...told?.details, ...details }, replaces };
    const entry = this.plan(series, version, planned);
    const made = await this.writer.replaceDraft(series, version, { ...content, ...when, committer });
    return this.record(entry, made);
  }

  /** Saves or deletes one file. @throws HawserError conflict `draft_changed` */
  async editDraft(before: VersionRef, edit: Pick<DraftEdit, 'path' | 'content'>): Promise<VersionDetails> {
    const { version } = before;
    const action = edit.content === null ? 'configuration.file_deleted' : 'configuration.file_saved';
    const planned = { action, details: { path: edit.path }, replaces: before.oid } as const;
    const entry = this.plan(ONLY_SERIES, version, planned);
    const made = await this.writer.editDraft(ONLY_SERIES, version, { ...edit, ...this.writing });
    return this.record(entry, made);
  }

  /**
   * Publishes a draft that nothing blocks.
   * @param options the message says why, for the tag. `others` are further entries of the same deed
   * @throws HawserError not_found without such a version; the first of its blockers; conflict `draft_changed`, and
   *   `rollout_running` without a rollout of its own while a lower version rolls out
   */
  async publish(
    version: string,
    rules: PublishRules,
    { series = ONLY_SERIES, message, rollout, nodeId, others = [], record }: PublishOptions = {},
  ): Promise<VersionDetails> {
    const ref = this.index(series).get(version);
    if (ref === undefined) throw notFound(this.facts.noSuchVersion);
    const [blocker] = await findBlockers(ref, rules);
    if (blocker !== undefined) throw blocker;
    if (!rollout) await this.requireNoRollout(version, series);
    const { author: tagger, at } = this.writing;
    const action = `${AUDITED[this.target.kind]}.version_published` as const;
    const entry = this.plan(series, version, { action, details: {}, replaces: null });
    const changeSet = this.target.actor.changeSetId;
    const publishing = { tagger, at, message, rollout, nodeId, changeSet };
    const made = await this.writer.publish(series, version, publishing);
    const begun = this.index(series).get(version)?.rollout?.oid ?? null;
    const added = [...others, ...(rollout ? [withCommit(rollout.entry, begun)] : [])];
    if (record === undefined) return this.record(entry, made, added);
    await record([withCommit(entry, made.commit), ...added]);
    return made;
  }

  /**
   * Publishes drafts that nothing blocks, no two of a series: all of them at once, and records them in one transaction.
   * @throws HawserError conflict `draft_changed`, `already_published`, and `rollout_running` while something rolls out
   */
  async publishTogether(drafts: readonly DraftToPublish[]): Promise<void> {
    if (drafts.length === 0) return;
    const { author: tagger, at } = this.writing;
    const action = `${AUDITED[this.target.kind]}.version_published` as const;
    const planned = drafts.map(({ series, ref: { version }, message, nodeId }) => {
      const entry = this.entry(series, version, { action, details: {}, replaces: null });
      return { series, version, entry, publishing: { tagger, at, message, nodeId } };
    });
    for await (const { series, version } of paced(planned)) await this.requireNoRollout(version, series);
    await this.writer.moveTags(await this.writer.writeTags(planned));
    const entries = planned.map(({ series, version, entry }) =>
      withCommit(entry, this.index(series).get(version)?.commit ?? null),
    );
    const { actor } = this.target;
    await recordChanges(this.database, this.target, { writer: this.writer, actor }, entries);
  }

  /**
   * Withdraws a published version. One that is withdrawn already stays as it is, with its first reason.
   * @param reason as `tidyText` leaves it
   * @throws HawserError not_found without such a version; conflict `not_published` for a draft, `versions_changed`, or
   *   `in_use` while another tag is in the way
   */
  async withdraw(
    version: string,
    reason: string,
    { series = ONLY_SERIES, first, record }: WithdrawOptions = {},
  ): Promise<VersionDetails> {
    const before = this.index(series).get(version);
    const isOffered = before?.status === 'Published' && before.withdrawn === null;
    // It comes first, so that no node is offered a part of what belongs together.
    const others = (isOffered && (await first?.(this.writer, before))) || [];
    const { author: tagger, at } = this.writing;
    const action = `${AUDITED[this.target.kind]}.version_withdrawn` as const;
    const entry = this.plan(series, version, { action, details: { commit: before?.commit, reason } });
    const made = await this.writer.withdraw(series, version, { tagger, at, reason });
    if (!isOffered) return made;
    if (record === undefined) return this.record(entry, made, others);
    await record([withCommit(entry, made.commit), ...others], this.writer);
    return made;
  }

  /**
   * Offers a withdrawn version again.
   * @throws HawserError not_found without such a version, and for one that is not withdrawn; conflict `versions_changed`, or
   *   `rollout_running` while a lower version rolls out
   */
  async offerAgain(version: string, series = ONLY_SERIES): Promise<void> {
    await this.requireNoRollout(version, series);
    const commit = this.index(series).get(version)?.commit;
    const action = `${AUDITED[this.target.kind]}.version_offered_again` as const;
    const entry = this.plan(series, version, { action, details: { commit } });
    await this.record(entry, await this.writer.offerAgain(series, version));
  }

  /**
   * Takes all that one push is about, and records it in one transaction.
   * @param load as of `LockedRepository.takePushes`
   * @throws HawserError as `requireTakeable`; conflict `rollout_running`
   */
  async takePushes(
    pushes: readonly TakenPush[],
    load: (() => AsyncIterable<GivenObject>) | null,
  ): Promise<void> {
    for await (const { series, version, to } of paced(pushes))
      if (to !== null && !('draft' in to)) await this.requireNoRollout(version, series);
    const planned: PlannedPush[] = [];
    for await (const push of paced(pushes)) planned.push({ ...push, entry: this.entryOfPush(push) });
    await this.writer.takePushes(planned, load);
    const entries = planned.map(({ entry, to }) =>
      withCommit(entry, to && ('draft' in to ? to.draft : to.commit)),
    );
    const { actor } = this.target;
    await recordChanges(this.database, this.target, { writer: this.writer, actor }, entries);
  }

  private entryOfPush(push: TakenPush): PlannedEntry {
    const { series, version, from = null, to } = push;
    const audited = AUDITED[this.target.kind];
    if (to === null)
      return this.entry(series, version, {
        action: `${audited}.version_deleted`,
        details: { commit: from, ...PUSHED },
      });
    if (!('draft' in to)) {
      const action = `${audited}.version_published` as const;
      return this.entry(series, version, { action, details: PUSHED, replaces: from });
    }
    const before = this.index(series).get(version) ?? null;
    const { details, replaces } = this.facts.draftDetails(push, before);
    const action = before ? this.facts.actions.replaced : this.facts.actions.created;
    return this.entry(series, version, { action, details: { ...details, ...PUSHED }, replaces });
  }

  /**
   * @param details what the audit trail says beside the commit
   * @throws HawserError not_found without such a version, conflict `published_version`, `draft_changed`
   */
  async deleteDraft(version: string, series = ONLY_SERIES, details: Planned['details'] = {}): Promise<void> {
    const { oid: commit } = this.requireDraft(version, series, 'A published version stays');
    const action = `${AUDITED[this.target.kind]}.version_deleted` as const;
    const entry = this.plan(series, version, { action, details: { commit, ...details } });
    await this.writer.deleteDraft(series, version);
    await this.record(entry, null);
  }

  /**
   * Keeps an uploaded schema, in place of an earlier one of the same version.
   * @throws HawserError conflict `schema_changed`
   */
  async putSchema(
    this: VersionAuthor<'parameters'>,
    version: string,
    content: DraftContent,
    replaced: string | null,
  ): Promise<void> {
    const action = 'parameters.schema_uploaded';
    const entry = this.plan(SCHEMA_SERIES, version, { action, details: { replaced }, replaces: null });
    await this.record(entry, await this.writer.putSchema({ version, ...content, ...this.writing }));
  }

  private get writing() {
    const { principal, actor, gone, madeAt = actor.at } = this.target;
    const author = { name: principal.username, email: principal.email };
    return { author, at: madeAt, ...(gone && { gone }) };
  }

  private plan(series: string, version: string, change: PlannedChange): PlannedEntry {
    const planned = this.entry(series, version, change);
    this.writer.plan(planned);
    return planned;
  }

  /** A backup reads version, scope and commit of these entries (`operations/backup/recorded-versions.ts`). */
  private entry(series: string, version: string, { action, details, replaces }: PlannedChange): PlannedEntry {
    const { kind, resource, actor } = this.target;
    const { value: scopeValue, scopeType } = scopeOf(series);
    const scope = kind === 'parameters' && series !== SCHEMA_SERIES ? { scopeValue, scopeType } : {};
    const entry = { action, details: { ...scope, version, ...details }, replaces };
    return { ...entry, actor, resourceId: resource.id };
  }

  private async requireNoRollout(version: string, series = ONLY_SERIES): Promise<void> {
    const { kind, resource } = this.target;
    const blocker =
      kind === 'parameters'
        ? fileBlocker(await this.store.versions({ kind: 'configurations', name: resource.name }))
        : rolloutBlocker(this.index(series), version);
    if (blocker) throw blocker;
  }

  /** @param made null for a version that is gone */
  private async record<T extends VersionDetails | null>(
    entry: PlannedEntry,
    made: T,
    others: readonly AuditChange[] = [],
  ): Promise<T> {
    const changes = [withCommit(entry, made?.commit ?? null), ...others];
    await recordChanges(this.database, this.target, { writer: this.writer, actor: entry.actor }, changes);
    return made;
  }
}
