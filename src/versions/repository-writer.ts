/** The writes of the holder of a repository's lock: draft, replace, publish, delete. */

import type { Signature } from '../git/commits.ts';
import { damagedRepository, guardDisk, missingRepository } from '../git/disk-errors.ts';
import type { GivenObject } from '../git/objects.ts';
import { type GitOperation, type OnOperation, timed } from '../git/operations.ts';
import type { PeeledMove, RefMove } from '../git/refs.ts';
import { refuseGone } from '../lib/client-gone.ts';
import { conflict, internal } from '../lib/errors.ts';
import { paced } from '../lib/pace.ts';
import {
  type BesideTaker,
  beginRollout,
  type MoveFacts,
  moveRollout,
  offerAgain,
  withdraw,
} from './beside-writes.ts';
import { checkDraft, type RefName, refNameOf, SCHEMA_SERIES } from './kinds.ts';
import { recordMoves } from './push-records.ts';
import { copyScope, dropFromBranch, leaveScope, type MoverTools } from './renamed-scopes.ts';
import type { Repository, RepositoryTools } from './repository.ts';
import type { RepositoryIndex } from './repository-index.ts';
import { refuseSameVersion, versionExists } from './rules.ts';
import type { ParameterScope, ScopeNames } from './scope-names.ts';
import { finishTags, moveTags } from './tags-together.ts';
import { planDrafts, planMoves, refuseMoved, type VersionMoves } from './taken-pushes.ts';
import { takeTags } from './taken-tags.ts';
import type {
  DraftChange,
  DraftEdit,
  DraftInput,
  LockedRepository,
  NamedTag,
  NotingWrite,
  PlannedDraft,
  PlannedEntry,
  PlannedPush,
  Publishing,
  RolloutMove,
  RolloutRef,
  TakenTag,
  VersionDetails,
  VersionRef,
  Withdrawing,
  WrittenTag,
} from './types.ts';
import { UnrecordedNote } from './unrecorded.ts';
import { VersionWriter } from './version-writer.ts';
import { draftMoved, draftNamed, published, requireRemovable } from './write-conflicts.ts';

interface WriterTools extends Pick<RepositoryTools, 'fs' | 'objects' | 'versions' | 'onOperation'> {
  beforeWrite: () => Promise<void>;
  /** Makes the repository on the disk. */
  create: () => Promise<void>;
}

export class RepositoryWriter implements LockedRepository {
  private readonly repository: Repository;
  private readonly tools: WriterTools;
  private readonly objects: VersionWriter;
  private readonly onOperation: OnOperation;
  private held = true;
  /** Null where a move and its entry are written in one transaction. */
  private readonly unrecordedNote: UnrecordedNote | null;
  /** Whether refs have moved since the last note. */
  private isNoteDue = false;
  /** Whether another ref beside that of a version has moved, since all refs were read. */
  private hasMovedOthers = false;
  private planned: PlannedEntry | undefined;

  constructor(repository: Repository, tools: WriterTools) {
    this.repository = repository;
    this.tools = tools;
    const { ref, kind, gitdir, refs } = repository;
    this.objects = new VersionWriter(tools, { ref, kind, gitdir, shallow: () => refs.shallow() });
    this.onOperation = tools.onOperation;
    this.unrecordedNote = refs.isTransactional ? null : new UnrecordedNote(tools.fs, gitdir);
  }

  get index(): RepositoryIndex {
    if (!this.held) throw internal('lock_returned', 'The lock of the repository was given back already.');
    if (!this.repository.known) throw missingRepository();
    return this.repository.known;
  }

  /** Makes the writer refuse further work, once the lock is given back. */
  end(): void {
    this.held = false;
  }

  async writeDraft(series: string, draft: DraftInput): Promise<VersionDetails> {
    const { version } = draft;
    const name = { series, version, status: 'Draft' as const };
    await checkDraft(this.repository.kind, name, draft);
    refuseSameVersion(this.index.of(series), version);
    return this.write('draft', name, async () => {
      const parent = this.index.parentOf(series, { version, createdAt: draft.at });
      const oid = await this.objects.writeDraft({ series, version, parent }, draft);
      refuseGone(draft.gone);
      if (!(await this.move(refNameOf(name), null, oid))) throw versionExists(version);
    });
  }

