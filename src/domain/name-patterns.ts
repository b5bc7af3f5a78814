/** Patterns for host names: `*` stands for any characters of one label, or for none. */

const MAX_LENGTH = 253;
const MAX_LABEL = 63;
/** What a label of a host name may have, and `*`. */
const LABEL = /^[a-z0-9_*-]+$/;

/**
 * The pattern in lower case, or null if it is none. A label of it may be longer than that of a name only by its `*`, of which
 * several together are one.
 */
export function normalizeNamePattern(raw: string): string | null {
  if (raw.length > MAX_LENGTH || !/^[A-Za-z0-9._*-]+$/.test(raw)) return null;
  const labels = raw.toLowerCase().replace(/\*+/g, '*').split('.');
  const fits = (label: string) => LABEL.test(label) && label.replaceAll('*', '').length <= MAX_LABEL;
  return labels.every(fits) ? labels.join('.') : null;
}

/** Whether a host name, in lower case, fits a pattern as `normalizeNamePattern` gives it. */
export function matchesName(pattern: string, fqdn: string): boolean {
  const [wanted, labels] = [pattern.split('.'), fqdn.split('.')];
  return wanted.length === labels.length && wanted.every((each, at) => matchesLabel(each, labels[at] ?? ''));
}

/**
 * Takes the first place for each part between two `*`. So it needs time in proportion to the two lengths, where a regular
 * expression of many `*` could need years.
 */
function matchesLabel(pattern: string, label: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return label === first;
  if (label.length < first.length + last.length) return false;
  if (!label.startsWith(first) || !label.endsWith(last)) return false;
  const end = label.length - last.length;
  let from = first.length;
  for (const part of rest) {
    const place = label.indexOf(part, from);
    if (place < 0 || place + part.length > end) return false;
    from = place + part.length;
  }
  return true;
}
