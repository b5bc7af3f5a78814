/** The Git objects of all repositories, wherever they are kept. Errors are the store's own. */

import { Errors } from 'isomorphic-git';
import pLimit from 'p-limit';
import type { HawserError } from '../lib/errors.ts';
import { damagedRepository } from './disk-errors.ts';
import { LayeredObjects, type UpperObjects } from './layered-objects.ts';
import { type ObjectContent, type StreamedObject, wrapObject } from './loose-objects.ts';
import type { ObjectBackend } from './object-backend.ts';
import { type ParsedTypes, parseObject } from './parsed-objects.ts';
import { type NewCommit, type NewTag, printCommit, printTag } from './printed-objects.ts';

export type ObjectType = 'blob' | 'tree' | 'commit' | 'tag';

export interface WholeObject {
  type: ObjectType;
  content: Uint8Array;
}

/** An object that is to be written, whole or, if it is large, in pieces. */
export type GivenObject = WholeObject | (StreamedObject & { type: ObjectType });

const CONCURRENT_WRITES = 8;
/** Of objects that are given one after the other, so many of so many bytes are in memory, or one that is larger. */
const AT_ONCE = 256;
const BYTES = 8 * 1024 * 1024;

export class ObjectStore {
  private readonly backend: ObjectBackend;
  private readonly writes = pLimit(CONCURRENT_WRITES);

  constructor(backend: ObjectBackend) {
    this.backend = backend;
  }

  /** These objects with others over them, for reading alone. */
  under(upper: UpperObjects): ObjectStore {
    return new ObjectStore(new LayeredObjects(upper, this.backend));
  }

  /** The bytes of a blob, tree or tag. Throws `repository_damaged` when it is missing, broken or of another type. */
  async readBytes(gitdir: string, oid: string, type: 'blob' | 'tree' | 'tag'): Promise<Buffer> {
    const read = await this.backend.read(gitdir, oid);
    if (read.type !== type) throw damagedRepository();
    return read.content;
  }

  /**
   * An object of any type, whose hash has been compared with its id: reading from a pack alone does not do that.
   * Throws `repository_damaged` when it is missing or broken.
   */
  async readProven(gitdir: string, oid: string): Promise<ObjectContent> {
    const { type, content, isProven } = await this.backend.read(gitdir, oid);
    if (!isProven && (await wrapObject(type, content)).oid !== oid) throw damagedRepository();
    return { type, content };
  }

  /**
   * A parsed commit or tag. Null when the object is unbroken but has another type, or is malformed. Throws
   * `repository_damaged` when it is missing or broken.
   */
  async readParsed<T extends keyof ParsedTypes>(
    gitdir: string,
    oid: string,
    type: T,
  ): Promise<ParsedTypes[T] | null> {
    return parseObject(await this.backend.read(gitdir, oid), type);
  }

  /** Writes an object and flushes it, unless the repository holds an unbroken one already. Returns its id. */
  async write(gitdir: string, type: ObjectType, content: Uint8Array): Promise<string> {
    return this.writes(async () => {
      const object = await wrapObject(type, content);
      await this.backend.writeIfAbsent(gitdir, object);
      return object.oid;
    });
  }

  /** Writes objects as they are given, small ones many at a time. @throws what giving them throws */
  async writeAll(gitdir: string, given: AsyncIterable<GivenObject>): Promise<void> {
    let [some, bytes]: [WholeObject[], number] = [[], 0];
    const write = async () => {
      await Promise.all(some.map(({ type, content }) => this.write(gitdir, type, content)));
      [some, bytes] = [[], 0];
    };
    for await (const object of given) {
      if ('chunks' in object) await this.backend.writeStream(gitdir, object);
      else {
        some.push(object);
        bytes += object.content.byteLength;
        if (some.length >= AT_ONCE || bytes >= BYTES) await write();
      }
    }
    await write();
  }

  /** Writes a commit and flushes it. Returns its id. It is not looked for first: it holds the time of its making. */
  writeCommit(gitdir: string, commit: NewCommit): Promise<string> {
    return this.writeNew(gitdir, 'commit', printCommit(commit));
  }

  /** Writes an annotated tag and flushes it. Returns its id. It is not looked for first, like a commit. */
  writeTag(gitdir: string, tag: NewTag): Promise<string> {
    return this.writeNew(gitdir, 'tag', printTag(tag));
  }

  private async writeNew(gitdir: string, type: 'commit' | 'tag', text: string): Promise<string> {
    const object = await wrapObject(type, Buffer.from(text));
    await this.backend.write(gitdir, object);
    return object.oid;
  }
}

/** Whether a `repository_damaged` was thrown because an object is absent, and not because it is broken. */
export function isMissingObject(error: HawserError): boolean {
  return error.cause instanceof Errors.NotFoundError;
}
