/**
 * Compares two lists of files: what changed, in which lines, and as a patch. Large contents are compared in a thread, in
 * the turn of the caller, so that no comparison holds up a poll (docs/decisions/0039).
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { type ChangedFile, changedFiles, type ListedFile } from '../domain/file-changes.ts';
import type { FileDiffHead } from '../domain/file-diff.ts';
import { patchHead } from '../domain/git-patch.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { refuseGone } from '../lib/client-gone.ts';
import { FairQueue } from '../lib/fair-queue.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import { inBlocks, Pace, TurnBudget } from '../lib/pace.ts';
import type { Output, RunOptions, Send, Threads } from '../lib/threads.ts';
import { type CompareTasks, type CountedLines, compareTasks } from './compare-tasks.ts';
import { type Compared, isQuick, QUICK_EDITS, TooManyEdits, toBuffer } from './compare-weight.ts';

/** What is told of the content of a file. */
export interface ComparedInfo {
  size: number;
  /** Hexadecimal; null where it would let whoever sees it try secrets. */
  sha256: string | null;
}

/** One of the two lists, and how its files are read. */
export interface ComparedFiles {
  /** The files are sorted by the bytes of their paths. */
  files: readonly ListedFile[];
  /** The size and the hash of each file, in their order. */
  infos(files: readonly ListedFile[]): Promise<ComparedInfo[]>;
  /** The bytes, which are not changed. */
  read(file: ListedFile): Promise<Uint8Array>;
  /** Names what `read` gives. Default: the file's id, which does not do where something else than the file is shown. */
  keyOf?(file: ListedFile): string;
}

/** A list without files, with which a first version is compared. */
export const NO_FILES: ComparedFiles = {
  files: [],
  infos: async () => [],
  read: async () => new Uint8Array(),
};

/** In whose turn contents are compared. */
export interface ComparingCaller {
  /** The user's id. */
  id: string;
  /** Aborted when the caller has gone. What has not begun then is not done any more. */
  gone?: AbortSignal;
}

/** A changed file with its facts. Members of a side without the file are null. */
export interface FileChange extends CountedLines, Pick<ChangedFile, 'path' | 'previousPath' | 'change'> {
  sizeBefore: number | null;
  sizeAfter: number | null;
  checksumBefore: string | null;
  checksumAfter: string | null;
  executableBefore: boolean | null;
  executableAfter: boolean | null;
}

/**
 * Keeps what is made until it is read. It is made at once, and let go of when the reader ends, so that a reader who does not
 * read keeps no contents in memory, and no thread.
 */
export type KeepUntilRead = (
  make: (write: (piece: Buffer) => Promise<void>) => Promise<void>,
) => AsyncIterable<Buffer>;

/** The longest time for the difference of one file, and for those of one comparison together. */
const MILLISECONDS = { file: 2_000, comparison: 10_000 };
/** Comparisons that are made at once, so that those that wait hold no contents in memory. */
const AT_ONCE = { slots: 8, slotsPerCaller: 2 };
/** As many as there are threads. More would hold contents in memory and wait. */
const PATCHES_AT_ONCE = { slots: 2, slotsPerCaller: 1 };
const READS_AT_ONCE = 8;
/** Milliseconds of this work in one turn of the event loop. */
const TURN = 5;
const MAX_COUNTED = 10_000;

/** A file of two lists that are compared, and the time that is left for them. */
interface ComparedFile {
  file: ChangedFile;
  before: ComparedFiles;
  after: ComparedFiles;
  patience: Patience;
}

/** Carries out comparisons: threads, or what runs in a thread already. */
export type CompareRunner = Pick<Threads<CompareTasks>, 'run'>;

export class Comparer {
  private readonly threads: CompareRunner;
  private readonly turns = new FairQueue(AT_ONCE);
  private readonly patchTurns = new FairQueue(PATCHES_AT_ONCE);
  private readonly turn = new TurnBudget(TURN);
  /** The key has the ids of two contents, which never change. */
  private readonly counted = new LRUCache<string, CountedLines>({ max: MAX_COUNTED });