  async writeDrafts(drafts: readonly PlannedDraft[]): Promise<VersionDetails[]> {
    const { repository, tools } = this;
    for await (const draft of paced(drafts)) {
      await checkDraft(repository.kind, { ...draft, status: 'Draft' }, draft);
      refuseSameVersion(this.index.of(draft.series), draft.version);
    }
    return timed(this.onOperation, 'draft', async () => {
      await guardDisk(async () => {
        if (repository.absent) await tools.create();
        await this.moveTogether(await planDrafts(this.taker, drafts));
      });
      await this.refresh();
      const made: VersionDetails[] = [];
      for await (const { series, version } of paced(drafts)) {
        const ref = repository.known?.of(series).get(version);
        if (ref === undefined) throw damagedRepository();
        made.push(await repository.details(ref));
      }
      return made;
    });
  }

  async replaceDraft(series: string, version: string, change: DraftChange): Promise<VersionDetails> {
    const draft = draftNamed(this.index.of(series), version, 'published_version');
    await checkDraft(this.repository.kind, draft, change);
    return this.write('draft', draft, async () => {
      const parent = this.index.parentOf(series, draft);
      const written = { series, version, parent, replaced: draft.oid, pushed: draft.pushed };
      const oid = await this.objects.amendDraft(written, change);
      refuseGone(change.gone);
      if (!(await this.move(draft.name, draft.oid, oid))) throw draftMoved();
    });
  }

  async editDraft(series: string, version: string, edit: DraftEdit): Promise<VersionDetails> {
    const draft = draftNamed(this.index.of(series), version, 'published_version');
    return this.write('draft', draft, async () => {
      const before = await this.repository.details(draft);
      const oid = await this.objects.editDraft(draft, before, edit);
      refuseGone(edit.gone);
      if (!(await this.move(draft.name, draft.oid, oid))) throw draftMoved();
    });
  }

  /** The version is published once its tag has a ref and the work of the lock's holder has succeeded. */
  async publish(series: string, version: string, publishing: Publishing): Promise<VersionDetails> {
    const draft = draftNamed(this.index.of(series), version, 'already_published');
    const { refs, upkeep } = this.repository;
    return this.write('publish', { series, version, status: 'Published' }, async () => {
      const oid = await this.writeTag(draft, publishing);
      // The caller may have taken time to look at the draft, and stock git does not know our lock.
      if (refs.get(draft.name) !== draft.oid) throw draftMoved();
      const { rollout } = publishing;
      const name = refNameOf({ series, version, status: 'Published' });
      if (rollout) {
        const move = { name, from: null, to: oid };
        // Once the branch has moved, whoever finds that the tag is missing makes it, and this entry tells of it.
        if (rollout.files && this.planned) await this.unrecordedNote?.write({ move, entry: this.planned });
        await beginRollout(this.taker, { version, tag: oid }, rollout, publishing);
        this.hasMovedOthers = true;
        // Readers must know of the branch before any of the files is published.
        if (rollout.files) await this.refresh();
        await rollout.files?.();
      }
      upkeep.announce(series, oid);
      const isNoted = rollout?.files !== undefined;
      // A record of which the tag does not follow is dropped.
      const records = await this.recordsOf(draft, publishing);
      for (const record of records) await refs.move(record);
      this.hasMovedOthers ||= records.length > 0;
      if (!(await this.move(name, null, oid, { isNoted }))) throw published('already_published');
    });
  }

  async writeTags(
    drafts: readonly { series: string; version: string; publishing: Publishing; entry: PlannedEntry }[],
  ): Promise<WrittenTag[]> {
    const tags: WrittenTag[] = [];
    await guardDisk(async () => {
      for await (const { series, version, publishing, entry } of paced(drafts)) {
        const draft = draftNamed(this.index.of(series), version, 'already_published');
        const oid = await this.writeTag(draft, publishing);
        const name = refNameOf({ series, version, status: 'Published' });
        const move = { name, from: null, to: oid, peeled: await this.commitOf(oid) };
        const records = await this.recordsOf(draft, publishing);
        tags.push({ series, version, oid, draft, move, records, entry });
      }
      await this.tools.beforeWrite();
      await this.unrecordedNote?.write(...tags.map(({ move, entry }) => ({ move, entry })));
    });
    return tags;
  }

  async moveTags(tags: readonly WrittenTag[]): Promise<void> {
    await timed(this.onOperation, 'publish', async () => {
      for (const { series, oid } of tags) this.repository.upkeep.announce(series, oid);
      await guardDisk(() => moveTags(this.repository, tags));
      this.hasMovedOthers = true;
      await this.refresh();
    });
  }

  async finishTags(tags: readonly NamedTag[]): Promise<boolean> {
    const { repository } = this;
    const hasMoved = await guardDisk(() => finishTags(repository, tags, (oid) => this.commitOf(oid)));
    this.hasMovedOthers ||= hasMoved;
    if (hasMoved) await this.refresh();
    return hasMoved;
  }

