/** The rows of the table of parameter files: each scope with its files, the weakest first. */

import type { ParameterFile, ScopeType, ScopeValue } from '../../types.ts';
import type { Scope } from './model.ts';

export interface Row extends Scope {
  key: string;
  /** The highest version first. */
  files: readonly ParameterFile[];
}

/** The most rows of scopes without any file. */
const MOST_EMPTY = 200;

const keyOf = ({ scopeTypeName, scopeValue }: Scope) => `${scopeTypeName}/${scopeValue ?? ''}`;

export interface RowsWish {
  types: readonly ScopeType[];
  /** By precedence, value and version, as the API lists them. */
  files: readonly ParameterFile[];
  /** The values that are defined, by the id of their type. Empty where scopes without files are not shown. */
  values: ReadonlyMap<string, readonly ScopeValue[]>;
  /** Whether Default has a row without files too. */
  hasDefault: boolean;
}

/** @returns the rows, and how many scopes without files are left out */
export function rowsOf({ types, files, values, hasDefault }: RowsWish): { rows: Row[]; left: number } {
  const bySeries = new Map<string, ParameterFile[]>();
  for (const file of files) bySeries.set(keyOf(file), [...(bySeries.get(keyOf(file)) ?? []), file]);
  const rows: Row[] = [];
  let empty = 0;
  for (const { id, name: scopeTypeName } of types) {
    const withFiles = files.filter((file) => file.scopeTypeName === scopeTypeName);
    const known = [
      ...(hasDefault && scopeTypeName === 'Default' ? [null] : []),
      ...withFiles.map(({ scopeValue }) => scopeValue),
      ...(values.get(id) ?? []).map(({ value }) => value),
    ];
    for (const scopeValue of [...new Set(known)].sort(byText)) {
      const key = keyOf({ scopeTypeName, scopeValue });
      const own = bySeries.get(key) ?? [];
      if (own.length === 0) empty += 1;
      if (own.length > 0 || empty <= MOST_EMPTY) rows.push({ key, scopeTypeName, scopeValue, files: own });
    }
  }
  return { rows, left: Math.max(0, empty - MOST_EMPTY) };
}

/** In the order of the API, which compares by code units. */
function byText(a: string | null, b: string | null): number {
  const [one, other] = [a ?? '', b ?? ''];
  return one < other ? -1 : Number(one > other);
}
