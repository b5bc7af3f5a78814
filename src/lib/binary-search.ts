/**
 * The index of the first item that fits, found by halving, or the length of the list if none fits.
 * @param fits must be true for all items behind the first one for which it is true
 */
export function firstIndex<T>(list: readonly T[], fits: (item: T) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}
