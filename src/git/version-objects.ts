/** A version as Git objects: how its files, commit and tag are written, and read back as details. */

import type { CommitObject } from 'isomorphic-git';
import { LRUCache } from 'lru-cache';
import { toTimestamp } from '../lib/clock.ts';
import { damagedRepository } from './disk-errors.ts';
import type { ObjectStore } from './objects.ts';
import { preciseTime, readTrailers, writeMessage } from './trailers.ts';
import { encodeTree, planTree, type TreeEntry, type TreeFolder } from './tree.ts';
import type { DraftInput, Person, StoredFile, VersionRef } from './types.ts';

/** What the objects of one version say themselves; never changes for the same id. */
export interface VersionContent {
  commit: string;
  /** Null: neither tag nor commit names one. */
  entryPoint: string | null;
  files: readonly StoredFile[];
  createdAt: number;
  createdBy: string;
  publishedAt: number | null;
  publishedBy: string | null;
}

interface Signature {
  name: string;
  email: string;
  timestamp: number;
  timezoneOffset: number;
}

const MAX_TAG_CHAIN = 8;

export class VersionObjects {
  private readonly objects: ObjectStore;
  private readonly contents: LRUCache<string, VersionContent>;

  constructor(objects: ObjectStore, cacheBytes: number) {
    this.objects = objects;
    this.contents = new LRUCache({ maxSize: Math.max(1, cacheBytes), sizeCalculation: sizeOfContent });
  }

  /** What a version's ref leads to, cached by its oid; `repository_damaged` when anything of it is missing. */
  async read(gitdir: string, ref: VersionRef): Promise<VersionContent> {
    const known = this.contents.get(ref.oid);
    if (known) return known;
    const content =
      ref.status === 'Draft'
        ? await this.readCommitContent(gitdir, ref.oid)
        : await this.readTagContent(gitdir, ref.oid);
    this.contents.set(ref.oid, content);
    return content;
  }

  /** The commit that an annotated tag leads to. */
  async commitOf(gitdir: string, tagOid: string): Promise<string> {
    let oid = tagOid;
    for (let step = 0; step < MAX_TAG_CHAIN; step += 1) {
      const tag = await this.objects.readParsed(gitdir, oid, 'tag');
      if (tag.type === 'commit') return tag.object;
      if (tag.type !== 'tag') break;
      oid = tag.object;
    }
    throw damagedRepository();
  }

  /** Writes files, trees and commit of a draft, flushed; gives the commit. */
  async writeDraft(gitdir: string, draft: DraftInput, parent: string | null): Promise<string> {
    const folder = planTree(draft.files);
    const message = writeMessage(`Draft ${draft.version}`, {
      'Entry-Point': draft.entryPoint,
      'Created-At': toTimestamp(draft.at),
    });
    const tree = await this.writeTree(gitdir, folder);
    const author = sign(draft.author, draft.at);
    const commit = { message, tree, parent: parent === null ? [] : [parent], author, committer: author };
    return this.objects.writeCommit(gitdir, commit);
  }

  /** Writes the tag object that publishes a commit, flushed; gives its id. No ref leads to it yet. */
  async writeTag(
    gitdir: string,
    version: { version: string; commit: string; entryPoint: string },
    tagger: Person,
    at: number,
  ): Promise<string> {
    const message = writeMessage(`Version ${version.version}`, {
      'Entry-Point': version.entryPoint,
      'Published-At': toTimestamp(at),
    });
    const tag = `v${version.version}`;
    return this.objects.writeTag(gitdir, {
      object: version.commit,
      type: 'commit',
      tag,
      tagger: sign(tagger, at),
      message,
    });
  }

