/** Shows what differs between two versions, or between a version and a folder. */

import type { Context } from '../declaration.ts';
import type { Comparison, FileChange } from '../folder/differences.ts';

type Out = Context['out'];

export function showComparison({ files, totals }: Comparison, out: Out): void {
  out.table(
    files,
    [
      { title: 'CHANGE', cell: ({ change }) => change },
      {
        title: 'FILE',
        cell: ({ path, previousPath }) => (previousPath ? `${previousPath} -> ${path}` : path),
      },
      { title: 'LINES', cell: linesOf },
      { title: 'BYTES', cell: ({ sizeBefore, sizeAfter }) => sizeAfter ?? sizeBefore },
    ],
    'The files are the same.',
  );
  const counts = (['added', 'modified', 'renamed', 'removed'] as const)
    .filter((kind) => totals[kind] > 0)
    .map((kind) => `${totals[kind]} ${kind}`);
  if (counts.length > 0) out.text(`${counts.join(', ')}; lines +${totals.additions} -${totals.deletions}.`);
}

function linesOf(file: FileChange): string {
  const { isBinary, additions, deletions, executableBefore, executableAfter } = file;
  const hasBit = executableAfter !== null && executableBefore !== executableAfter;
  const bit =
    hasBit && (executableBefore !== null || executableAfter) ? [executableText(executableAfter)] : [];
  const lines = isBinary ? 'binary' : additions === null ? 'large' : `+${additions} -${deletions}`;
  return [lines, ...bit].join(', ');
}

function executableText(isExecutable: boolean): string {
  return isExecutable ? 'executable' : 'not executable any more';
}

/** Prints a patch: for people as text, and for programs byte by byte. */
export function showPatch(patch: Buffer, out: Out): void {
  if (patch.length === 0) out.note('There is no difference.');
  else if (out.isTerminal) out.diff(patch.toString('utf8'));
  else out.bytes(patch);
}
