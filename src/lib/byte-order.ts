/** Git's order of texts, which is the order of their bytes in UTF-8. */

/** The code units that JavaScript orders differently, which are those of characters beyond the basic plane. */
const SURROGATE = /[\ud800-\udfff]/;

/** Compares two texts by their bytes: the result is below 0 when `a` comes first. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0;
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : 1;
}

/** Sorts the items by the bytes of their keys, and takes almost no time if they are in order already. */
export function sortByBytes<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }));
  if (keyed.some(({ key }) => SURROGATE.test(key))) {
    const spelled = keyed.map(({ item, key }) => ({ item, bytes: Buffer.from(key) }));
    return spelled.sort((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ item }) => item);
  }
  return keyed.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ item }) => item);
}
