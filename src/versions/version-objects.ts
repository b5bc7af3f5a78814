/** Reads a version from its Git objects: its tag, its commit and its files. */

import { showText } from '../domain/safe-path.ts';
import { type CommitObject, isSigned, type TagObject } from '../git/commits.ts';
import type { ObjectStore } from '../git/objects.ts';
import { type OnOperation, timed } from '../git/operations.ts';
import { signatureOfCommit, signatureOfTag } from '../git/signature-kinds.ts';
import { preciseTime, readText, readTrailers } from '../git/trailers.ts';
import { decodeTree, FOLDER_MODE, type TreeEntry } from '../git/tree.ts';
import type { StoredFile } from '../git/types.ts';
import { sortByBytes } from '../lib/byte-order.ts';
import { type CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import { Pace } from '../lib/pace.ts';
import { originOf, statedOrigin } from './draft-chain.ts';
import {
  ENTRY_POINT_TRAILER,
  NODE_TRAILER,
  PASSTHROUGH_TRAILER,
  SCOPE_TRAILER,
  type VersionKind,
} from './kinds.ts';
import type { VersionDetails, VersionRef } from './types.ts';

export type ObjectRef = Pick<VersionRef, 'series' | 'status' | 'oid'>;

/** What the objects of one version say. It never changes for the same id. */
export interface VersionContent
  extends Omit<VersionDetails, 'version' | 'status' | 'entryPoint' | 'withdrawn' | 'rollout'> {
  /** The first parent of a draft's commit. A tag that we make says that of its draft, which may have been moved since. */
  parent: string | null;
  /** Null when neither the tag nor the commit names one. */
  entryPoint: string | null;
  /** The node for which the tag says that it was published. */
  nodeId: string | null;
  /** Whether the tag, or the commit of a draft, names an entry point or a scope. All that we make do. */
  stated: boolean;
  /** The name inside the tag object, which may differ from the name of its ref. Null for a draft. */
  tag: string | null;
}

/** The reason why whole objects, which stock git may have made, are no version. */
export interface Flaw {
  fault: string;
  stated: boolean;
  tag: string | null;
}

/** What a commit says of a version. */
type WrittenCommit = Pick<CommitObject, 'message' | 'author' | 'parent' | 'gpgsig'>;

type Wanted = readonly string[] | null;

interface Gathering {
  wanted: Wanted;
  files: StoredFile[];
  entries: number;
  /** The key is the oid. A folder may stand in many places and is read once. */
  trees: Map<string, TreeEntry[]>;
  pace: Pace;
}

const MAX_TAG_CHAIN = 8;
/** Far more entries than anybody may upload. A few hostile trees can name each other to make billions. */
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
   * Reads what a version's ref leads to; the result is cached by the ref's oid. Null for a lightweight tag, and for a
   * draft branch that leads to no commit. Only files at the paths of the kind are looked for.
   * @throws HawserError `repository_damaged` when an object other than a file's is missing or broken
   */
  async read(gitdir: string, kind: VersionKind, ref: ObjectRef): Promise<VersionContent | Flaw | null> {
    const key = keyOf(kind, ref);
    const known = this.contents.get(key);
    if (known) return known;
    const wanted = kind.paths(ref.series);
    const read = await timed(this.onOperation, 'read_version', () =>
      ref.status === 'Draft'
        ? this.readCommit(gitdir, ref.oid, wanted)
        : this.readTag(gitdir, ref.oid, wanted),
    );
    if (isContent(read)) this.contents.set(key, read);
    return read;
  }

  /** Tells what reading a version would find, when its objects have just been written. */
  remember(kind: VersionKind, ref: ObjectRef, content: VersionContent): void {
    this.contents.set(keyOf(kind, ref), content);
  }

  /** As `remember`, for a draft whose commit and files have just been written. */
  rememberDraft(
    kind: VersionKind,
    { series, oid }: Pick<ObjectRef, 'series' | 'oid'>,
    commit: WrittenCommit,
    files: readonly StoredFile[],
  ): void {
    const wanted = kind.paths(series);
    const kept = files.filter(({ path }) => isWanted(path, wanted));
    this.remember(kind, { series, status: 'Draft', oid }, contentOf(oid, commit, kept));
  }

  /** The content of a version if it is in memory. */
  peek(kind: VersionKind, ref: ObjectRef): VersionContent | undefined {
    return this.contents.get(keyOf(kind, ref));
  }

  private async readTag(gitdir: string, oid: string, wanted: Wanted): Promise<VersionContent | Flaw | null> {
    const tag = await this.objects.readParsed(gitdir, oid, 'tag');
    if (tag === null) return null;
    const trailers = readTrailers(tag.message);
    const says = { stated: isStated(trailers), tag: tag.tag };
    const commit = await this.peel(gitdir, tag);
    const content = commit && (await this.readCommit(gitdir, commit, wanted));
    if (!content) return { fault: 'The tag does not lead to a commit', ...says };
    if (!isContent(content)) return { ...content, ...says };
    const { tagger } = tag;
    const origin = statedOrigin(trailers);
    return {
      ...content,
      ...says,
      ...(origin && { createdAt: origin.createdAt, createdBy: origin.creator.name }),
      entryPoint: trailers.get(ENTRY_POINT_TRAILER.toLowerCase()) ?? content.entryPoint,
      isPassthrough: isPassthrough(trailers) || content.isPassthrough,
      nodeId: trailers.get(NODE_TRAILER.toLowerCase()) ?? null,
      publishedAt: tagger ? preciseTime(trailers.get('published-at'), tagger.timestamp) : content.createdAt,
      publishedBy: tagger?.name ?? content.createdBy,
      message: readText(tag.message) ?? content.message,
      signature: signatureOfTag(tag) ?? content.signature,
    };
  }

  private async readCommit(
    gitdir: string,
    oid: string,
    wanted: Wanted,
  ): Promise<VersionContent | Flaw | null> {
    const commit = await this.objects.readParsed(gitdir, oid, 'commit');
    if (commit === null) return null;
    const says = { stated: isStated(readTrailers(commit.message)), tag: null };
    if (!isSigned(commit)) return { fault: 'The commit is malformed', ...says };
    const files: StoredFile[] = [];
    const into = { wanted, files, entries: 0, trees: new Map(), pace: new Pace() };
    const fault = await this.collectFiles(gitdir, commit.tree, '', into);
    if (fault !== null) return { fault, ...says };
    return contentOf(oid, commit, files);
  }

  /** The commit that a tag names, perhaps through other tags. Null when they are too many, or it is no commit. */
  private async peel(gitdir: string, first: TagObject): Promise<string | null> {
    let tag: TagObject | null = first;
    for (let step = 0; tag !== null && step < MAX_TAG_CHAIN; step += 1) {
      if (tag.type === 'commit') return tag.object;
      tag = tag.type === 'tag' ? await this.objects.readParsed(gitdir, tag.object, 'tag') : null;
    }
    return null;
  }

  /** Gathers all files below a tree. Gives the fault of the first entry that no version may hold, or null. */
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
      if (mode === FOLDER_MODE) {
        const fault = await this.collectFiles(gitdir, oid, `${path}/`, into);
        if (fault !== null) return fault;
      } else if (/^100[0-7]{3}$/.test(mode)) into.files.push({ path, oid, executable: isExecutable(mode) });
      else return `"${showText(path)}" is a link or a submodule`;
    }
    return null;
  }
}

