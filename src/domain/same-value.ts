/** Whether two values of parameters are the same. */

import { spellFloat } from './number-text.ts';
import { Float, isMapping, type Value } from './value.ts';

/** The same to whoever reads them: `1` and `1.0` are not, the order of keys does not count. */
export function isSameValue(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true;
  if (a instanceof Float) return b instanceof Float && spellFloat(a) === spellFloat(b);
  if (isMapping(a)) {
    if (!isMapping(b) || a.size !== b.size) return false;
    for (const [key, item] of a) if (!b.has(key) || !isSameValue(item, b.get(key))) return false;
    return true;
  }
  if (!Array.isArray(a) || !Array.isArray(b)) return false;
  return a.length === b.length && a.every((item, at) => isSameValue(item, b[at]));
}
