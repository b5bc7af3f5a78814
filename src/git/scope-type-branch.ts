/**
 * The branch of a scope type: one commit for each published version of its files, by the draft's author, so that
 * `git log Environment` and `git blame Environment -- prod/parameters.yaml` tell who set what and when.
 */

import type { CommitObject } from 'isomorphic-git';
import type { LRUCache } from 'lru-cache';
import { DAY, SECOND } from '../lib/clock.ts';
import { readCommit } from './commits.ts';
import { damagedRepository } from './disk-errors.ts';
import { type History, readShallow } from './history.ts';
import type { RepositoryTools } from './loaded-repository.ts';
import type { GitFolder } from './lock-file.ts';
import type { ObjectStore } from './objects.ts';
import type { LeftOver } from './parameter-index.ts';
import { contentPaths, scopePath, scopeTypeBranch } from './parameter-refs.ts';
import { readRef } from './ref-reader.ts';
import { updateRef } from './refs.ts';
import { readTrailers, writeMessage } from './trailers.ts';
import { findEntry, type TreeEntry, withEntry } from './tree.ts';
import { isContent, PASSTHROUGH_TRAILER, SCOPE_TRAILER, type VersionObjects } from './version-objects.ts';

/** Names the tag object that a commit records, so that none is recorded twice. */
const TAG_TRAILER = 'Parameter-Tag';
const FOLDER = '40000';
/** How far back a record is looked for at least, and longer while commits are not older than the tag by this. */
const MIN_COMMITS = 100;
const SLACK = DAY / SECOND;
const ATTEMPTS = 3;

export interface ParameterTools extends RepositoryTools {
  /** Contents of objects by their ids. */
  contents: LRUCache<string, Buffer>;
}

/** What is recorded: where, and under which name in the folder of the scope's value. */
interface Publication {
  scope: LeftOver['scope'];
  tag: string;
  subject: string;
  file: TreeEntry | null;
  author: CommitObject['author'];
  committer: CommitObject['committer'];
}

export class ScopeTypeBranch {
  private readonly objects: ObjectStore;
  private readonly versions: VersionObjects;
  private readonly folder: GitFolder;
  private readonly trees: LRUCache<string, Buffer>;

  /** Of the `contents` only trees: the one written last is the one that is wanted next, and may be large. */
  constructor({ objects, versions, contents }: ParameterTools, folder: GitFolder) {
    this.objects = objects;
    this.versions = versions;
    this.trees = contents;
    this.folder = folder;
  }

  /** Where the branch stands; null where it is not yet. */
  tip(scope: LeftOver['scope']): string | null {
    return readRef(this.folder.fs, this.folder.gitdir, scopeTypeBranch(scope));
  }

  /**
   * Adds the commit of a published version unless it is there: another process on the same disk may be about the
   * same. `since` is where the branch stood before the version was published, if that is known.
   */
  async record(left: LeftOver, since: string | null | undefined): Promise<void> {
    const branch = scopeTypeBranch(left.scope);
    const publication = await this.read(left);
    for (let attempt = 1; ; attempt += 1) {
      const tip = this.tip(left.scope);
      if (await this.holds(tip, since, publication)) return;
      const commit = await this.write(publication, tip);
      if (await updateRef(this.folder, branch, tip, commit)) return;
      // Somebody moved the branch meanwhile.
      if (attempt === ATTEMPTS) throw new Error(`the branch ${branch} does not hold still`);
    }
  }

  private async read({ scope, tag }: LeftOver): Promise<Publication> {
    const { gitdir } = this.folder;
    const ref = { status: 'Published', oid: tag.oid } as const;
    const content = await this.versions.read(gitdir, ref, contentPaths(scope));
    const object = await this.objects.readParsed(gitdir, tag.oid, 'tag');
    if (!isContent(content) || object === null) throw damagedRepository();
    const { author, committer } = await readCommit(this.objects, gitdir, content.commit);
    const [file] = content.files;
    const version = tag.named === 'illegal' ? '' : tag.named.version;
    return {
      scope,
      tag: tag.oid,
      subject: `${scopePath(scope)} ${version}`,
      file: file ? { mode: '100644', name: file.path.split('/').at(-1) ?? '', oid: file.oid } : null,
      author,
      // A tag of the first years of Git has no tagger.
      committer: (object.tagger as CommitObject['committer'] | undefined) ?? committer,
    };
  }

