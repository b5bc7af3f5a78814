/** The addresses of parameter files that are not there yet. */

import { links } from '../../links.ts';
import type { Scope } from './model.ts';

/** The page on which a new file begins. @param from a version of the same scope whose content it begins with */
export function newFileLink(
  name: string,
  { scopeTypeName, scopeValue }: Scope,
  { version, from }: { version: string; from?: string },
): string {
  const file = links.parameterFile(name, { scopeTypeName, scopeValue, version });
  return `${file}&new=true${from === undefined ? '' : `&from=${encodeURIComponent(from)}`}`;
}
