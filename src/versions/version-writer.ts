/** Writes versions of one repository as Git objects: files, commits and tags. No ref is moved here. */

import { readCommit, type Signature, sign } from '../git/commits.ts';
import type { ObjectStore } from '../git/objects.ts';
import { readText, readTrailers, tidyText, writeMessage } from '../git/trailers.ts';
import { writeTree } from '../git/tree.ts';
import { editTree } from '../git/tree-edit.ts';
import type { RepositoryRef, StoredFile } from '../git/types.ts';
import { refuseGone } from '../lib/client-gone.ts';
import { toTimestamp } from '../lib/clock.ts';
import {
  creationTrailers,
  type DraftSite,
  editTrailers,
  firstTrailers,
  originOf,
  placeDraft,
} from './draft-chain.ts';
import {
  type ContentTrailers,
  labelOf,
  NODE_TRAILER,
  SCHEMA_SERIES,
  tagNameOf,
  type VersionKind,
} from './kinds.ts';
import { pushRecordTag } from './push-records.ts';
import { writeRollout } from './rollout-branch.ts';
import type {
  DraftChange,
  DraftContent,
  DraftEdit,
  DraftInput,
  Publishing,
  PushRecord,
  RolloutMove,
  VersionDetails,
  VersionRef,
  Withdrawing,
} from './types.ts';
import type { VersionObjects } from './version-objects.ts';
import { withdrawalTag } from './withdrawal-tags.ts';

/** Where a version stands in its repository, and which commit goes before it. */
export interface WrittenVersion {
  series: string;
  version: string;
  parent: string | null;
}

/** A draft that is to be published, among the versions of its series. */
interface PublishedVersion extends WrittenVersion, Pick<VersionRef, 'pushed'> {
  draft: string;
  others: readonly VersionRef[];
}

/** The id of the root's tree, and what is in it. */
interface WrittenFiles {
  tree: string;
  files: readonly StoredFile[];
}
type VersionLabel = Pick<WrittenVersion, 'series' | 'version'>;
type Said = Pick<DraftContent, 'message'>;

interface CommitFrom {
  author: Signature;
  committer: Signature;
  parent: string | null;
}

/** The repository that is written to. Its folder is another one while it is being made. */
interface WriterSite extends DraftSite {
  ref: RepositoryRef;
  kind: VersionKind;
}

interface WriterTools {
  objects: ObjectStore;
  versions: VersionObjects;
}

export class VersionWriter {
  private readonly objects: ObjectStore;
  private readonly versions: VersionObjects;
  private readonly kind: VersionKind;
  readonly name: string;
  readonly gitdir: string;
  private readonly shallow: WriterSite['shallow'];

  constructor({ objects, versions }: WriterTools, { ref, kind, gitdir, shallow }: WriterSite) {
    this.objects = objects;
    this.versions = versions;
    this.kind = kind;
    this.name = ref.name;
    this.gitdir = gitdir;
    this.shallow = shallow;
  }

  /** Writes the files, trees and commit of a draft and flushes them. Gives the id of the commit. */
  async writeDraft({ series, parent }: WrittenVersion, draft: DraftInput): Promise<string> {
    const author = sign(draft.author, draft.at);
    const message = this.draftMessage({ series, version: draft.version }, draft, firstTrailers(draft.at));
    const from = { author, committer: author, parent };
    return this.writeCommit(series, await this.writeFiles(draft), message, from);
  }

  /**
   * Does what `writeDraft` does, with the author and the time of the draft that is replaced, and with its message unless
   * there is a new one.
   */
  async amendDraft(
    written: WrittenVersion & Pick<VersionRef, 'pushed'> & { replaced: string },
    change: DraftChange,
  ): Promise<string> {
    const before = await readCommit(this.objects, this.gitdir, written.replaced);
    const { createdAt, creator } = written.pushed ?? originOf(readTrailers(before.message), before.author);
    // What is replaced may be an edit, whose author did not make the draft.
    const author = { ...before.author, ...creator, timestamp: Math.floor(createdAt / 1_000) };
    const committer = sign(change.committer, change.at);
    const from = { author, committer, parent: written.parent };
    const content = { ...change, message: change.message ?? readText(before.message) ?? undefined };
    const message = this.draftMessage(written, content, firstTrailers(createdAt));
    return this.writeCommit(written.series, await this.writeFiles(change), message, from);
  }

  /**
   * Writes the changed file, its folders, and a commit on top of the draft's, and flushes them. Gives the id of the
   * commit.
   */
  async editDraft(
    name: VersionLabel & Pick<VersionRef, 'pushed'>,
    { commit: parent, entryPoint, files, message: why }: VersionDetails,
    { path, content, author: person, at, gone }: DraftEdit,
  ): Promise<string> {
    const { objects, gitdir } = this;
    const { tree, message: said, author: before } = await readCommit(objects, gitdir, parent);
    const executable = files.find((file) => file.path === path)?.executable ?? false;
    const oid = content && (await objects.write(gitdir, 'blob', content));
    refuseGone(gone);
    const entry = oid === null ? null : { mode: executable ? '100755' : '100644', oid };
    const edited = await editTree({ objects, gitdir }, tree, path, entry);
    const others = files.filter((file) => file.path !== path);
    const stored = oid === null ? others : [...others, { path, oid, executable }];
    const below = readTrailers(said);
    const origin = name.pushed ?? originOf(below, before);
    const trailers = editTrailers(origin, below, name.pushed ? parent : null);
    const message = this.draftMessage(name, { entryPoint, message: why ?? undefined }, trailers);
    const author = sign(person, at);
    return this.writeCommit(name.series, { tree: edited, files: stored }, message, {
      author,
      committer: author,
      parent,
    });
  }