  constructor(threads: CompareRunner) {
    this.threads = threads;
  }

  /** The files that differ, by path. @throws HawserError `client_gone`, and what reading throws */
  changes(caller: ComparingCaller, before: ComparedFiles, after: ComparedFiles): Promise<FileChange[]> {
    return this.inTurn(caller, async () => {
      const changed = changedFiles(before.files, after.files);
      const [old, next] = await Promise.all([
        infosOf(
          before,
          changed.map((file) => file.before),
        ),
        infosOf(
          after,
          changed.map((file) => file.after),
        ),
      ]);
      const patience = new Patience();
      const all: FileChange[] = [];
      const pace = new Pace();
      await forEachOf(changed.entries(), READS_AT_ONCE, async ([at, file]) => {
        const lines = await this.count(caller, { file, before, after, patience });
        all[at] = toFileChange(file, lines, old[at] ?? null, next[at] ?? null);
        if (pace.isDue) await pace.rest();
      });
      return all;
    });
  }

  /**
   * The difference of one file as JSON text.
   * @param file null on a side without it; the same content on both sides has no hunks
   */
  fileDiff(
    caller: ComparingCaller,
    before: ComparedFiles,
    after: ComparedFiles,
    {
      file,
      head,
      context,
    }: { file: Pick<ChangedFile, 'before' | 'after'>; head: FileDiffHead; context: number },
  ): Promise<Buffer> {
    return this.inTurn(caller, async () => {
      const contents = await contentsOf(file, before, after);
      return toBuffer(
        await this.run(caller, 'printFileDiff', { ...contents, head, context }, new Patience()),
      );
    });
  }

  /**
   * The patch that makes the one list the other, in pieces. That of a file is made when those before it have been read.
   * @throws HawserError `client_gone`, and what reading and keeping throw
   */
  async *patch(
    caller: ComparingCaller,
    before: ComparedFiles,
    after: ComparedFiles,
    keep: KeepUntilRead,
  ): AsyncGenerator<Buffer> {
    const patience = new Patience();
    for (const file of changedFiles(before.files, after.files)) {
      if (file.before?.oid === file.after?.oid) yield Buffer.from(patchHead(file, false));
      else yield* keep((write) => this.writePatch(caller, { file, before, after, patience }, write));
    }
  }

  private writePatch(
    caller: ComparingCaller,
    { file, before, after, patience }: ComparedFile,
    write: (piece: Buffer) => Promise<void>,
  ): Promise<void> {
    const onPiece = (piece: unknown) => {
      refuseGone(caller.gone);
      return write(toBuffer(piece as Uint8Array));
    };
    return this.inTurn(
      caller,
      async () => {
        const contents = await contentsOf(file, before, after);
        await this.run(caller, 'printPatch', { ...contents, file }, patience, onPiece);
      },
      this.patchTurns,
    );
  }

