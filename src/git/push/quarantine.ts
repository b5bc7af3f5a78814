/**
 * Takes the pack of a push where nobody sees it, and finds what is new. Stock git reads the pack beside the repository,
 * which it only looks at. What git may take is bounded, since a small pack can say that it unpacks to gigabytes.
 */

import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { tooLarge } from '../../lib/errors.ts';
import { AtomicFs } from '../atomic-fs.ts';
import type { TypedObject } from '../batch-objects.ts';
import { UNFLUSHED_DISK } from '../disk.ts';
import { guardDisk } from '../disk-errors.ts';
import type { GitBounds } from '../git-process.ts';
import { readShallow } from '../history.ts';
import type { StreamedObject } from '../loose-objects.ts';
import type { GivenObject, ObjectType } from '../objects.ts';
import { makeSkeleton } from '../repository-layout.ts';
import { type AddedObject, readBatch } from './batch-output.ts';
import { STRICT } from './fsck-faults.ts';
import { missingObject, tooLargeObject } from './git-faults.ts';
import { feedPack, readPackHeader } from './pack-input.ts';
import { QuarantineGit } from './quarantine-git.ts';

export type { AddedObject } from './batch-output.ts';

export interface QuarantineLimits {
  packBytes: number;
  /** How many the pack may have, and how many may be new. */
  objects: number;
  /** How many may be new. */
  commits: number;
  /** What the contents of all objects of the pack, and of all that are new, may have together. */
  bytes: number;
  /** What the content of one object may have. */
  objectBytes: number;
}

export interface QuarantineOptions {
  /** The folders in which git is looked for, like `PATH`. */
  searchPath: string;
  /** The repository's folder; with PostgreSQL a cache that was brought to the newest state. Never written. */
  gitdir: string;
  /** An empty folder to be made and removed by the quarantine. The folder above it must exist. */
  folder: string;
  /** The ids that the refs of the repository have now: what they lead to is not new. */
  have: readonly string[];
  limits: QuarantineLimits;
  /** Aborted when the client has disconnected: the work ends. */
  gone: AbortSignal;
  /** They hold for each git process by itself. */
  bounds?: GitBounds;
}

/**
 * The memory suffices for a delta between files of 100 MiB. The time suffices several times for a pack within the default
 * limits.
 */
const DEFAULT_BOUNDS: GitBounds = { memoryKib: 320 * 1024, cpuSeconds: 60 };
/** Objects up to so many bytes are kept once they were read, and so many bytes of them. */
const KEPT_OBJECT = 64 * 1024;
const KEPT_BYTES = 8 * 1024 * 1024;
/** What a tree, commit or tag may have, each of which is read as a whole. A folder of 20,000 files has less. */
const STRUCTURE_BYTES = 8 * 1024 * 1024;
/** Objects of so many bytes are streamed into the repository. */
const STREAMED = 1024 * 1024;
const OID = /^[0-9a-f]{40}$/;

export class Quarantine {
  private readonly options: QuarantineOptions;
  private readonly fs: AtomicFs;
  private readonly git: QuarantineGit;
  private readonly found = new Map<string, AddedObject>();
  private readonly kept = new Map<string, TypedObject>();
  private keptBytes = 0;
  /** How many objects the client has sent; null as long as there is no pack. */
  private sent: number | null = null;

  private constructor(options: QuarantineOptions, fs: AtomicFs) {
    const { searchPath, limits, gone, bounds = DEFAULT_BOUNDS } = options;
    const [gitdir, folder] = [resolve(options.gitdir), resolve(options.folder)];
    this.options = { ...options, gitdir, folder };
    this.fs = fs;
    this.git = new QuarantineGit({
      ...{ searchPath, gitdir, folder, gone, bounds },
      packBytes: limits.packBytes,
      objectBytes: limits.objectBytes,
    });
  }

  /**
   * Makes the folder: an empty repository whose history ends where that of the repository does.
   * @throws HawserError what the disk says
   */
  static async open(options: QuarantineOptions): Promise<Quarantine> {
    checkOids(options.have);
    const fs = new AtomicFs(UNFLUSHED_DISK);
    const quarantine = new Quarantine(options, fs);
    try {
      await guardDisk(async () => {
        await makeSkeleton(fs, options.folder, null);
        const ends = [...(await readShallow(fs, options.gitdir))];
        if (ends.length > 0)
          await fs.writeFile(join(options.folder, 'shallow'), ends.map((oid) => `${oid}\n`).join(''));
      });
      return quarantine;
    } catch (error) {
      await quarantine.remove();
      throw error;
    }
  }

