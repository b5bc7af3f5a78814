/**
 * The work with two contents of one file. These functions take bytes and give plain values, so they can be carried out by
 * the caller or in a thread. Null stands for a side on which there is no file.
 */

import type { ChangedFile } from '../domain/file-changes.ts';
import { type FileDiffHead, shownHunks } from '../domain/file-diff.ts';
import { binaryFilePatch, textPatch } from '../domain/git-patch.ts';
import {
  countChanged,
  type DiffBounds,
  type LineChange,
  lineChanges,
  wholeMiddle,
} from '../domain/line-diff.ts';
import { countLines, isBinary, isTooLarge, TextLines } from '../domain/text-lines.ts';
import type { Send } from '../lib/threads.ts';
import { type Compared, TooManyEdits, toBuffer } from './compare-weight.ts';

export interface CountedLines {
  isBinary: boolean;
  /** Null for a binary file, and for a text above the limits of texts that are shown. */
  additions: number | null;
  deletions: number | null;
}

/** A larger text stands in a patch like a binary file, because a patch takes several times the memory of its lines. */
const MAX_PATCHED = { bytes: 32 * 1024 * 1024, lines: 1_000_000 };

export const compareTasks = {
  countLines({ before, after, bounds }: Compared): CountedLines {
    const [old, next] = [bufferOf(before), bufferOf(after)];
    const none = { additions: null, deletions: null };
    if (isBinary(old) || isBinary(next)) return { isBinary: true, ...none };
    if (isTooLarge(old) || isTooLarge(next)) return { isBinary: false, ...none };
    const changes = changesOf(new TextLines(old), new TextLines(next), bounds);
    return { isBinary: false, ...countChanged(changes) };
  },

  /** The JSON text of a difference. */
  printFileDiff({
    head,
    context,
    ...compared
  }: Compared & { head: FileDiffHead; context: number }): Uint8Array {
    const [old, next] = [bufferOf(compared.before), bufferOf(compared.after)];
    const shown = {
      isBinary: isBinary(old) || isBinary(next),
      isTooLarge: isTooLarge(old) || isTooLarge(next),
    };
    const isShown = !shown.isBinary && !shown.isTooLarge;
    const { path, previousPath, change } = head;
    return Buffer.from(
      JSON.stringify({
        ...{ path, previousPath, change },
        ...shown,
        hunks: isShown ? hunksOf(old, next, compared.bounds, context) : [],
        endsWithoutNewline: { before: lacksNewline(old), after: lacksNewline(next) },
      }),
    );
  },

  /** Sends what `git apply` takes, of one file, in pieces of some 256 KiB. */
  async printPatch({ file, before, after, bounds }: Compared & { file: ChangedFile }, send: Send) {
    const [old, next] = [bufferOf(before), bufferOf(after)];
    for await (const piece of patchOf(file, old, next, bounds)) await send(piece);
  },
};

export type CompareTasks = typeof compareTasks;

function patchOf(
  file: ChangedFile,
  old: Buffer,
  next: Buffer,
  bounds: DiffBounds,
): Iterable<Buffer> | AsyncIterable<Buffer> {
  if (isKeptWhole(old) || isKeptWhole(next)) return binaryFilePatch(file, old, next);
  const [oldLines, newLines] = [new TextLines(old), new TextLines(next)];
  return textPatch(file, oldLines, newLines, changesOf(oldLines, newLines, bounds));
}

function hunksOf(old: Buffer, next: Buffer, bounds: DiffBounds, context: number) {
  const [oldLines, newLines] = [new TextLines(old), new TextLines(next)];
  return shownHunks(oldLines, newLines, changesOf(oldLines, newLines, bounds), context);
}

function changesOf(old: TextLines, next: TextLines, bounds: DiffBounds): LineChange[] {
  const changes = lineChanges(old, next, bounds);
  if (changes === null && bounds.edits) throw new TooManyEdits();
  return changes ?? wholeMiddle(old, next);
}

function isKeptWhole(bytes: Buffer): boolean {
  const { bytes: most, lines } = MAX_PATCHED;
  return isBinary(bytes) || bytes.length > most || countLines(bytes, lines) > lines;
}

function lacksNewline(bytes: Buffer): boolean {
  return bytes.length > 0 && bytes.at(-1) !== 0x0a;
}

function bufferOf(bytes: Uint8Array | null): Buffer {
  return bytes === null ? Buffer.alloc(0) : toBuffer(bytes);
}
