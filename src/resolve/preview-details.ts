/**
 * Makes the details of a preview's groups: the files and parameters that differ, and the difference of each file. They are
 * made with the preview and kept as lines, since versions may be deleted before somebody asks (docs/decisions/0048).
 */

import { type ChangedFile, changedFiles } from '../domain/file-changes.ts';
import { MAX_CONTEXT } from '../domain/file-diff.ts';
import { isBinary, isTooLarge } from '../domain/text-lines.ts';
import type { StoredFile } from '../git/types.ts';
import { HawserError } from '../lib/errors.ts';
import { compareTasks } from './compare-tasks.ts';
import { toBuffer } from './compare-weight.ts';
import { type CompareRunner, Comparer } from './comparer.ts';
import { LinesWriter } from './kept-lines.ts';
import { listParameters } from './leaf-lists.ts';
import { type BundleFile, folderOf } from './preview-files.ts';
import { CALLER, type GroupSides, type Side } from './preview-sides.ts';
import { type BundleReaders, type ShownBundle, shownBundle } from './shown-bundle.ts';

/** What a file holds, as far as the difference of an unchanged one tells: these numbers together. */
export const FLAGS = { binary: 1, tooLarge: 2, noNewline: 4 } as const;

/** The files of a group as they are kept, in the line after its details. */
export interface KeptFiles {
  /** By path the line of each difference. A renamed file has both of its paths. */
  diffs: readonly (readonly [path: string, line: number])[];
  /** By the folder of each part the line that has the `FLAGS` of its files by path, whether they change or not. */
  lists: readonly (readonly [folder: string, line: number])[];
  /** The same of unchanged files that belong to no version. */
  made: readonly (readonly [path: string, flags: number])[];
  /** Whether differences are missing because there was no room for them. */
  isCut: boolean;
}

/** Milliseconds for the differences of a whole preview, as for one comparison. Further ones replace the whole middle. */
const PATIENCE = 10_000;
/** The largest number of characters that are kept, and of bytes of files that are read for it. */
const MOST = { kept: 64 * 1024 * 1024, read: 256 * 1024 * 1024 };

export class DetailsMaker {
  private readonly readers: BundleReaders;
  private readonly most: typeof MOST;
  private readonly comparer: Comparer;
  private readonly lines = new LinesWriter();
  /** The lines of differences, and of lists of files. Groups share most of them. */
  private readonly diffs = new Map<string, number>();
  private readonly lists = new Map<readonly StoredFile[], number>();
  private readonly flags = new Map<string, number>();
  private read = 0;
  private left = PATIENCE;

  /** @param most how much is kept, and read for it */
  constructor(readers: BundleReaders, most = MOST) {
    this.readers = readers;
    this.most = most;
    const run = ((_caller, task, input) => this.compare(task, input)) as CompareRunner['run'];
    this.comparer = new Comparer({ run });
  }

  /**
   * Keeps the details of a group as one line, and its `KeptFiles` as the next one.
   * @returns the number of the first of the two lines; null if there is no room left
   * @throws HawserError what reading versions throws
   */
  async keep(group: GroupSides, withMerged: boolean): Promise<number | null> {
    if (this.isFull) return null;
    const text = await orTooLong(() => this.textOf(group, withMerged));
    const files = await this.filesOf(group);
    const line = this.lines.add(text);
    this.lines.add(JSON.stringify(files));
    return line;
  }

  /** All lines, compressed. */
  end(): Buffer {
    return this.lines.end();
  }

  private get isFull(): boolean {
    return this.lines.length >= this.most.kept || this.read >= this.most.read;
  }

  /** Nobody else waits in a thread of previews, so comparisons are made at once. */
  private async compare(task: keyof typeof compareTasks, input: { bounds: { milliseconds: number } }) {
    const bounds = { milliseconds: Math.max(0, Math.min(this.left, input.bounds.milliseconds)) };
    const start = performance.now();
    try {
      return await (compareTasks[task] as (given: unknown) => unknown)({ ...input, bounds });
    } finally {
      this.left -= performance.now() - start;
    }
  }

  /** The details as JSON. Of a group that gets nothing or an error after the changes, the lists are empty. */
  private async textOf({ before, after }: GroupSides, withMerged: boolean): Promise<string> {
    const isListed = after !== null;
    const [old, next] = [this.bundleOf(before), this.bundleOf(after)];
    const files = isListed ? await this.comparer.changes({ id: CALLER }, old, next) : [];
    const parameters = isListed ? await listParameters(this.readers.documents, { before, after }) : [];
    const json = `{"fileChanges":${JSON.stringify(files)},"parameters":[${parameters.join()}]`;
    if (!withMerged) return `${json}}`;
    const merged = { before: await this.mergedParameters(before), after: await this.mergedParameters(after) };
    return `${json},"mergedParameters":${JSON.stringify(merged)}}`;
  }

