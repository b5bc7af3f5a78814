/**
 * The branch of a scope type: one commit for each published version of its files, by the draft's author, so that
 * `git log Environment` and `git blame Environment -- prod/parameters.yaml` tell who set what and when.
 */

import { type CommitObject, readCommit } from '../git/commits.ts';
import { damagedRepository } from '../git/disk-errors.ts';
import type { History } from '../git/history.ts';
import { idOf } from '../git/loose-objects.ts';
import type { ObjectStore } from '../git/objects.ts';
import { printCommit } from '../git/printed-objects.ts';
import type { RefBackend } from '../git/ref-backend.ts';
import { MAIN } from '../git/ref-reader.ts';
import { readTrailers, writeMessage } from '../git/trailers.ts';
import { FOLDER_MODE, findEntry, type TreeEntry, withEntry } from '../git/tree.ts';
import { allSettled } from '../lib/awaitable.ts';
import { DAY, SECOND } from '../lib/clock.ts';
import { groupBy } from '../lib/group-by.ts';
import type {
  BranchSite,
  BranchState,
  BranchTools,
  BranchUpkeep,
  FormerTags,
  TreeCache,
} from './branch-upkeep.ts';
import {
  FILE_NAMES,
  labelOf,
  PASSTHROUGH_TRAILER,
  SCHEMA_SERIES,
  SCOPE_TRAILER,
  type VersionKind,
} from './kinds.ts';
import { type ParameterScope, scopesIn, seriesOf } from './parameter-files.ts';
import type { LeftOver } from './repository-index.ts';
import type { SeriesIndex, VersionRef } from './types.ts';
import { isContent, type VersionObjects } from './version-objects.ts';

/** Holds the id of the tag that a commit records, so that none is recorded twice. */
const TAG_TRAILER = 'Parameter-Tag';
/** Names the scope that a value was until the commit in which its folder got another name. */
export const FORMER_SCOPE_TRAILER = 'Former-Scope';
/** A record is looked for in so many commits, and beyond them while they are not older than the tag by this. */
const MIN_COMMITS = 100;
const SLACK = DAY / SECOND;
const ATTEMPTS = 3;

/** What a commit on the branch records. The file has its name in the folder of the scope's value. */
interface Publication {
  series: string;
  tag: string;
  subject: string;
  /** What the version's message says. */
  text: string | null;
  file: TreeEntry | null;
  author: CommitObject['author'];
  committer: CommitObject['committer'];
}

/** Begins to write an object, and gives its id. */
type Write = (type: 'tree' | 'commit', content: Buffer) => Promise<string>;

export class ScopeTypeBranches implements BranchUpkeep {
  private readonly objects: ObjectStore;
  private readonly versions: VersionObjects;
  private readonly gitdir: string;
  private readonly refs: RefBackend;
  private readonly kind: VersionKind;
  /** Folders of the branches. The one that was written last is wanted next, and may be large. */
  private readonly trees: TreeCache;
  /** Tags made here that their branch has not recorded yet, and where the branch stood before each. */
  private readonly unrecorded = new Map<string, string | null>();

  constructor({ objects, versions, trees }: BranchTools, { gitdir, refs, kind }: BranchSite) {
    this.objects = objects;
    this.versions = versions;
    this.trees = trees;
    this.gitdir = gitdir;
    this.refs = refs;
    this.kind = kind;
  }

  isBehind({ index }: BranchState): boolean {
    return index.leftOvers.length > 0;
  }

  announce(series: string, tag: string): void {
    this.unrecorded.set(tag, this.tip(scopeTypeOf(series)));
  }

  forget(): void {
    this.unrecorded.clear();
  }

  /**
   * Adds a commit for each to the branch of the scope type, then removes the draft branches. The versions of a type are
   * taken in the order of their publishing, and none before its forerunner, so that no record is looked for in vain.
   */
  async tidy(
    { index }: BranchState,
    dropDrafts: (lefts: readonly LeftOver[]) => Promise<void>,
    failed: (error: unknown) => void,
  ): Promise<boolean> {
    const byType = groupBy(index.leftOvers, ({ series }) => scopeTypeOf(series));
    let hasDone = false;
    for (const [type, leftOvers] of byType) {
      try {
        const inOrder = await this.inOrder(leftOvers);
        await this.record(type, inOrder);
        await dropDrafts(inOrder);
        for (const { tag } of inOrder) this.unrecorded.delete(tag.oid);
        hasDone = true;
      } catch (error) {
        failed(error);
      }
    }
    return hasDone;
  }

