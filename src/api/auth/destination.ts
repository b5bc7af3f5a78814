/** Where the sign-in page leads: the address of the console that somebody wanted to see when nobody was signed in. */

/** A host that cannot exist. Whatever leads away from it would lead away from this server. */
const HERE = 'https://hawser.invalid';

/**
 * Reads `next`, which anybody can write into a link to the sign-in page.
 * @param console the path with which all addresses of the console begin
 * @returns an address of the console, with query and fragment; null for anything else
 */
export function destinationOf(next: unknown, console: string): string | null {
  // Browsers drop tabs and line breaks from addresses, and take a backslash for a slash.
  if (typeof next !== 'string' || !next.startsWith(console) || /[\\\p{Cc}]/u.test(next)) return null;
  const url = below(next, console);
  if (url === null) return null;
  try {
    // Something on the way may undo the escapes of dots and slashes.
    if (below(decodeURIComponent(url.pathname), console) === null) return null;
  } catch {
    return null;
  }
  return url.pathname + url.search + url.hash;
}

/** The address in its normal form, without dots; null where it is not below the console. */
function below(address: string, console: string): URL | null {
  const url = URL.canParse(address, HERE) ? new URL(address, HERE) : null;
  return url?.origin === HERE && url.pathname.startsWith(console) ? url : null;
}

/** The address of a page or form that is to lead there. */
export function leadingTo(destination: string | null, address: string): string {
  if (destination === null) return address;
  const mark = address.includes('?') ? '&' : '?';
  return `${address}${mark}${new URLSearchParams({ next: destination })}`;
}
