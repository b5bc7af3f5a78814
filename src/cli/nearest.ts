/** What somebody may have meant by a name that nothing has. */

/** The name of those that is most like a word; null where none is like it, and where one is the word itself. */
export function nearestOf(word: string, names: readonly string[]): string | null {
  const wanted = word.toLowerCase();
  let best: string | null = null;
  let least = Math.max(1, Math.floor(wanted.length / 4)) + 1;
  for (const name of names) {
    const lower = name.toLowerCase();
    if (lower === wanted) return null;
    // The host name of a machine stands for its whole name.
    const distance = lower.startsWith(`${wanted}.`) ? 0 : distanceOf(wanted, lower);
    if (distance < least) [best, least] = [name, distance];
  }
  return best;
}

/** Such as ` Did you mean "web"?`, and nothing where no name is like the word. */
export function didYouMean(word: string, names: readonly string[]): string {
  const nearest = nearestOf(word, names);
  return nearest === null ? '' : ` Did you mean "${nearest}"?`;
}

/** How many letters must be put in, taken out or replaced to make the one text the other (Levenshtein). */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
