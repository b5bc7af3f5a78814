/**
 * Compares output with what the README shows. `...` stands for anything within a line. A line that is only `...`
 * stands for any number of lines. The rest must be equal, except for blanks at the ends of lines.
 */
export function matches(expected: string, actual: string): boolean {
  return new RegExp(`^${expected.split('\n').map(toPattern).join('')}$`).test(tidy(actual));
}

function toPattern(line: string): string {
  if (line.trim() === '...') return '(?:[^\\n]*\\n)*?';
  const parts = line.trimEnd().split('...');
  return `${parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[^\\n]*?')}\\n`;
}

function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.trimEnd());
  while (lines.at(-1) === '') lines.pop();
  return `${lines.join('\n')}\n`;
}
