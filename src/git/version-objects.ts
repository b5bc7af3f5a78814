/** A version as Git objects: how its files, commit and tag are written, and read back as details. */

import type { TagObject } from 'isomorphic-git';
import { showText } from '../domain/safe-path.ts';
import { sortByBytes } from '../lib/byte-order.ts';
import { toTimestamp } from '../lib/clock.ts';
import { type CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import { Pace } from '../lib/pace.ts';
import { readCommit, rebaseCommit, type Signature, sign } from './commits.ts';
import type { ObjectStore } from './objects.ts';
import { type OnOperation, timed } from './operations.ts';
import { preciseTime, readTrailers, writeMessage } from './trailers.ts';
import { decodeTree, type TreeEntry, writeTree } from './tree.ts';
import type { DraftChange, DraftContent, DraftInput, Person, StoredFile, VersionRef } from './types.ts';

export type ObjectRef = Pick<VersionRef, 'status' | 'oid'>;

/** What the objects of one version say themselves; never changes for the same id. */
export interface VersionContent {
  commit: string;
  /** Null: neither tag nor commit names one. */
  entryPoint: string | null;
  /** Whether the tag itself, or the commit of a draft, names entry point or scope, as all do that we make. */
  stated: boolean;
  /** Of parameters: whether the tag or the commit says that the scope is skipped on purpose. */
  passthrough: boolean;
  /** What the tag object calls itself, which need not be what its ref is called; null of a draft. */
  tag: string | null;
  /** Sorted by the bytes of their paths. */
  files: readonly StoredFile[];
  createdAt: number;
  createdBy: string;
  publishedAt: number | null;
  publishedBy: string | null;
}

/** What bars whole objects from being a version's, which stock git may have made. */
export interface Flaw {
  fault: string;
  stated: boolean;
  tag: string | null;
}

/** Null: all files; else these paths alone, in folders that may hold much else. */
type Wanted = readonly string[] | null;

interface Gathering {
  wanted: Wanted;
  files: StoredFile[];
  entries: number;
  /** By oid: a folder may stand in many places, and is read once. */
  trees: Map<string, TreeEntry[]>;
  pace: Pace;
}

/** What names the scope of a parameter file, and says that it has none on purpose. */
export const SCOPE_TRAILER = 'Parameter-Scope';
export const PASSTHROUGH_TRAILER = 'Passthrough';

const MAX_TAG_CHAIN = 8;
/** Far more than anybody may upload; a few hostile trees can name each other to make billions. */
const MAX_ENTRIES = 100_000;
const MAX_PREFIX = 1_024;

export class VersionObjects {
  private readonly objects: ObjectStore;
  private readonly onOperation: OnOperation;
  private readonly contents: CountedCache<VersionContent>;

  constructor(objects: ObjectStore, cacheBytes: number, onOperation: OnOperation) {
    this.objects = objects;
    this.onOperation = onOperation;
    this.contents = new CountedCache({ maxSize: Math.max(1, cacheBytes), sizeCalculation: sizeOfContent });
  }

  get facts(): CacheFacts {
    return this.contents.facts;
  }

  /**
   * What a version's ref leads to, cached by its oid. Null for a lightweight tag, and for a draft branch that
   * leads to no commit; `repository_damaged` when any object but a file's is missing or broken. Of the files only
   * the `wanted` ones are looked for, if some are named.
   */
  async read(
    gitdir: string,
    { status, oid }: ObjectRef,
    wanted: Wanted = null,
  ): Promise<VersionContent | Flaw | null> {
    const key = keyOf({ status, oid }, wanted);
    const known = this.contents.get(key);
    if (known) return known;
    const read = await timed(this.onOperation, 'read_version', () =>
      status === 'Draft' ? this.readDraft(gitdir, oid, wanted) : this.readTag(gitdir, oid, wanted),
    );
    if (isContent(read)) this.contents.set(key, read);
    return read;
  }

  /** Writes files, trees and commit of a draft, flushed; gives the commit. */
  async writeDraft(gitdir: string, draft: DraftInput, parent: string | null): Promise<string> {
    const author = sign(draft.author, draft.at);
    return this.writeContent(gitdir, draft, { author, committer: author, createdAt: draft.at, parent });
  }

  /** As `writeDraft`, with the author and the time of the draft that it is to replace. */
  async amendDraft(
    gitdir: string,
    draft: ObjectRef & { version: string },
    change: DraftChange,
    parent: string | null,
  ): Promise<string> {
    const commit = await readCommit(this.objects, gitdir, draft.oid);
    const createdAt = preciseTime(readTrailers(commit.message).get('created-at'), commit.author.timestamp);
    const committer = sign(change.committer, change.at);
    const content = { ...change, version: draft.version };
    return this.writeContent(gitdir, content, { author: commit.author, committer, createdAt, parent });
  }

  /**
   * Writes the tag object that publishes a commit, flushed; gives its id. No ref leads to it yet.
   * @param version `draft` is the commit as it was a draft's: of the same content, with another parent perhaps
   */
  async writeTag(
    gitdir: string,
    version: { version: string; commit: string; entryPoint: string; draft: string },
    tagger: Person,
    at: number,
  ): Promise<string> {
    const { commit, entryPoint } = version;
    const message = writeMessage(`Version ${version.version}`, {
      'Entry-Point': entryPoint,
      'Published-At': toTimestamp(at),
    });
    const tag = `v${version.version}`;
    const signature = sign(tagger, at);
    const written = { object: commit, type: 'commit', tag, tagger: signature, message } as const;
    const oid = await this.objects.writeTag(gitdir, written);
    const known = this.contents.get(keyOf({ status: 'Draft', oid: version.draft }, null));
    // As reading it would find, which is what the next look at the refs does.
    const says = { commit, entryPoint, stated: true, tag, publishedAt: at, publishedBy: signature.name };
    if (known) this.contents.set(keyOf({ status: 'Published', oid }, null), { ...known, ...says });
    return oid;
  }

  /** As `rebaseCommit`. */
  async rebase(gitdir: string, oid: string, parent: string | null): Promise<string> {
    return rebaseCommit(this.objects, gitdir, oid, parent);
  }

  private async writeContent(
    gitdir: string,
    { version, entryPoint, files, gone }: DraftContent & { version: string },
    from: { author: Signature; committer: Signature; createdAt: number; parent: string | null },
  ): Promise<string> {
    const { author, committer, createdAt } = from;
    const message = writeMessage(`Draft ${version}`, {
      'Entry-Point': entryPoint,
      'Created-At': toTimestamp(createdAt),
    });
    const tree = await writeTree(this.objects, gitdir, files, gone);
    const parent = from.parent === null ? [] : [from.parent];
    return this.objects.writeCommit(gitdir, { message, tree, parent, author, committer });
  }

  private async readTag(gitdir: string, oid: string, wanted: Wanted): Promise<VersionContent | Flaw | null> {
    const tag = await this.objects.readParsed(gitdir, oid, 'tag');
    if (tag === null) return null;
    const trailers = readTrailers(tag.message);
    const entryPoint = trailers.get('entry-point');
    const says = { stated: isStated(trailers), tag: tag.tag };
    const commit = await this.peel(gitdir, tag);
    const content = commit && (await this.readDraft(gitdir, commit, wanted));
    if (!content) return { fault: 'The tag does not lead to a commit', ...says };
    if (!isContent(content)) return { ...content, ...says };
    // A tag of the first years of Git has no tagger.
    const signature = tag.tagger as Signature | undefined;
    const tagger = signature && isTime(signature.timestamp) ? signature : null;
    return {
      ...content,
      ...says,
      entryPoint: entryPoint ?? content.entryPoint,
      passthrough: isPassthrough(trailers) || content.passthrough,
      publishedAt: tagger ? preciseTime(trailers.get('published-at'), tagger.timestamp) : content.createdAt,
      publishedBy: tagger?.name ?? content.createdBy,
    };
  }

  private async readDraft(
    gitdir: string,
    oid: string,
    wanted: Wanted,
  ): Promise<VersionContent | Flaw | null> {
    const commit = await this.objects.readParsed(gitdir, oid, 'commit');
    if (commit === null) return null;
    const trailers = readTrailers(commit.message);
    const entryPoint = trailers.get('entry-point') ?? null;
    const says = { stated: isStated(trailers), tag: null };
    // What isomorphic-git takes apart may lack what every commit has.
    const author = commit.author as Signature | undefined;
    if (!author || !isTime(author.timestamp) || !commit.tree)
      return { fault: 'The commit is malformed', ...says };
    const files: StoredFile[] = [];
    const into = { wanted, files, entries: 0, trees: new Map(), pace: new Pace() };
    const fault = await this.collectFiles(gitdir, commit.tree, '', into);
    if (fault !== null) return { fault, ...says };
    return {
      commit: oid,
      entryPoint,
      ...says,
      passthrough: isPassthrough(trailers),
      files: sortByBytes(files, ({ path }) => path),
      createdAt: preciseTime(trailers.get('created-at'), author.timestamp),
      createdBy: author.name,
      publishedAt: null,
      publishedBy: null,
    };
  }

  /** What the tag names, through tags of tags; null when they are too many, or it is no commit. */
  private async peel(gitdir: string, first: TagObject): Promise<string | null> {
    let tag: TagObject | null = first;
    for (let step = 0; tag !== null && step < MAX_TAG_CHAIN; step += 1) {
      if (tag.type === 'commit') return tag.object;
      tag = tag.type === 'tag' ? await this.objects.readParsed(gitdir, tag.object, 'tag') : null;
    }
    return null;
  }

  /** Gathers all files below a tree; gives the fault of the first entry that no version may hold, or null. */
  private async collectFiles(
    gitdir: string,
    tree: string,
    prefix: string,
    into: Gathering,
  ): Promise<string | null> {
    const entries = into.trees.get(tree) ?? decodeTree(await this.objects.readBytes(gitdir, tree, 'tree'));
    if (entries === null) return 'A folder is malformed';
    into.trees.set(tree, entries);
    into.entries += entries.length;
    if (into.entries > MAX_ENTRIES || prefix.length > MAX_PREFIX)
      return 'There are too many files and folders';
    for (const { mode, name, oid } of entries) {
      if (into.pace.isDue) await into.pace.rest();
      const path = prefix + name;
      if (!isWanted(path, into.wanted)) continue;
      if (/^0?40000$/.test(mode)) {
        const fault = await this.collectFiles(gitdir, oid, `${path}/`, into);
        if (fault !== null) return fault;
      } else if (/^100[0-7]{3}$/.test(mode)) into.files.push({ path, oid });
      else return `"${showText(path)}" is a link or a submodule`;
    }
    return null;
  }
}

/** With the status: a lightweight tag may name the commit of a draft, and is no version for that. */
function keyOf({ status, oid }: ObjectRef, wanted: Wanted): string {
  return `${status} ${oid} ${wanted?.join(' ') ?? ''}`;
}

export function isContent(read: VersionContent | Flaw | null): read is VersionContent {
  return read !== null && !('fault' in read);
}

/** Whether seconds since the epoch name a moment that a date can hold. */
function isTime(seconds: number): boolean {
  return Number.isFinite(new Date(seconds * 1_000).getTime());
}

function isWanted(path: string, wanted: Wanted): boolean {
  return wanted === null || wanted.some((other) => other === path || other.startsWith(`${path}/`));
}

function isStated(trailers: ReadonlyMap<string, string>): boolean {
  return trailers.has('entry-point') || trailers.has(SCOPE_TRAILER.toLowerCase());
}

function isPassthrough(trailers: ReadonlyMap<string, string>): boolean {
  return trailers.get(PASSTHROUGH_TRAILER.toLowerCase()) === 'true';
}

function sizeOfContent(content: VersionContent): number {
  return content.files.reduce((bytes, { path }) => bytes + 2 * path.length + 160, 600);
}
