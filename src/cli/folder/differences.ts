/** Compares two contents as the server compares two versions: by file, and as one patch that `git apply` takes. */

import type { Schemas } from '../../client/api-types.ts';
import { type ChangedFile, type ChangeKind, changedFiles } from '../../domain/file-changes.ts';
import { binaryFilePatch, patchHead, textPatch } from '../../domain/git-patch.ts';
import { countChanged, type LineChange, lineChanges, wholeMiddle } from '../../domain/line-diff.ts';
import { isBinary, isTooLarge, TextLines } from '../../domain/text-lines.ts';
import { sha256Hex } from '../../lib/hash.ts';
import type { ContentFile, Contents } from './contents.ts';

export type FileChange = Schemas['FileChange'];

export interface Comparison {
  files: FileChange[];
  totals: Schemas['Comparison']['totals'];
}

/** A difference that takes longer replaces all between what is common at the beginning and at the end. */
const MILLISECONDS = 2_000;
const EMPTY = Buffer.alloc(0);

export function compareContents(before: Contents, after: Contents): Comparison {
  const files = changedFiles(before, after).map(toFileChange);
  const count = (kind: ChangeKind) => files.filter(({ change }) => change === kind).length;
  const sum = (of: 'additions' | 'deletions') => files.reduce((total, file) => total + (file[of] ?? 0), 0);
  return {
    files,
    totals: {
      ...{ added: count('Added'), removed: count('Removed') },
      ...{ modified: count('Modified'), renamed: count('Renamed') },
      ...{ additions: sum('additions'), deletions: sum('deletions') },
    },
  };
}

/** The patch that makes the one content the other. It is empty where they are the same. */
export async function patchOf(before: Contents, after: Contents): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (const file of changedFiles(before, after))
    for await (const piece of filePatch(file)) pieces.push(piece);
  return Buffer.concat(pieces);
}

function filePatch(file: ChangedFile): Iterable<Buffer> | AsyncIterable<Buffer> {
  if (file.before?.oid === file.after?.oid) return [Buffer.from(patchHead(file, false))];
  const [old, next] = [bytesOf(file.before), bytesOf(file.after)];
  if (isBinary(old) || isBinary(next)) return binaryFilePatch(file, old, next);
  const [before, after] = [new TextLines(old), new TextLines(next)];
  return textPatch(file, before, after, changesOf(before, after));
}

function toFileChange(file: ChangedFile): FileChange {
  const { path, previousPath, change } = file;
  const [before, after] = [file.before, file.after] as (ContentFile | null)[];
  const checksumOf = (side: ContentFile | null | undefined) => (side ? sha256Hex(side.content) : null);
  return {
    ...{ path, previousPath, change },
    ...countsOf(bytesOf(file.before), bytesOf(file.after)),
    sizeBefore: before?.content.length ?? null,
    sizeAfter: after?.content.length ?? null,
    checksumBefore: checksumOf(before),
    checksumAfter: checksumOf(after),
    executableBefore: before?.executable ?? null,
    executableAfter: after?.executable ?? null,
  };
}

function countsOf(old: Buffer, next: Buffer): Pick<FileChange, 'isBinary' | 'additions' | 'deletions'> {
  const none = { additions: null, deletions: null };
  if (isBinary(old) || isBinary(next)) return { isBinary: true, ...none };
  if (isTooLarge(old) || isTooLarge(next)) return { isBinary: false, ...none };
  return { isBinary: false, ...countChanged(changesOf(new TextLines(old), new TextLines(next))) };
}

function changesOf(before: TextLines, after: TextLines): LineChange[] {
  return lineChanges(before, after, { milliseconds: MILLISECONDS }) ?? wholeMiddle(before, after);
}

function bytesOf(side: ChangedFile['before']): Buffer {
  return (side as ContentFile | null)?.content ?? EMPTY;
}
