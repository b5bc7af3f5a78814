/** How tables show what the API answers. */

/** A time of the API to the second, in UTC as all of them; null stays null. */
export function dateTime(time: string | null): string | null {
  return time?.replace(/\.\d+Z$/, 'Z').replace('T', ' ') ?? null;
}
