/** Which leaves of a parameter file are secrets, by what is encrypted and by the schema. */

import type { Leaf } from '../../components/editor/secret-leaves.ts';
import type { DocumentSchema } from '../../components/editor/settings.ts';
import { SEALED } from '../../sealed.ts';
import { parametersOf } from './schema.ts';

export interface SecretRow {
  /** JSON Pointer from the root of the document. */
  pointer: string;
  /** `Passed` stands for a text that the node replaces by what is stored elsewhere; an `Object` takes members. */
  state: 'Sealed' | 'Clear' | 'Passed' | 'Unset' | 'Object';
  text: string;
  /** Empty for what is not encrypted. */
  keyId: string;
}

const WHOLE = new RegExp(`^${SEALED.source}$`);
const PASSED = /^\[(?:secret|envvar)\(.*\)\]$/;
const BLOCK = '/parameters/';

/** @param hasUnset whether parameters without a value are listed too */
export function secretRows(
  leaves: readonly Leaf[],
  schema: DocumentSchema | null,
  hasUnset: boolean,
): SecretRow[] {
  const secure = schema === null ? [] : parametersOf(schema).filter(({ isSecure }) => isSecure);
  const declared = new Map(secure.map(({ name, type }) => [`${BLOCK}${escaped(name)}`, type === 'object']));
  const rows = leaves.flatMap((leaf): SecretRow[] => {
    const { pointer, text, isItem } = leaf;
    const keyId = WHOLE.exec(text)?.[1] ?? '';
    if (keyId !== '') return [{ pointer, state: 'Sealed', text, keyId }];
    const name = pointer.split('/', 3).join('/');
    if (isItem || !declared.has(name) || text === '') return [];
    if (declared.get(pointer)) return [];
    return [{ pointer, state: PASSED.test(text) ? 'Passed' : 'Clear', text, keyId }];
  });
  if (!hasUnset) return rows;
  const isThere = new Set(rows.map(({ pointer }) => pointer));
  const missing = [...declared].flatMap(([pointer, isObject]): SecretRow[] =>
    isThere.has(pointer) ? [] : [{ pointer, state: isObject ? 'Object' : 'Unset', text: '', keyId: '' }],
  );
  return [...rows, ...missing];
}

const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');