  /** Only the series of removed versions and the branches of their types can lead to what is removed. */
  async endsOfHistory(
    { index }: BranchState,
    removed: readonly VersionRef[],
    history: History,
    former: FormerTags,
  ): Promise<string[]> {
    const names = new Set(removed.map(({ name }) => name));
    const touched = [...new Set(removed.map(({ series }) => series))];
    const kept = touched.flatMap((series) =>
      index.of(series).versions.filter(({ name }) => !names.has(name)),
    );
    const others = commitsOf([...kept, ...former.kept]);
    const ends = await history.boundaries({ whole: [], others }, commitsOf([...removed, ...former.gone]));
    const keptTags = new Set(former.kept.map(({ oid }) => oid));
    for (const { name, oid } of index.allChecks()) if (!names.has(name)) keptTags.add(oid);
    const published = removed.filter(
      ({ status, series }) => status === 'Published' && series !== SCHEMA_SERIES,
    );
    for (const type of new Set(published.map(({ series }) => scopeTypeOf(series)))) {
      const end = await this.boundary(type, history, keptTags);
      if (end !== null) ends.push(end);
    }
    return ends;
  }

  /** Where the branch stands; null where there is none yet. */
  private tip(scopeType: string): string | null {
    return this.refs.get(branchOf(scopeType));
  }

  private async inOrder(leftOvers: readonly LeftOver[]): Promise<readonly LeftOver[]> {
    if (leftOvers.length < 2) return leftOvers;
    const dated = leftOvers.map(async (left) => {
      const content = await this.contentOf(left);
      return { left, at: isContent(content) ? (content.publishedAt ?? 0) : 0 };
    });
    return (await Promise.all(dated)).sort((a, b) => a.at - b.at).map(({ left }) => left);
  }

  private contentOf({ series, tag }: LeftOver) {
    const ref = { series, status: 'Published', oid: tag.oid } as const;
    return this.versions.read(this.gitdir, this.kind, ref);
  }

  /** Adds the commits of published versions unless they are there, as another process on the same disk may do the same. */
  private async record(type: string, lefts: readonly LeftOver[]): Promise<void> {
    const branch = branchOf(type);
    const publications: Publication[] = [];
    for (const left of lefts) publications.push(await this.read(left));
    for (let attempt = 1; ; attempt += 1) {
      const tip = this.tip(type);
      const lacking: Publication[] = [];
      // Where the branch stood before the version was published may be known.
      for (const publication of publications)
        if (!(await this.holds(tip, this.unrecorded.get(publication.tag), publication)))
          lacking.push(publication);
      if (lacking.length === 0) return;
      const commit = await this.write(lacking, tip);
      if (await this.refs.moveForGood({ name: branch, from: tip, to: commit })) return;
      // Another program moved the branch meanwhile.
      if (attempt === ATTEMPTS) throw new Error(`the branch ${branch} does not hold still`);
    }
  }

  private async read(left: LeftOver): Promise<Publication> {
    const { series, version, tag } = left;
    const { gitdir } = this;
    const content = await this.contentOf(left);
    const object = await this.objects.readParsed(gitdir, tag.oid, 'tag');
    if (!isContent(content) || object === null) throw damagedRepository();
    const { author, committer } = await readCommit(this.objects, gitdir, content.commit);
    const [file] = content.files;
    return {
      series,
      tag: tag.oid,
      subject: labelOf(series, version),
      text: content.message,
      file: file ? { mode: '100644', name: file.path.split('/').at(-1) ?? '', oid: file.oid } : null,
      author,
      committer: object.tagger ?? committer,
    };
  }

  private async holds(
    tip: string | null,
    since: string | null | undefined,
    { tag, committer }: Publication,
  ): Promise<boolean> {
    const shallow = await this.refs.shallow();
    let next: string | null = tip;
    for (let seen = 0; next !== null && next !== since; seen += 1) {
      const commit: CommitObject = await readCommit(this.objects, this.gitdir, next);
      if (readTrailers(commit.message).get(TAG_TRAILER.toLowerCase()) === tag) return true;
      if (seen >= MIN_COMMITS && commit.committer.timestamp < committer.timestamp - SLACK) return false;
      next = shallow.has(next) ? null : (commit.parent[0] ?? null);
    }
    return false;
  }

  /**
   * The commit at which the branch's history must end so that none of its trees holds what a removed version set: the
   * one that put something else in its place. Null when nothing must be cut off. The content of a removed version
   * that is still the latest stays at the tip until the next version comes.
   */
  private async boundary(
    scopeType: string,
    history: History,
    keptTags: ReadonlySet<string>,
  ): Promise<string | null> {
    const tip = this.tip(scopeType);
    if (tip === null) return null;
    const newer = new Map<string | null, number>();
    const commits: string[] = [];
    let end = Number.POSITIVE_INFINITY;
    for await (const { oid, commit } of history.firstParents(tip)) {
      const trailers = readTrailers(commit.message);
      const [scope, tag, former] = [SCOPE_TRAILER, TAG_TRAILER, FORMER_SCOPE_TRAILER].map((name) =>
        trailers.get(name.toLowerCase()),
      );
      if (scope !== undefined) {
        // The type may have had another name.
        const value = scopeValueOf(scope);
        const replaced = newer.get(value);
        if (tag !== undefined && !keptTags.has(tag)) end = Math.min(end, replaced ?? 0);
        newer.set(value, commits.length);
        // What the value had by its former name stayed until something took its place by the new one.
        if (former !== undefined) newer.set(scopeValueOf(former), replaced ?? 0);
      }
      commits.push(oid);
    }
    // Nothing is cut off where history ends anyway.
    return end < commits.length - 1 ? (commits[end] ?? null) : null;
  }