  async putSchema(input: DraftInput): Promise<VersionDetails> {
    const { version } = input;
    const series = SCHEMA_SERIES;
    const name = { series, version, status: 'Published' as const };
    await checkDraft(this.repository.kind, name, input);
    const before = this.index.of(series).get(version)?.oid;
    const { refs } = this.repository;
    return this.write('publish', name, async () => {
      const parent = this.index.parentOf(series, { version, createdAt: input.at });
      // A tag of this name that is no version is replaced too, because nobody else could have meant the name.
      const from = before ?? refs.get(refNameOf(name));
      const oid = await this.objects.writeSchema(parent, input);
      if (await this.move(refNameOf(name), from, oid)) return;
      throw conflict('schema_changed', 'The schema was changed by another program meanwhile; try again.');
    });
  }

  async deleteDraft(series: string, version: string): Promise<void> {
    const draft = draftNamed(this.index.of(series), version, 'published_version');
    await timed(this.onOperation, 'delete', async () => {
      await guardDisk(async () => {
        if (!(await this.move(draft.name, draft.oid, null))) throw draftMoved();
      });
      await this.refresh();
    });
  }

  withdraw(series: string, version: string, by: Withdrawing): Promise<VersionDetails> {
    return withdraw(this.taker, { series, version }, by);
  }

  offerAgain(series: string, version: string): Promise<VersionDetails> {
    return offerAgain(this.taker, { series, version });
  }

  moveRollout(key: string, move: RolloutMove & { expected: string | null }): Promise<RolloutRef> {
    return moveRollout(this.taker, key, move);
  }

  async deleteVersions(refs: readonly VersionRef[]): Promise<void> {
    if (refs.length === 0) return;
    const { hasSeries } = this.repository.kind;
    for (const { series, version } of refs) requireRemovable(this.index.of(series), version, hasSeries);
    await this.tools.beforeWrite();
    try {
      await timed(this.onOperation, 'delete', () => guardDisk(() => this.repository.removeVersions(refs)));
    } finally {
      // Some of many may be gone even if the removal has failed.
      await this.refresh();
    }
  }

  takeTags(tags: readonly TakenTag[], load: Parameters<typeof takeTags>[2]): ReturnType<typeof takeTags> {
    const { repository, tools } = this;
    const move = ({ name, from, to }: RefMove, entry: PlannedEntry) => this.move(name, from, to, { entry });
    const taker = { ...tools, repository, move, refresh: () => this.refresh() };
    return timed(this.onOperation, 'publish', () => takeTags(taker, tags, load));
  }

  takePushes(pushes: readonly PlannedPush[], load: (() => AsyncIterable<GivenObject>) | null): Promise<void> {
    const { repository, tools } = this;
    const isDraft = pushes.every(({ to }) => to === null || 'draft' in to);
    return timed(this.onOperation, isDraft ? 'draft' : 'publish', async () => {
      await guardDisk(async () => {
        if (repository.absent && load) await tools.create();
        if (load) await tools.objects.writeAll(repository.gitdir, load());
        await this.moveTogether(await planMoves(this.taker, pushes));
      });
      await this.refresh();
      for (const { series, version, to } of pushes)
        if ((repository.known?.of(series).get(version) === undefined) !== (to === null))
          throw damagedRepository();
    });
  }

  copyScope(names: ScopeNames): Promise<void> {
    return this.moveScope((tools) => copyScope(tools, names));
  }

  leaveScope(names: ScopeNames, by: Signature | null): Promise<void> {
    return this.moveScope((tools) => leaveScope(tools, names, by));
  }

  dropFromBranch(scope: ParameterScope, by: Signature): Promise<void> {
    return this.moveScope((tools) => dropFromBranch(tools, scope, by));
  }

  plan(entry: PlannedEntry): void {
    this.planned = entry;
  }

  unrecorded(): { entry: PlannedEntry; commit: string | null }[] {
    const { refs } = this.repository;
    const noted = this.unrecordedNote?.read() ?? [];
    const made = noted.filter(({ move: { name, to } }) => refs.get(name) === to);
    return made.flatMap(({ move: { name }, entry }) => {
      const check = this.index.check(name);
      const commit = check?.facts?.commit ?? (check ? this.index.commitBeside(check) : null);
      // A rollout that was begun before its version was published, and cut off there, has not begun.
      return check?.rollout && commit === null ? [] : [{ entry, commit }];
    });
  }

  async dropUnrecorded(): Promise<void> {
    if (this.unrecordedNote?.isThere) await this.unrecordedNote.dropForGood();
  }