  /**
   * The commit with `parent` as its only parent, so that history runs through the versions as published,
   * whatever was published while it was a draft. Commits that stock git made are left as they are.
   */
  async rebase(gitdir: string, oid: string, parent: string | null): Promise<string> {
    const commit = await this.objects.readParsed(gitdir, oid, 'commit');
    const ours = readTrailers(commit.message).has('created-at') && commit.gpgsig === undefined;
    if (!ours || commit.parent.length > 1 || (commit.parent[0] ?? null) === parent) return oid;
    const { message, tree, author, committer } = commit;
    const moved = { message, tree, author, committer, parent: parent === null ? [] : [parent] };
    return this.objects.writeCommit(gitdir, moved);
  }

  private async writeTree(gitdir: string, folder: TreeFolder): Promise<string> {
    const blobs = [...folder.files].map(async ([name, content]): Promise<TreeEntry> => {
      return { mode: '100644', name, oid: await this.objects.write(gitdir, 'blob', content) };
    });
    const trees = [...folder.folders].map(async ([name, inner]): Promise<TreeEntry> => {
      return { mode: '40000', name, oid: await this.writeTree(gitdir, inner) };
    });
    return this.objects.write(gitdir, 'tree', encodeTree(await allSettled([...blobs, ...trees])));
  }

  private async readTagContent(gitdir: string, oid: string): Promise<VersionContent> {
    const tag = await this.objects.readParsed(gitdir, oid, 'tag');
    const content = await this.readCommitContent(gitdir, await this.commitOf(gitdir, oid));
    const trailers = readTrailers(tag.message);
    // A tag of the first years of Git has no tagger.
    const tagger = tag.tagger as Signature | undefined;
    return {
      ...content,
      entryPoint: trailers.get('entry-point') ?? content.entryPoint,
      publishedAt: tagger ? preciseTime(trailers.get('published-at'), tagger.timestamp) : content.createdAt,
      publishedBy: tagger?.name ?? content.createdBy,
    };
  }

  private async readCommitContent(gitdir: string, oid: string): Promise<VersionContent> {
    const commit: CommitObject = await this.objects.readParsed(gitdir, oid, 'commit');
    const files: StoredFile[] = [];
    await this.collectFiles(gitdir, commit.tree, '', files);
    const trailers = readTrailers(commit.message);
    return {
      commit: oid,
      entryPoint: trailers.get('entry-point') ?? null,
      files: sortByBytes(files),
      createdAt: preciseTime(trailers.get('created-at'), commit.author.timestamp),
      createdBy: commit.author.name,
      publishedAt: null,
      publishedBy: null,
    };
  }

  private async collectFiles(
    gitdir: string,
    tree: string,
    prefix: string,
    into: StoredFile[],
  ): Promise<void> {
    for (const { mode, path, oid } of await this.objects.readParsed(gitdir, tree, 'tree')) {
      if (mode === '040000') await this.collectFiles(gitdir, oid, `${prefix}${path}/`, into);
      else if (mode.startsWith('100')) into.push({ path: prefix + path, oid });
      // A link or submodule that stock git put in: leaving it out would be a shorter answer than the version.
      else throw damagedRepository(new Error(`tree entry of mode ${mode}`));
    }
  }
}

/** Waits for all, also when one fails, so that no write is still under way when the failure is answered. */
async function allSettled<T>(work: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

function sortByBytes(files: StoredFile[]): StoredFile[] {
  const keyed = files.map((file) => ({ file, key: Buffer.from(file.path) }));
  keyed.sort((a, b) => Buffer.compare(a.key, b.key));
  return keyed.map(({ file }) => file);
}

/** Git has no escape for the signs that delimit a name and an address, so they are left out. */
function sign(person: Person, at: number): Signature {
  const clean = (text: string) => text.replace(/[\p{Cc}\s<>]+/gu, ' ').trim();
  return {
    name: clean(person.name) || 'unknown',
    email: clean(person.email).replaceAll(' ', ''),
    timestamp: Math.floor(at / 1_000),
    timezoneOffset: 0,
  };
}

function sizeOfContent(content: VersionContent): number {
  return content.files.reduce((bytes, { path }) => bytes + 2 * path.length + 160, 600);
}