  /**
   * Writes the tag that publishes a draft and flushes it. The draft's commits are first moved onto `parent` if need be,
   * unless they were pushed. Gives the id of the tag. No ref leads to it yet.
   */
  async writeTag(
    { series, version, parent, draft, pushed, others }: PublishedVersion,
    content: ContentTrailers,
    { tagger, at, message: said = '', nodeId, changeSet }: Publishing,
  ): Promise<string> {
    const known = this.versions.peek(this.kind, { series, status: 'Draft', oid: draft });
    const isInPlace = pushed !== undefined || (known !== undefined && known.parent === parent);
    const commit = isInPlace ? draft : await this.place(draft, parent, others);
    // The commit of a pushed draft does not tell who pushed it.
    const trailers = {
      ...this.kind.trailers({ series, version }, content),
      ...(pushed && creationTrailers(pushed)),
      ...(nodeId !== undefined && { [NODE_TRAILER]: nodeId }),
      ...(changeSet !== undefined && { 'Change-Set': String(changeSet) }),
    };
    const why = tidyText(said);
    const message = this.message({ series, version }, { ...trailers, 'Published-At': toTimestamp(at) }, why);
    const [tag, signature] = [tagNameOf(series, version), sign(tagger, at)];
    const oid = await this.tag(tag, commit, message, signature);
    // The next look at the refs reads the tag. This is what it would find.
    const says = {
      commit,
      stated: true,
      tag,
      nodeId: nodeId ?? null,
      publishedAt: at,
      publishedBy: signature.name,
    };
    const ref = { series, status: 'Published', oid } as const;
    const entryPoint = content.entryPoint || null;
    const made = pushed && { createdAt: pushed.createdAt, createdBy: sign(pushed.creator, 0).name };
    const told = { ...says, ...made, entryPoint, message: why ?? known?.message ?? null };
    if (known) this.versions.remember(this.kind, ref, { ...known, ...told });
    return oid;
  }

  /** Writes the tag that withdraws a version and flushes it. Gives its id. No ref leads to it yet. */
  writeWithdrawal(ref: VersionRef, by: Withdrawing): Promise<string> {
    return this.objects.writeTag(this.gitdir, withdrawalTag(ref, by));
  }

  /** Writes the commit of a transition of a rollout and flushes it. Gives its id. No ref leads to it yet. */
  writeRollout(parent: string | null, move: RolloutMove): Promise<string> {
    return writeRollout(this.objects, this, parent, move);
  }

  /** Writes the record of a push and flushes it. Gives its id. No ref leads to it yet. */
  writePushRecord(target: { oid: string; type: 'commit' | 'tag' }, record: PushRecord): Promise<string> {
    return this.objects.writeTag(this.gitdir, pushRecordTag(target, record));
  }

  /** Writes a schema, which is published at once, with its tag, and flushes both. Gives the id of the tag. */
  async writeSchema(parent: string | null, input: DraftInput): Promise<string> {
    const { version, author: person, at } = input;
    const author = sign(person, at);
    const named = { series: SCHEMA_SERIES, version };
    const message = this.message(named, {
      ...this.kind.trailers(named, input),
      'Created-At': toTimestamp(at),
      'Published-At': toTimestamp(at),
    });
    const from = { author, committer: author, parent };
    const commit = await this.writeCommit(SCHEMA_SERIES, await this.writeFiles(input), message, from);
    return this.tag(tagNameOf(SCHEMA_SERIES, version), commit, message, author);
  }

  private place(draft: string, parent: string | null, others: readonly VersionRef[]): Promise<string> {
    const published = others.flatMap(({ status, commit }) => (status === 'Published' && commit) || []);
    const { gitdir, shallow } = this;
    return placeDraft(this.objects, { gitdir, shallow }, draft, { parent, published: new Set(published) });
  }

  private tag(tag: string, object: string, message: string, tagger: Signature) {
    return this.objects.writeTag(this.gitdir, { object, type: 'commit', tag, tagger, message });
  }

  private async writeFiles({ files, gone }: DraftContent): Promise<WrittenFiles> {
    if (!('commit' in files)) return writeTree(this.objects, this.gitdir, files, gone);
    const { tree } = await readCommit(this.objects, this.gitdir, files.commit);
    return { tree, files: files.files };
  }

  private async writeCommit(
    series: string,
    { tree, files }: WrittenFiles,
    message: string,
    { author, committer, parent }: CommitFrom,
  ): Promise<string> {
    const commit = { message, tree, parent: parent === null ? [] : [parent], author, committer };
    const oid = await this.objects.writeCommit(this.gitdir, commit);
    // The next look at the refs reads the draft. This is what it would find.
    this.versions.rememberDraft(this.kind, { series, oid }, commit, files);
    return oid;
  }

  private draftMessage(name: VersionLabel, content: ContentTrailers & Said, origin: Record<string, string>) {
    const trailers = { ...this.kind.trailers(name, content), ...origin };
    return this.message(name, trailers, tidyText(content.message ?? ''));
  }

  /** The subject says what the commit or the tag is of: `web 1.1.0`, or `web Environment/prod 1.1.0`. */
  private message(
    { series, version }: VersionLabel,
    trailers: Readonly<Record<string, string>>,
    text: string | null = null,
  ): string {
    return writeMessage(`${this.name} ${labelOf(series, version)}`, trailers, text);
  }
}