  /** @returns the commit of the last of them */
  private async write(publications: readonly Publication[], tip: string | null): Promise<string | null> {
    const { gitdir, objects } = this;
    let tree = tip === null ? null : (await readCommit(objects, gitdir, tip)).tree;
    let last = tip;
    // They are many where much was published at once, and do not wait for the flushes of each other.
    const writes: Promise<unknown>[] = [];
    const made = new Map<string, Buffer>();
    const write: Write = async (type, content) => {
      const oid = await idOf(type, content);
      if (type === 'tree') made.set(oid, content);
      const written = objects.write(gitdir, type, content);
      written.catch(() => undefined);
      writes.push(written);
      return oid;
    };
    const read = async (oid: string) =>
      made.get(oid) ?? this.trees.get(oid) ?? objects.readBytes(gitdir, oid, 'tree');
    try {
      for (const { series, tag, subject, text, file, author, committer } of publications) {
        tree = await writeRoot({ read, write }, tree, scopeValueOf(series), file);
        const trailers = {
          [SCOPE_TRAILER]: series,
          [TAG_TRAILER]: tag,
          ...(file === null ? { [PASSTHROUGH_TRAILER]: 'true' } : {}),
        };
        const message = writeMessage(file === null ? `${subject} (passthrough)` : subject, trailers, text);
        const commit = { message, tree, parent: last === null ? [] : [last], author, committer };
        last = await write('commit', Buffer.from(printCommit(commit)));
      }
    } finally {
      await allSettled(writes);
    }
    for (const [oid, content] of made) this.trees.set(oid, content);
    return last;
  }
}

/** Writes the tree of the whole branch with this file, or none, for one value. Everything else stays. */
async function writeRoot(
  { read, write }: { read(oid: string): Promise<Buffer>; write: Write },
  tree: string | null,
  value: string | null,
  file: TreeEntry | null,
): Promise<string> {
  const readOrNone = async (oid: string | null) => (oid === null ? Buffer.alloc(0) : read(oid));
  const root = await readOrNone(tree);
  if (value === null) return write('tree', replaceFile(root, file));
  const inner = findEntry(root, value);
  const folder = inner?.mode === FOLDER_MODE ? inner.oid : null;
  const content = replaceFile(await readOrNone(folder), file);
  const oid = content.length === 0 ? null : await write('tree', content);
  return write('tree', replace(root, value, oid === null ? null : { mode: FOLDER_MODE, name: value, oid }));
}

/** The folder of one value with this file, or none, in place of the file that stood there. */
function replaceFile(folder: Buffer, file: TreeEntry | null): Buffer {
  const emptied = FILE_NAMES.reduce((content, name) => replace(content, name, null), folder);
  return file === null ? emptied : replace(emptied, file.name, file);
}

function replace(folder: Buffer, name: string, entry: TreeEntry | null): Buffer {
  const content = withEntry(folder, name, entry);
  if (content === null) throw damagedRepository();
  return content;
}

/**
 * The branch that a clone of parameters checks out: that of the first scope type that has one. Where none has, it is a
 * branch that does not exist.
 * @param types the names of the scope types by precedence
 */
export function branchToCheckOut(index: SeriesIndex, types: readonly string[]): string {
  const isPublished = (scope: ParameterScope) =>
    index.of(seriesOf(scope)).versions.some(({ status }) => status === 'Published');
  const first = types.find((type) => scopesIn(index, type).some(isPublished));
  return first === undefined ? MAIN : branchOf(first);
}

/** The full name of the branch of a scope type. */
export function branchOf(scopeType: string): string {
  return `refs/heads/${scopeType}`;
}

function scopeTypeOf(series: string): string {
  return series.split('/', 1)[0] ?? series;
}

/** The value of a scope; null for the scope type Default, which has no values. */
function scopeValueOf(series: string): string | null {
  const slash = series.indexOf('/');
  return slash < 0 ? null : series.slice(slash + 1);
}

function commitsOf(refs: readonly Pick<VersionRef, 'commit'>[]): Set<string> {
  return new Set(refs.flatMap(({ commit }) => commit ?? []));
}