  private async holds(
    tip: string | null,
    since: string | null | undefined,
    { tag, committer }: Publication,
  ): Promise<boolean> {
    const shallow = await readShallow(this.folder.fs, this.folder.gitdir);
    let next: string | null = tip;
    for (let seen = 0; next !== null && next !== since; seen += 1) {
      const commit: CommitObject = await readCommit(this.objects, this.folder.gitdir, next);
      if (readTrailers(commit.message).get(TAG_TRAILER.toLowerCase()) === tag) return true;
      if (seen >= MIN_COMMITS && commit.committer.timestamp < committer.timestamp - SLACK) return false;
      next = shallow.has(next) ? null : (commit.parent[0] ?? null);
    }
    return false;
  }

  /**
   * Where the branch's history must end so that no tree of it holds what a removed version set: behind the commit
   * that put something else in its place. Null: nothing is to be cut off. Of a removed version that still stands at
   * the tip, its content stays there until the next one.
   */
  async boundary(
    scope: LeftOver['scope'],
    history: History,
    keptTags: ReadonlySet<string>,
  ): Promise<string | null> {
    const tip = this.tip(scope);
    if (tip === null) return null;
    const newer = new Map<string, number>();
    const commits: string[] = [];
    let end = Number.POSITIVE_INFINITY;
    for await (const { oid, commit } of history.firstParents(tip)) {
      const trailers = readTrailers(commit.message);
      const [path, tag] = [SCOPE_TRAILER, TAG_TRAILER].map((name) => trailers.get(name.toLowerCase()));
      if (path !== undefined && tag !== undefined) {
        if (!keptTags.has(tag)) end = Math.min(end, newer.get(path) ?? 0);
        newer.set(path, commits.length);
      }
      commits.push(oid);
    }
    // Where history ends of itself there is nothing to cut off.
    return end < commits.length - 1 ? (commits[end] ?? null) : null;
  }

  private async write({ scope, tag, subject, file, author, committer }: Publication, tip: string | null) {
    const { gitdir } = this.folder;
    const before = tip === null ? null : (await readCommit(this.objects, gitdir, tip)).tree;
    const tree = await this.writeRoot(before, scope.value, file);
    const message = writeMessage(file === null ? `${subject} (passthrough)` : subject, {
      [SCOPE_TRAILER]: scopePath(scope),
      [TAG_TRAILER]: tag,
      ...(file === null ? { [PASSTHROUGH_TRAILER]: 'true' } : {}),
    });
    const parent = tip === null ? [] : [tip];
    return this.objects.writeCommit(gitdir, { message, tree, parent, author, committer });
  }

  /** The tree of the whole branch with this file, or none, for one value. What else stands there stays. */
  private async writeRoot(
    tree: string | null,
    value: string | null,
    file: TreeEntry | null,
  ): Promise<string> {
    const root = await this.readTree(tree);
    if (value === null) return this.writeTree(replaceFile(root, file));
    const inner = findEntry(root, value);
    const folder = inner?.mode === FOLDER ? inner.oid : null;
    const content = replaceFile(await this.readTree(folder), file);
    const oid = content.length === 0 ? null : await this.writeTree(content);
    return this.writeTree(replace(root, value, oid === null ? null : { mode: FOLDER, name: value, oid }));
  }

  private async readTree(oid: string | null): Promise<Buffer> {
    if (oid === null) return Buffer.alloc(0);
    return this.trees.get(oid) ?? this.objects.readBytes(this.folder.gitdir, oid, 'tree');
  }

  private async writeTree(content: Buffer): Promise<string> {
    const oid = await this.objects.write(this.folder.gitdir, 'tree', content);
    this.trees.set(oid, content);
    return oid;
  }
}

/** The folder of one value with this file, or none, in place of any that its parameters had. */
function replaceFile(folder: Buffer, file: TreeEntry | null): Buffer {
  const names = contentPaths({ scopeType: '', value: null });
  const emptied = names.reduce((content, name) => replace(content, name, null), folder);
  return file === null ? emptied : replace(emptied, file.name, file);
}

function replace(folder: Buffer, name: string, entry: TreeEntry | null): Buffer {
  const content = withEntry(folder, name, entry);
  if (content === null) throw damagedRepository();
  return content;
}
