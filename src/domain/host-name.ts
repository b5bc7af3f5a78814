/** Host names of nodes, single-label ones too. */

const MAX_LENGTH = 253;

/** A label by RFC 1123, 2.1: letters, digits and inner hyphens, at most 63. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The name in lower case, or null for text that is no host name. A trailing dot is refused rather than cut, so
 * that a node has one spelling; so is `.lock`, which Git allows in no ref and a node's name becomes part of one.
 * Names outside ASCII have to come as A-labels (`xn--...`).
 */
export function normalizeHostName(raw: string): string | null {
  // The length first: it bounds the work. ASCII next: lower case turns the Kelvin sign into a `k`.
  if (raw.length > MAX_LENGTH || !/^[A-Za-z0-9.-]+$/.test(raw)) return null;
  const name = raw.toLowerCase();
  if (name.endsWith('.lock')) return null;
  return name.split('.').every((label) => LABEL.test(label)) ? name : null;
}
