/** Names of configurations and composites, which are also names of repositories; of users, groups, roles; of hosts. */

const RESOURCE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** A repository's folder ends with `.git` and Git's lock files with `.lock`. Git refuses `..` in every ref. */
export function isResourceName(text: string): boolean {
  return RESOURCE_NAME.test(text) && !/\.(?:git|lock)$/i.test(text) && !text.includes('..');
}

/**
 * The form in which names of users, groups and roles are unique. NFKC makes variants of one character the same. Case is
 * folded by way of upper case, so that `ß` and `SS`, or the three sigmas, become the same.
 */
export function nameKey(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
}

const USER_NAME = /^[\p{L}\p{Nd}][\p{L}\p{Nd}._@-]{0,63}$/u;

/** The user name in NFKC. Null unless it has 1 to 64 letters, digits and `._@-`, and begins with a letter or digit. */
export function normalizeUserName(text: string): string | null {
  const name = text.normalize('NFKC');
  return USER_NAME.test(name) ? name : null;
}

/** Whether mail could go there. Nothing is ever sent. */
export const EMAIL = /^[^@\s\p{C}]+@[^@\s\p{C}]+$/u;

/** The name of a group or role, trimmed and in NFC. Null unless it has 1 to 64 printable characters. */
export function normalizeLabel(text: string): string | null {
  const name = text.trim().normalize('NFC');
  return isPrintable(name, 64) ? name : null;
}

/** Whether the text has 1 to `max` characters, none of which is a control, format or line-ending character. */
export function isPrintable(text: string, max: number): boolean {
  return text.length > 0 && [...text].length <= max && !/[\p{C}\p{Zl}\p{Zp}]/u.test(text);
}

const MAX_HOST_NAME = 253;

/**
 * A label by RFC 1123, 2.1: at most 63 letters, digits and inner hyphens. Underscores are taken too, as names of Windows
 * machines and of containers have them.
 */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** A registration key or a token, which somebody has put into the field of the name. The audit trail shows names. */
const SECRET = /^(?:reg|pat)_[a-z0-9_-]{32,}$/;

/**
 * The host name in lower case, or null if the text is no host name. Names with a single label are accepted. The dot of
 * the root at the end is cut off, so that a node has one spelling. `.lock` at the end is refused, because the name
 * becomes part of a Git ref. Names outside ASCII must come as A-labels (`xn--...`).
 */
export function normalizeHostName(raw: string): string | null {
  // The length is checked first, to bound the work, and ASCII before lower case, which turns the Kelvin sign into `k`.
  if (raw.length > MAX_HOST_NAME + 1 || !/^[A-Za-z0-9._-]+$/.test(raw)) return null;
  const name = raw.toLowerCase().replace(/\.$/, '');
  if (name.length > MAX_HOST_NAME || name.endsWith('.lock') || SECRET.test(name)) return null;
  return name.split('.').every((label) => LABEL.test(label)) ? name : null;
}