function contentOf(oid: string, written: WrittenCommit, files: readonly StoredFile[]): VersionContent {
  const { message, author, parent } = written;
  const { name, email } = author;
  const trailers = readTrailers(message);
  const { createdAt, creator } = originOf(trailers, author);
  return {
    commit: oid,
    parent: parent[0] ?? null,
    entryPoint: trailers.get(ENTRY_POINT_TRAILER.toLowerCase()) ?? null,
    nodeId: null,
    stated: isStated(trailers),
    tag: null,
    isPassthrough: isPassthrough(trailers),
    files: sortByBytes(files, ({ path }) => path),
    createdAt,
    createdBy: creator.name,
    author: name === '' && email === '' ? null : { name, email },
    signature: signatureOfCommit(written),
    publishedAt: null,
    publishedBy: null,
    message: readText(message),
  };
}

/** The key holds the status because a lightweight tag may name the commit of a draft, and is no version. */
function keyOf(kind: VersionKind, { series, status, oid }: ObjectRef): string {
  return `${status} ${oid} ${kind.paths(series)?.join(' ') ?? ''}`;
}

export function isContent(read: VersionContent | Flaw | null): read is VersionContent {
  return read !== null && !('fault' in read);
}

/** As git itself reads a mode: the bit of the owner decides. */
function isExecutable(mode: string): boolean {
  return (Number.parseInt(mode, 8) & 0o100) !== 0;
}

function isWanted(path: string, wanted: Wanted): boolean {
  return wanted === null || wanted.some((other) => other === path || other.startsWith(`${path}/`));
}

function isStated(trailers: ReadonlyMap<string, string>): boolean {
  return trailers.has(ENTRY_POINT_TRAILER.toLowerCase()) || trailers.has(SCOPE_TRAILER.toLowerCase());
}

function isPassthrough(trailers: ReadonlyMap<string, string>): boolean {
  return trailers.get(PASSTHROUGH_TRAILER.toLowerCase()) === 'true';
}

function sizeOfContent(content: VersionContent): number {
  const { message, author } = content;
  const said = [message, author?.name, author?.email];
  const rest = said.reduce((bytes, text) => bytes + 2 * (text?.length ?? 0), 700);
  return content.files.reduce((bytes, { path }) => bytes + 2 * path.length + 160, rest);
}
