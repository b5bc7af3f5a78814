/** Numbers that scripts are given, and tables that they print. */

/** @throws Error for a text that is no whole number */
export function toCount(given: string | undefined): number | null {
  if (given === undefined) return null;
  if (/^\d{1,10}$/.test(given)) return Number(given);
  throw new Error(`not a whole number: ${given}`);
}

/** A table in Markdown whose last column is of numbers. */
export function toTable(head: readonly string[], rows: readonly (readonly unknown[])[]): string[] {
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;
  return [line(head), '|---|---:|', ...rows.map(line)];
}
