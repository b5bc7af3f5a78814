/**
 * Anchors of a difference: lines that are left alone, so that what is between them can be compared piece by piece. A
 * difference that is split by anchors may be longer than the shortest one, and is found far sooner.
 */

/** The places of the same line on both sides. */
export type Pair = readonly [old: number, next: number];

/** A label for each line. Null stands for a line that is no anchor. No label occurs twice on one side. */
type Labels = readonly (number | null)[];

/** More than a text can have of one line. */
const OCCURRENCES = 2 ** 26;

/** Labels the lines that occur once, as the patience diff of Bram Cohen does. */
export function uniqueIn(ids: readonly number[]): Labels {
  const counts = new Map<number, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return ids.map((id) => (counts.get(id) === 1 ? id : null));
}

/** Labels every line: the first of equal lines, the second of them, and so on. */
export function labelled(ids: readonly number[]): Labels {
  const counts = new Map<number, number>();
  return ids.map((id) => {
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    return id * OCCURRENCES + count;
  });
}

interface Link {
  pair: Pair;
  previous: Link | null;
}

/** The longest list of equal labels that are in the same order on both sides. */
export function commonOrder(old: Labels, next: Labels): Pair[] {
  const places = new Map(next.map((label, place) => [label, place]));
  // For each length, the chain of that length whose last place on the new side is the lowest.
  const chains: Link[] = [];
  for (const [place, label] of old.entries()) {
    const other = label === null ? undefined : places.get(label);
    if (other === undefined) continue;
    const length = firstBehind(chains, other);
    chains[length] = { pair: [place, other], previous: chains[length - 1] ?? null };
  }
  const pairs: Pair[] = [];
  for (let link = chains.at(-1) ?? null; link !== null; link = link.previous) pairs.push(link.pair);
  return pairs.reverse();
}

/** The first chain that does not end before the place. */
function firstBehind(chains: readonly Link[], place: number): number {
  let [low, high] = [0, chains.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((chains[middle] as Link).pair[1] < place) low = middle + 1;
    else high = middle;
  }
  return low;
}