  /**
   * Reads a pack into the quarantine, once. It may be thin, and it may have no objects. It is left out where nothing is
   * sent. The stream is neither destroyed nor drained, also after an error; what follows the pack is not looked at.
   * @throws HawserError invalid `invalid_pack`, `incomplete_push` when the pack needs objects that are nowhere;
   *   `payload_too_large`; `client_gone`; what the disk says. An error of the stream as it is
   */
  async receive(pack: Readable): Promise<void> {
    const { limits, gone } = this.options;
    const header = await readPackHeader(pack, gone);
    if (header.objects > limits.objects) throw tooManyObjects(limits);
    const size = `--max-input-size=${limits.packBytes}`;
    const args = ['--stdin', '--fix-thin', STRICT, '--threads=1', size];
    const process = this.git.start({ task: 'index-pack', args, objectBytes: limits.objectBytes });
    const feeding = feedPack(header, pack, process);
    try {
      process.stdout.resume();
      await this.git.finish(process, 'index-pack', () => feeding.fault);
      this.sent = header.objects;
    } finally {
      feeding.release();
      await this.git.release(process);
    }
  }

  /**
   * Finds what the tips lead to and the repository lacks. To this belongs what the repository has although no ref leads
   * to it, because it may be pruned at any moment. A tip may be an object of any type.
   * @param have what the refs have now, if that has changed since the quarantine was opened. An id that is gone is no harm
   * @throws HawserError `incomplete_push` when an object is nowhere; `payload_too_large`; invalid `invalid_pack`;
   *   `client_gone`; `repository_damaged`
   */
  async findAdded(tips: readonly string[], have: readonly string[] = this.options.have): Promise<void> {
    checkOids([...tips, ...have]);
    this.found.clear();
    if (tips.length === 0) return;
    const known = await this.listPack();
    await this.lookUp(tips, known);
    const listed = await this.listNew(tips, have);
    await this.lookUp(listed, known);
    const added = listed.map((oid) => [oid, knownOf(oid, known)] as const);
    this.requireLimits(added.map(([, object]) => object));
    for (const [oid, object] of added) this.found.set(oid, object);
    await this.readAhead();
  }

  /** What `findAdded` has found, by id: the commits first, the newest of them at the front. */
  get added(): ReadonlyMap<string, AddedObject> {
    return this.found;
  }

  /** The content of an added object, proven by its hash. @throws as `readAll` */
  async read(oid: string): Promise<{ type: ObjectType; content: Buffer }> {
    for await (const { type, content } of this.readAll([oid])) return { type, content: asBuffer(content) };
    throw new Error(`the object ${oid} was not read`);
  }

  /**
   * Added objects in any order, through one git process. Small ones that were read before come without it. Whoever leaves
   * the loop ends the process.
   * @throws HawserError `repository_damaged`; `payload_too_large` when git takes too long; `client_gone`; unavailable
   */
  async *readAll(oids: Iterable<string>): AsyncGenerator<TypedObject> {
    for await (const object of this.readFrom(oids, Number.POSITIVE_INFINITY))
      if ('content' in object) yield object;
  }

  /**
   * All added objects, as `readAll`. A large one is streamed: its bytes must be taken before the next object is asked for.
   * @throws as `readAll`
   */
  giveAll(): AsyncGenerator<GivenObject> {
    return this.readFrom(this.found.keys(), STREAMED);
  }

  private async *readFrom(
    oids: Iterable<string>,
    streamedFrom: number,
  ): AsyncGenerator<TypedObject | (StreamedObject & AddedObject)> {
    const asked: [string, AddedObject][] = [];
    for (const oid of oids) {
      const kept = this.kept.get(oid);
      if (kept) yield kept;
      else asked.push([oid, knownOf(oid, this.found)]);
    }
    if (asked.length === 0) return;
    const input = asked.map(([oid]) => `${oid}\n`).join('');
    const process = this.git.start({ task: 'cat-file', args: ['--batch', '--buffer'], input });
    try {
      for await (const object of readBatch(process.stdout, asked, streamedFrom)) {
        if ('content' in object) this.keep(object);
        yield object;
      }
      await this.git.finish(process, 'cat-file');
    } catch (error) {
      throw await this.git.reasonOf(error, process, 'cat-file');
    } finally {
      await this.git.release(process);
    }
  }

  /** Ends the processes and removes the folder. Never throws: what could not be removed goes at the next start. */
  async remove(): Promise<void> {
    await this.git.close();
    await this.fs.discard(this.options.folder).catch(() => undefined);
  }

