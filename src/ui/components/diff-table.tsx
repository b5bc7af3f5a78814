/** The difference of one file as a table: line by line, or the two sides beside each other. */

import { useMemo, useState } from 'preact/hooks';
import type { FileChange, FileDiff } from '../types.ts';
import { type Row, splitRows, unifiedRows } from './diff/rows.ts';
import { Body, Head } from './diff/table-parts.tsx';
import { useMedia } from './diff/use-media.ts';

export type DiffMode = 'split' | 'unified';

interface DiffTableProps {
  path: string;
  diff: FileDiff;
  mode: DiffMode;
  /** Bytes, for files whose content is not shown. */
  sizes?: Sizes | undefined;
  /** Shows a button that asks for more unchanged lines around the changes. */
  onMore?: (() => void) | undefined;
}

type Sizes = Pick<FileChange, 'sizeBefore' | 'sizeAfter'>;

/** So many rows are made at once. */
const BLOCK = 2_000;
/** Two sides do not fit beside each other. */
const NARROW = '(max-width: 45rem)';

/** A table that is named by the path. Of a file whose content is not shown it is a sentence that says why. */
export function DiffTable({ path, diff, mode, sizes, onMore }: DiffTableProps) {
  const isNarrow = useMedia(NARROW);
  const isSplit = mode === 'split' && !isNarrow;
  const rows = useMemo(() => (isSplit ? splitRows : unifiedRows)(diff.hunks), [diff.hunks, isSplit]);
  if (rows.length === 0) return <p class="diff-note">{whyNothing(diff, sizes)}</p>;
  return (
    <>
      {/* A long difference begins anew with the first block when it is another one. */}
      <RowsInBlocks key={diff} path={path} rows={rows} isSplit={isSplit} />
      {newlineNote(diff) && <p class="diff-note">{newlineNote(diff)}</p>}
      {onMore && (
        <button type="button" class="diff-more" onClick={onMore}>
          Show more lines around the changes
        </button>
      )}
    </>
  );
}

function RowsInBlocks({ path, rows, isSplit }: { path: string; rows: readonly Row[]; isSplit: boolean }) {
  const [shown, setShown] = useState(BLOCK);
  const left = rows.length - shown;
  const starts = Array.from(
    { length: Math.ceil(Math.min(shown, rows.length) / BLOCK) },
    (_, at) => at * BLOCK,
  );
  return (
    <>
      <table class={isSplit ? 'diff diff-split' : 'diff diff-unified'} aria-label={path}>
        <Head isSplit={isSplit} />
        {starts.map((start) => (
          <Body key={start} rows={rows} start={start} end={start + BLOCK} isSplit={isSplit} />
        ))}
      </table>
      {left > 0 && (
        <p class="diff-more">
          <button type="button" onClick={() => setShown(shown + BLOCK)}>
            Show the next {Math.min(left, BLOCK)} lines
          </button>{' '}
          {shown} of {rows.length} lines are shown.
        </p>
      )}
    </>
  );
}

function whyNothing(diff: FileDiff, sizes: Sizes | undefined): string {
  if (diff.isBinary) return `This is a binary file. Its content is not shown.${sizesIn(sizes)}`;
  if (diff.isTooLarge) {
    return `This file is too large to show: more than 1 MiB or 20,000 lines.${sizesIn(sizes)}`;
  }
  if (diff.change === 'Added') return 'The file is new and empty.';
  if (diff.change === 'Removed') return 'The file was empty, and is removed.';
  return 'The content is the same on both sides.';
}

function sizesIn(sizes: Sizes | undefined): string {
  if (sizes === undefined) return '';
  const { sizeBefore, sizeAfter } = sizes;
  if (sizeBefore === null) return sizeAfter === null ? '' : ` It has ${bytes(sizeAfter)}.`;
  if (sizeAfter === null) return ` It had ${bytes(sizeBefore)}.`;
  return ` It had ${bytes(sizeBefore)}, and has ${bytes(sizeAfter)} now.`;
}

function bytes(count: number): string {
  return count === 1 ? '1 byte' : `${count} bytes`;
}

function newlineNote({ change, endsWithoutNewline: { before, after } }: FileDiff): string | null {
  if (before && after) return 'No newline at the end, before and after.';
  if (before) return change === 'Removed' ? 'No newline at the end.' : 'No newline at the end before.';
  if (after) return change === 'Added' ? 'No newline at the end.' : 'No newline at the end after the change.';
  return null;
}