  /** The YAML text; null if there is no side. */
  private async mergedParameters(side: Side | null): Promise<string | null> {
    if (side === null) return null;
    const isComposite = side.document !== null;
    return this.readers.documents.run(CALLER, 'printParameters', {
      documents: side.parts.flatMap(({ documents }) => documents),
      shown: side.parts.map(({ name, secrets, documents, way }) => {
        return { child: isComposite ? name : null, documents: documents.length, secrets, way };
      }),
    });
  }

  /** Without a bundle after the changes there is no file. */
  private async filesOf({ before, after }: GroupSides): Promise<KeptFiles> {
    const diffs: [string, number][] = [];
    const none = { diffs, lists: [], made: [] };
    if (after === null) return { ...none, isCut: false };
    const [old, next] = [this.bundleOf(before), this.bundleOf(after)];
    for (const file of changedFiles(old.files, next.files)) {
      if (this.isFull) return { ...none, isCut: true };
      const line = await this.diffOf(file, old, next);
      diffs.push([file.path, line]);
      if (file.previousPath !== null) diffs.push([file.previousPath, line]);
    }
    const lists: [string, number][] = [];
    for (const [at, part] of after.parts.entries()) {
      const line = await this.listOf(part.files, at, next);
      if (line === null) return { ...none, isCut: true };
      lists.push([folderOf(after, part), line]);
    }
    const changed = new Map(diffs);
    const made: [string, number][] = [];
    for (const file of next.files) {
      if (!file.isMerged && file.part !== null) continue;
      if (!changed.has(file.path)) made.push([file.path, await this.flagsOf(file, next)]);
    }
    return { diffs, lists, made, isCut: false };
  }

  private async diffOf(file: ChangedFile, before: ShownBundle, after: ShownBundle): Promise<number> {
    const { path, previousPath, change } = file;
    const names = [
      file.before && before.keyOf(file.before as BundleFile),
      file.after && after.keyOf(file.after as BundleFile),
    ];
    const key = JSON.stringify([path, previousPath, change, ...names]);
    const known = this.diffs.get(key);
    if (known !== undefined) return known;
    const asked = { file, head: file, context: MAX_CONTEXT };
    const line = this.lines.add(
      (await this.comparer.fileDiff({ id: CALLER }, before, after, asked)).toString(),
    );
    this.diffs.set(key, line);
    return line;
  }

  /** Null if there is no room for looking at them. */
  private async listOf(
    files: readonly StoredFile[],
    part: number,
    bundle: ShownBundle,
  ): Promise<number | null> {
    const known = this.lists.get(files);
    if (known !== undefined) return known;
    const listed: [string, number][] = [];
    for (const file of files) {
      if (this.isFull) return null;
      listed.push([file.path, await this.flagsOf({ ...file, part, isMerged: false }, bundle)]);
    }
    const line = this.lines.add(JSON.stringify(listed));
    this.lists.set(files, line);
    return line;
  }

  private async flagsOf(file: BundleFile, bundle: ShownBundle): Promise<number> {
    const key = bundle.keyOf(file);
    const known = this.flags.get(key);
    if (known !== undefined) return known;
    const bytes = toBuffer(await bundle.read(file));
    const isOpen = bytes.length > 0 && bytes.at(-1) !== 0x0a;
    const flags =
      (isBinary(bytes) ? FLAGS.binary : 0) +
      (isTooLarge(bytes) ? FLAGS.tooLarge : 0) +
      (isOpen ? FLAGS.noNewline : 0);
    this.flags.set(key, flags);
    return flags;
  }

  /** Counts what is read. */
  private bundleOf(side: Side | null): ShownBundle {
    const bundle = shownBundle(this.readers, side);
    return {
      ...bundle,
      read: async (file) => {
        const bytes = await bundle.read(file);
        this.read += bytes.byteLength;
        return bytes;
      },
    };
  }
}

/** The error of a group whose list is too long is answered to who asks for its details. */
async function orTooLong(work: () => Promise<string>): Promise<string> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HawserError) || error.code !== 'parameter_merge_failed') throw error;
    return JSON.stringify({ tooLong: error.message });
  }
}
