/** Finds the blocks of a page that are executed: fences marked `bash`, each with the output shown right after it. */

export interface Block {
  page: string;
  /** The line of the page with the first command. */
  line: number;
  code: string;
  /** True for `bash fails`: the last command is there to show how it fails. */
  fails: boolean;
  /** True for `bash last`: the block is run after all others, when the server is stopped. */
  isLast: boolean;
  /** The `text` fence that follows with only blank lines between; null if no output is shown. */
  expected: string | null;
}

interface Fence {
  info: string;
  line: number;
  end: number;
  text: string;
}

/** Ignores fences with other marks, such as `sh`. */
export function readBlocks(page: string, markdown: string): Block[] {
  const lines = markdown.split('\n');
  const fences = readFences(lines);
  return fences.flatMap((fence, index) => {
    if (!/^bash(?: fails| last)?$/.test(fence.info)) return [];
    const next = fences[index + 1];
    const follows =
      next?.info === 'text' && lines.slice(fence.end, next.line - 2).every((line) => line.trim() === '');
    const { line, text: code, info } = fence;
    const expected = follows ? next.text : null;
    return [{ page, line, code, fails: info === 'bash fails', isLast: info === 'bash last', expected }];
  });
}

function readFences(lines: readonly string[]): Fence[] {
  const fences: Fence[] = [];
  let open: { info: string; line: number } | null = null;
  lines.forEach((line, index) => {
    const mark = /^```(.*)$/.exec(line);
    if (mark === null) return;
    if (open === null) {
      open = { info: (mark[1] ?? '').trim(), line: index + 2 };
      return;
    }
    fences.push({ ...open, end: index + 1, text: lines.slice(open.line - 1, index).join('\n') });
    open = null;
  });
  return fences;
}
