/** Names: of configurations and composites, which are also names of repositories; of users, groups and roles. */

const RESOURCE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** `.git` ends the repository's folder and `.lock` Git's own lock files; `..` is refused in every ref. */
export function isResourceName(text: string): boolean {
  return RESOURCE_NAME.test(text) && !/\.(?:git|lock)$/i.test(text) && !text.includes('..');
}

/**
 * The form in which names of users, groups and roles are unique: NFKC makes look-alike forms of one character the
 * same, and case is folded by way of upper case, which brings `ß` and `SS` or the three sigmas together.
 */
export function nameKey(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

const USER_NAME = /^[\p{L}\p{Nd}][\p{L}\p{Nd}._@-]{0,63}$/u;

/** A user name in NFKC, null for what cannot be one: 1 to 64 letters, digits and `._@-`, the first no sign. */
export function normalizeUserName(text: string): string | null {
  const name = text.normalize('NFKC');
  return USER_NAME.test(name) ? name : null;
}

/** A name of a group or role in NFC, null for what cannot be one: 1 to 64 printable characters, trimmed. */
export function normalizeLabel(text: string): string | null {
  const name = text.trim().normalize('NFC');
  return isPrintable(name, 64) ? name : null;
}

/** Whether the text has 1 to `max` characters, none of which controls, formats or ends a line. */
export function isPrintable(text: string, max: number): boolean {
  return text.length > 0 && [...text].length <= max && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text);
}

const MAX_HOST_NAME = 253;

/** A label by RFC 1123, 2.1: letters, digits and inner hyphens, at most 63. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The name in lower case, or null for text that is no host name. A trailing dot is refused rather than cut, so
 * that a node has one spelling; so is `.lock`, which Git allows in no ref and a node's name becomes part of one.
 * Names outside ASCII have to come as A-labels (`xn--...`).
 */
export function normalizeHostName(raw: string): string | null {
  // The length first: it bounds the work. ASCII next: lower case turns the Kelvin sign into a `k`.
  if (raw.length > MAX_HOST_NAME || !/^[A-Za-z0-9.-]+$/.test(raw)) return null;
  const name = raw.toLowerCase();
  if (name.endsWith('.lock')) return null;
  return name.split('.').every((label) => LABEL.test(label)) ? name : null;
}
