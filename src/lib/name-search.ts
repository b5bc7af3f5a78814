/**
 * Looks for a part in many names that stand one after the other in memory. With 100,000 names of 50 characters it takes a
 * few milliseconds, where a database takes a few tens of them.
 */

/** The names in bytes, each followed by a line break. Name `i` begins at `starts[i]`, and the next one at `starts[i + 1]`. */
export interface Names {
  bytes: Buffer;
  starts: Uint32Array;
}

/** After so many names without the part, Node's own search looks for the next one that has it. */
const MISSES = 8;

export class NameSearch {
  private readonly pattern: Buffer;
  /** By how many bytes the search may go on after a byte at the end of the part (Horspool). */
  private readonly steps: Uint8Array;

  /** @param part 1 to 255 bytes without a line break */
  constructor(part: Buffer) {
    this.pattern = part;
    this.steps = new Uint8Array(256).fill(part.length);
    for (let at = 0; at < part.length - 1; at += 1) this.steps[part[at] as number] = part.length - 1 - at;
  }

  /**
   * Calls `onFound` with the index of each name that has the part.
   * @param from the first name to look at
   * @param to the name after the last one
   */
  forEach({ bytes, starts }: Names, from: number, to: number, onFound: (index: number) => void): void {
    const { pattern } = this;
    const upTo = bytes.subarray(0, starts[to]);
    let misses = 0;
    for (let index = from; index < to; index += 1) {
      if (this.isIn(bytes, starts[index] as number, starts[index + 1] as number)) {
        misses = 0;
        onFound(index);
        continue;
      }
      misses += 1;
      if (misses < MISSES) continue;
      misses = 0;
      const found = upTo.indexOf(pattern, starts[index + 1] as number);
      if (found < 0) return;
      index = nameAt(starts, index, to, found) - 1;
    }
  }

  private isIn(bytes: Buffer, start: number, end: number): boolean {
    const { pattern, steps } = this;
    const last = pattern.length - 1;
    const wanted = pattern[last] as number;
    // The byte before `end` is the line break.
    for (let at = start + last; at < end - 1; ) {
      const byte = bytes[at] as number;
      if (byte !== wanted) {
        at += steps[byte] as number;
        continue;
      }
      let left = last - 1;
      for (; left >= 0 && bytes[at - last + left] === pattern[left]; left -= 1);
      if (left < 0) return true;
      at += steps[byte] as number;
    }
    return false;
  }
}

/** The index of the name at this byte, which is one of `from` to `to - 1`. */
function nameAt(starts: Uint32Array, from: number, to: number, at: number): number {
  let [low, high] = [from, to - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
