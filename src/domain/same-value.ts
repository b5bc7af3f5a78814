/** Whether two values of parameters are the same. */

import { spellFloat } from './number-text.ts';
import { Float, isMapping, Secret, type Value } from './value.ts';

/**
 * The same to whoever reads them: `1` and `1.0` are not, the order of keys does not count. Secrets are compared by what is in
 * them; where one cannot be opened, by their texts.
 */
export function isSameValue(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true;
  if (a instanceof Secret || b instanceof Secret) return isSameSecret(a, b);
  if (a instanceof Float) return b instanceof Float && spellFloat(a) === spellFloat(b);
  if (isMapping(a)) {
    if (!isMapping(b) || a.size !== b.size) return false;
    for (const [key, item] of a) if (!b.has(key) || !isSameValue(item, b.get(key))) return false;
    return true;
  }
  if (!Array.isArray(a) || !Array.isArray(b)) return false;
  return a.length === b.length && a.every((item, at) => isSameValue(item, b[at]));
}

function isSameSecret(a: Value | undefined, b: Value | undefined): boolean {
  const [one, other] = [a, b].map((value) =>
    value instanceof Secret && value.isOpen ? value.reveal() : value,
  );
  if (!(one instanceof Secret || other instanceof Secret)) return isSameValue(one, other);
  return one instanceof Secret && other instanceof Secret && one.text === other.text;
}