  private async inTurn<T>(
    { id, gone }: ComparingCaller,
    work: () => Promise<T>,
    turns = this.turns,
  ): Promise<T> {
    const leave = await turns.take(id, gone);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  private async count(
    caller: ComparingCaller,
    { file, before, after, patience }: ComparedFile,
  ): Promise<CountedLines> {
    const key = `${nameOf(before, file.before)} ${nameOf(after, file.after)}`;
    const known = this.counted.get(key);
    if (known) return known;
    const contents = await contentsOf(file, before, after);
    const lines = await this.run(caller, 'countLines', contents, patience);
    // What was counted in haste is counted anew when somebody asks again.
    if (!patience.isShort) this.counted.set(key, lines);
    return lines;
  }

  /** Carries out a task at once if that is quick, and in a thread otherwise. */
  private async run<N extends keyof CompareTasks>(
    caller: ComparingCaller,
    name: N,
    input: Omit<Parameters<CompareTasks[N]>[0], 'bounds'> & Pick<Compared, 'before' | 'after'>,
    patience: Patience,
    onPiece: NonNullable<RunOptions['onPiece']> = () => undefined,
  ): Promise<Output<CompareTasks, N>> {
    const task = compareTasks[name] as (input: unknown, send: Send) => Awaitable<Output<CompareTasks, N>>;
    if (isQuick(name, input)) {
      while (this.turn.isSpent) await nextTurn();
      const start = performance.now();
      try {
        const bounds = { milliseconds: MILLISECONDS.file, edits: QUICK_EDITS };
        return await task({ ...input, bounds }, async (piece) => onPiece(piece));
      } catch (error) {
        if (!(error instanceof TooManyEdits)) throw error;
      } finally {
        this.turn.spend(performance.now() - start);
      }
    }
    const [before, after] = [await copyOf(input.before), await copyOf(input.after)];
    const given = [before, after].flatMap((bytes) => (bytes ? [bytes.buffer] : []));
    return patience.measure((milliseconds) => {
      const whole = { ...input, before, after, bounds: { milliseconds } };
      return this.threads.run(caller.id, name, whole as Parameters<CompareTasks[N]>[0], {
        ...{ given, onPiece },
      });
    });
  }
}

/** The time that one comparison may still take in threads. Its tasks take turns, so that none is counted twice. */
class Patience {
  private readonly limit = pLimit(1);
  private left = MILLISECONDS.comparison;

  /** Whether a file no longer gets the time that one may take. */
  get isShort(): boolean {
    return this.left < MILLISECONDS.file;
  }

  measure<T>(work: (milliseconds: number) => Promise<T>): Promise<T> {
    return this.limit(async () => {
      const start = performance.now();
      try {
        return await work(Math.max(0, Math.min(this.left, MILLISECONDS.file)));
      } finally {
        this.left -= performance.now() - start;
      }
    });
  }
}

async function contentsOf(
  file: Pick<ChangedFile, 'before' | 'after'>,
  before: ComparedFiles,
  after: ComparedFiles,
): Promise<Pick<Compared, 'before' | 'after'>> {
  const next = file.after && after.read(file.after);
  const isSame = file.before?.oid === file.after?.oid;
  const old = isSame ? next : file.before && before.read(file.before);
  const [oldBytes, newBytes] = await Promise.all([old, next]);
  return { before: oldBytes, after: newBytes };
}

function nameOf(side: ComparedFiles, file: ListedFile | null): string {
  return file ? (side.keyOf?.(file) ?? file.oid) : '';
}

/** The facts of the files that are there, at their places in the list. */
async function infosOf(
  side: ComparedFiles,
  files: readonly (ListedFile | null)[],
): Promise<(ComparedInfo | undefined)[]> {
  const infos = await side.infos(files.filter((file) => file !== null));
  let at = 0;
  return files.map((file) => {
    if (file === null) return undefined;
    at += 1;
    return infos[at - 1];
  });
}

function toFileChange(
  { path, previousPath, change, before, after }: ChangedFile,
  { isBinary, additions, deletions }: CountedLines,
  old: ComparedInfo | null,
  next: ComparedInfo | null,
): FileChange {
  return {
    ...{ path, previousPath, change, isBinary },
    ...{ sizeBefore: old?.size ?? null, sizeAfter: next?.size ?? null },
    ...{ checksumBefore: old?.sha256 ?? null, checksumAfter: next?.sha256 ?? null },
    ...{ executableBefore: before?.executable ?? null, executableAfter: after?.executable ?? null },
    ...{ additions, deletions },
  };
}

/** Bytes of their own for a thread. The others may be in a cache. */
async function copyOf(bytes: Uint8Array | null): Promise<Uint8Array<ArrayBuffer> | null> {
  if (bytes === null) return null;
  const copy = new Uint8Array(bytes.byteLength);
  let at = 0;
  await inBlocks(bytes, (block) => {
    copy.set(block, at);
    at += block.byteLength;
  });
  return copy;
}