  async note(write: NotingWrite): Promise<void> {
    await this.repository.commit(write);
    this.isNoteDue = false;
    this.planned = undefined;
    // A note that stays is found again, and so is the entry that it asks for.
    if (this.unrecordedNote?.isThere) await this.unrecordedNote.drop().catch(() => undefined);
  }

  /** Notes the moves that the holder has not noted together with something of its own. */
  async noteRest(): Promise<void> {
    if (this.isNoteDue) await this.repository.commit();
  }

  private async moveScope(work: (tools: MoverTools) => Promise<void>): Promise<void> {
    const { repository, index } = this;
    const { objects } = this.tools;
    await guardDisk(() => work({ repository, index, objects, move: (...moved) => this.move(...moved) }));
    await this.refresh();
  }

  /** @param moved the only ref that was made or moved; default: read them all */
  private async refresh(moved?: string): Promise<void> {
    this.isNoteDue = true;
    await this.repository.refreshAfterWrite(this.hasMovedOthers ? undefined : moved);
    this.hasMovedOthers = false;
  }

  /** After the write the versions in memory follow, and the caller gets the version as it is. */
  private write(operation: GitOperation, name: RefName, make: () => Promise<void>): Promise<VersionDetails> {
    const { series, version } = name;
    return timed(this.onOperation, operation, async () => {
      await guardDisk(async () => {
        if (this.repository.absent) await this.tools.create();
        await make();
      });
      await this.refresh(refNameOf(name));
      // A version that cannot be read back has not been made.
      const made = this.repository.known?.of(series).get(version);
      if (made === undefined) throw damagedRepository();
      return this.repository.details(made);
    });
  }

  /** Writes the tag that publishes a draft, unless one was pushed for that. No ref leads to it yet. */
  private async writeTag(draft: VersionRef, publishing: Publishing): Promise<string> {
    const { series, version, pushed } = draft;
    if (pushed?.tag !== undefined) return pushed.tag;
    const content = await this.repository.details(draft);
    const others = this.index.of(series).versions;
    const place = { series, version, parent: this.index.parentOf(series, draft) };
    return this.objects.writeTag(
      { ...place, draft: draft.oid, pushed: draft.pushed, others },
      content,
      publishing,
    );
  }

  /** A tag that was pushed does not tell who has published the version by it, and for which node. */
  private async recordsOf(draft: VersionRef, { tagger, at, nodeId }: Publishing): Promise<PeeledMove[]> {
    const { series, version, oid: commit, pushed } = draft;
    if (pushed?.tag === undefined) return [];
    const { createdAt, creator } = pushed;
    const record = {
      createdAt,
      creator,
      pusher: tagger,
      pushedAt: at,
      ...(nodeId !== undefined && { nodeId }),
    };
    const oid = await this.objects.writePushRecord({ oid: pushed.tag, type: 'tag' }, record);
    const name = refNameOf({ series, version, status: 'Published' });
    return recordMoves(this.repository, name, { oid, commit });
  }

  /** The commit to which a tag leads. */
  private async commitOf(oid: string): Promise<string> {
    const tag = await this.tools.objects.readParsed(this.repository.gitdir, oid, 'tag');
    if (tag === null) throw damagedRepository();
    return tag.object;
  }

  /** What the functions need that write for the holder. */
  private get taker(): BesideTaker {
    return {
      ...{ repository: this.repository, writer: this.objects, index: this.index },
      make: (...made) => this.write(...made),
      beside: (operation, work) =>
        timed(this.onOperation, operation, async () => this.refresh(await guardDisk(work))),
      move: (...moved) => this.move(...moved),
    };
  }

  /** Moves the refs of many versions at once, with the notes of all their entries before. */
  private async moveTogether(moves: readonly VersionMoves[]): Promise<void> {
    const { refs } = this.repository;
    await this.tools.beforeWrite();
    await this.unrecordedNote?.write(...moves.map(({ version: move, entry }) => ({ move, entry })));
    if (!(await refs.moveAll(moves.flatMap(({ all }) => all)))) refuseMoved(this.taker, moves);
    this.hasMovedOthers = true;
  }

  private async move(
    name: string,
    from: string | null,
    to: string | null,
    { entry = this.planned, isNoted = false }: MoveFacts = {},
  ): Promise<boolean> {
    await this.tools.beforeWrite();
    if (entry && !isNoted) await this.unrecordedNote?.write({ move: { name, from, to }, entry });
    const { refs } = this.repository;
    if (!(await refs.move({ name, from, to }))) return false;
    // It stands on what was pushed, and does not hold for what others have written in its place.
    const records = from === null ? [] : recordMoves(this.repository, name, null);
    for (const record of records) await refs.move(record);
    this.hasMovedOthers ||= records.length > 0;
    return true;
  }
}