  /** The objects of the pack. Git lists them in the order of the pack, where what it has added to a thin one is last. */
  private async listPack(): Promise<Map<string, AddedObject>> {
    const objects = new Map<string, AddedObject>();
    if (this.sent === null) return objects;
    const args = ['--batch-all-objects', '--batch-check', '--unordered', '--buffer'];
    for await (const line of this.git.lines({ task: 'cat-file', args, isAlone: true })) note(line, objects);
    this.requireBytes([...objects.values()].slice(0, this.sent));
    return objects;
  }

  /** The ids of what the tips lead to and the refs do not, in the order in which git finds it. */
  private async listNew(tips: readonly string[], have: readonly string[]): Promise<string[]> {
    const input = [...tips, ...have.map((oid) => `^${oid}`)].map((line) => `${line}\n`).join('');
    // The tips are there, so this passes over refs that were deleted and pruned meanwhile.
    const args = ['--objects', '--no-object-names', '--ignore-missing', '--stdin'];
    const listed: string[] = [];
    for await (const oid of this.git.lines({ task: 'rev-list', args, input })) {
      if (listed.length === this.options.limits.objects) throw tooManyObjects(this.options.limits);
      listed.push(oid);
    }
    return listed;
  }

  /** Adds to the known objects those of these ids that only the repository has. @throws HawserError `incomplete_push` */
  private async lookUp(oids: readonly string[], known: Map<string, AddedObject>): Promise<void> {
    const asked = oids.filter((oid) => !known.has(oid));
    if (asked.length === 0) return;
    const input = asked.map((oid) => `${oid}\n`).join('');
    const args = ['--batch-check', '--buffer'];
    for await (const line of this.git.lines({ task: 'cat-file', args, input })) note(line, known);
    for (const oid of asked) if (!known.has(oid)) throw missingObject(oid);
  }

  /** Keeps what is small. The rules ask for it one by one, and a process for each would take longer than all the rest. */
  private async readAhead(): Promise<void> {
    let free = KEPT_BYTES - this.keptBytes;
    const small = [...this.found].filter(([oid, { size }]) => {
      if (size > KEPT_OBJECT || size > free || this.kept.has(oid)) return false;
      free -= size;
      return true;
    });
    const objects = this.readAll(small.map(([oid]) => oid));
    while (!(await objects.next()).done);
  }

  private requireLimits(objects: readonly AddedObject[]): void {
    const { commits } = this.options.limits;
    if (objects.filter(({ type }) => type === 'commit').length > commits)
      throw tooLarge(`The push has more than ${commits} new commits`);
    this.requireBytes(objects);
  }

  private requireBytes(objects: readonly AddedObject[]): void {
    const { bytes, objectBytes } = this.options.limits;
    if (objects.some(({ size }) => size > objectBytes)) throw tooLargeObject(objectBytes);
    if (objects.some(({ type, size }) => type !== 'blob' && size > STRUCTURE_BYTES))
      throw tooLarge(`A folder, commit or tag of the push has more than ${STRUCTURE_BYTES} bytes`);
    if (objects.reduce((sum, { size }) => sum + size, 0) > bytes)
      throw tooLarge(`The objects of the push have more than ${bytes} bytes when they are unpacked`);
  }

  private keep(object: TypedObject): void {
    const { byteLength } = object.content;
    if (byteLength > KEPT_OBJECT || this.keptBytes + byteLength > KEPT_BYTES) return;
    this.keptBytes += byteLength;
    // The content is a part of a larger buffer, which is not to be kept.
    this.kept.set(object.oid, { ...object, content: Buffer.from(object.content) });
  }
}

/** Notes an object as `git cat-file --batch-check` prints it. One that is missing is passed over. */
function note(line: string, objects: Map<string, AddedObject>): void {
  const [, oid, type, size] = /^([0-9a-f]{40}) (blob|tree|commit|tag) (\d+)$/.exec(line) ?? [];
  if (oid !== undefined) objects.set(oid, { type: type as ObjectType, size: Number(size) });
}

function knownOf(oid: string, objects: ReadonlyMap<string, AddedObject>): AddedObject {
  const object = objects.get(oid);
  if (object === undefined) throw new Error(`"${oid}" is no added object`);
  return object;
}

/** Nothing else reaches git. @throws Error which is a fault of the caller */
function checkOids(oids: readonly string[]): void {
  for (const oid of oids) if (!OID.test(oid)) throw new Error('an id of an object has 40 hexadecimal digits');
}

function asBuffer(content: Uint8Array): Buffer {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
}

function tooManyObjects({ objects }: QuarantineLimits): Error {
  return tooLarge(`The push has more than ${objects} objects`);
}
