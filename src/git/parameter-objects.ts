/** Parameter files and schemas as Git objects: the commits and tags that they are written as. */

import { toTimestamp } from '../lib/clock.ts';
import { readCommit, rebaseCommit, type Signature, sign } from './commits.ts';
import type { ObjectStore } from './objects.ts';
import { contentPaths, contentTypeOf, scopePath, shortTag } from './parameter-refs.ts';
import type { ParameterContent, ParameterDraft, ParameterScope, SchemaUpload } from './parameter-types.ts';
import { preciseTime, readTrailers, writeMessage } from './trailers.ts';
import { writeTree } from './tree.ts';
import type { FileContent, Person } from './types.ts';
import { PASSTHROUGH_TRAILER, SCOPE_TRAILER } from './version-objects.ts';

interface DraftFrom {
  author: Signature;
  committer: Signature;
  createdAt: number;
  parent: string | null;
}

export class ParameterObjects {
  private readonly objects: ObjectStore;
  private readonly gitdir: string;

  constructor(objects: ObjectStore, gitdir: string) {
    this.objects = objects;
    this.gitdir = gitdir;
  }

  /** Writes a new draft, flushed; gives the commit. */
  async writeDraft(scope: ParameterScope, draft: ParameterDraft, parent: string | null): Promise<string> {
    const author = sign(draft.author, draft.at);
    return this.commitDraft(scope, draft, { author, committer: author, createdAt: draft.at, parent });
  }

  /** As `writeDraft`, with the author and the time of the draft that it is to replace. */
  async amendDraft(
    scope: ParameterScope,
    draft: ParameterDraft,
    replaced: string,
    parent: string | null,
  ): Promise<string> {
    const { message, author } = await readCommit(this.objects, this.gitdir, replaced);
    const createdAt = preciseTime(readTrailers(message).get('created-at'), author.timestamp);
    return this.commitDraft(scope, draft, {
      author,
      committer: sign(draft.author, draft.at),
      createdAt,
      parent,
    });
  }

  /** Writes the tag that publishes a draft, on its commit moved onto `parent`, flushed; no ref leads to it yet. */
  async writeTag(
    scope: ParameterScope,
    draft: { version: string; oid: string; isPassthrough: boolean },
    parent: string | null,
    tagger: Person,
    at: number,
  ): Promise<string> {
    const { version, isPassthrough } = draft;
    const commit = await rebaseCommit(this.objects, this.gitdir, draft.oid, parent);
    const message = writeMessage(`${scopePath(scope)} ${version}`, {
      [SCOPE_TRAILER]: scopePath(scope),
      ...passthrough(isPassthrough),
      'Published-At': toTimestamp(at),
    });
    return this.tag(shortTag(scope, version), commit, message, sign(tagger, at));
  }

  /** Writes an uploaded schema with its tag, flushed; gives the tag. */
  async writeSchema({ version, content, author, at }: SchemaUpload, parent: string | null): Promise<string> {
    const signature = sign(author, at);
    const scope = shortTag(null, version);
    const message = writeMessage(`Schema ${version}`, {
      [SCOPE_TRAILER]: scope,
      'Created-At': toTimestamp(at),
      'Published-At': toTimestamp(at),
    });
    const from = { author: signature, committer: signature, createdAt: at, parent };
    const commit = await this.commit(filesOf(null, content), message, from);
    return this.tag(scope, commit, message, signature);
  }

  private async commitDraft(scope: ParameterScope, draft: ParameterDraft, from: DraftFrom): Promise<string> {
    const { version, content } = draft;
    const message = writeMessage(`Draft ${scopePath(scope)} ${version}`, {
      [SCOPE_TRAILER]: scopePath(scope),
      ...passthrough(content === null),
      'Created-At': toTimestamp(from.createdAt),
    });
    return this.commit(filesOf(scope, content), message, from);
  }

  private async commit(
    files: readonly FileContent[],
    message: string,
    { author, committer, parent }: DraftFrom,
  ): Promise<string> {
    const tree = await writeTree(this.objects, this.gitdir, files);
    const parents = parent === null ? [] : [parent];
    return this.objects.writeCommit(this.gitdir, { message, tree, parent: parents, author, committer });
  }

  private tag(tag: string, object: string, message: string, tagger: Signature): Promise<string> {
    return this.objects.writeTag(this.gitdir, { object, type: 'commit', tag, tagger, message });
  }
}

function filesOf(scope: ParameterScope | null, content: ParameterContent): FileContent[] {
  if (content === null) return [];
  const path = contentPaths(scope).find((other) => contentTypeOf(other) === content.type) ?? '';
  return [{ path, content: content.bytes }];
}

function passthrough(isPassthrough: boolean): Record<string, string> {
  return isPassthrough ? { [PASSTHROUGH_TRAILER]: 'true' } : {};
}
