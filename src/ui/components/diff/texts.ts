/** The difference of two texts that the browser holds, for example of both sides of a conflict. */

import type { FileDiff } from '../../types.ts';

/** In milliseconds. After it, all lines are shown as replaced. */
const LONGEST_SEARCH = 1_000;
const CONTEXT = 3;
const KINDS: Record<string, FileDiff['hunks'][number]['lines'][number]['kind']> = {
  '+': 'Added',
  '-': 'Removed',
  ' ': 'Context',
};

/** The difference of two texts, as the API answers that of two files. It loads the library for that when it is needed. */
export async function diffOfTexts(path: string, before: string, after: string): Promise<FileDiff> {
  const { structuredPatch } = await import('diff');
  const options = { context: CONTEXT, timeout: LONGEST_SEARCH };
  const patch = structuredPatch(path, path, before, after, undefined, undefined, options);
  return {
    ...{ path, previousPath: null, isBinary: false, isTooLarge: false },
    change: before === after ? 'Unchanged' : 'Modified',
    hunks: patch === undefined ? [wholeHunk(before, after)] : patch.hunks.map(toHunk),
    endsWithoutNewline: { before: endsOpen(before), after: endsOpen(after) },
  };
}

type Hunk = FileDiff['hunks'][number];

function toHunk(hunk: { oldStart: number; newStart: number; lines: string[] }): Hunk {
  let [oldNumber, newNumber] = [hunk.oldStart, hunk.newStart];
  const lines = hunk.lines.flatMap((line) => {
    const kind = KINDS[line[0] ?? ''];
    if (kind === undefined) return [];
    return {
      kind,
      oldNumber: kind === 'Added' ? null : oldNumber++,
      newNumber: kind === 'Removed' ? null : newNumber++,
      text: line.slice(1),
    };
  });
  return {
    ...{ oldStart: hunk.oldStart, oldLines: oldNumber - hunk.oldStart },
    ...{ newStart: hunk.newStart, newLines: newNumber - hunk.newStart },
    lines,
  };
}

function wholeHunk(before: string, after: string): Hunk {
  const lines = [...linesOf(before).map((line) => `-${line}`), ...linesOf(after).map((line) => `+${line}`)];
  return toHunk({ oldStart: 1, newStart: 1, lines });
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function endsOpen(text: string): boolean {
  return text !== '' && !text.endsWith('\n');
}
