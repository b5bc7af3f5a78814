/** The problems in merged parameters that a change brings. */

import { printJson } from '../domain/json-text.ts';
import {
  isRequired,
  type ParameterDefinition,
  type ParameterDefinitions,
} from '../domain/parameter-schema.ts';
import { isSameValue } from '../domain/same-value.ts';
import { PARAMETERS } from '../domain/secrets.ts';
import { isMapping, type Mapping, type Value } from '../domain/value.ts';
import type { FieldError } from '../lib/errors.ts';
import { checkMerged } from './provenance-text.ts';

/** Merged parameters, and what they are checked with. */
export interface CheckedSide {
  /** Null if any parameters are accepted. */
  definitions: ParameterDefinitions | null;
  documents: readonly Mapping[];
  merged: Mapping;
  /** As `MergedParameters` has them. */
  faults: readonly FieldError[];
  unreplaced: ReadonlySet<string>;
}

/**
 * The problems that are not there before, with the same path, code and message. Only parameters whose value or definition
 * has changed are looked at, because this is done for each group of a preview.
 * @param before null if there was nothing that could have had problems
 */
export function newProblems(before: CheckedSide | null, after: CheckedSide): FieldError[] {
  if (after.definitions === null) return [];
  if (before === null) return check(after);
  const narrowed = narrow(before, after);
  if (narrowed === 'same') return [];
  const found = check(narrowed?.after ?? after);
  if (found.length === 0) return found;
  const known = new Set(check(narrowed?.before ?? before).map(keyOf));
  return found.filter((problem) => !known.has(keyOf(problem)));
}

const check = ({ definitions, documents, ...made }: CheckedSide) => checkMerged(definitions, documents, made);

const keyOf = ({ path, code, message }: FieldError) => JSON.stringify([path, code, message]);

/** The two sides with the parameters alone that have changed. Null if all must be looked at. */
function narrow(
  before: CheckedSide,
  after: CheckedSide,
): { before: CheckedSide; after: CheckedSide } | 'same' | null {
  const [old, next] = [before.merged.get(PARAMETERS), after.merged.get(PARAMETERS)];
  if (before.definitions === null || after.definitions === null || !isMapping(old) || !isMapping(next))
    return null;
  const names = new Set(redefined(before.definitions, after.definitions));
  for (const [name, value] of next) if (!isSameValue(old.get(name), value)) names.add(name);
  for (const name of old.keys()) if (!next.has(name)) names.add(name);
  if (names.size === 0) return 'same';
  const side = (definitions: ParameterDefinitions, block: Mapping, whole: CheckedSide) => ({
    ...{ ...whole, definitions: only(definitions, names) },
    merged: new Map<string, Value>([[PARAMETERS, only(block, names)]]),
  });
  return {
    before: side(before.definitions, old, before),
    after: side(after.definitions, next, after),
  };
}

/** The entries of these names, in the order of the map. */
function only<V>(map: ReadonlyMap<string, V>, names: ReadonlySet<string>): Map<string, V> {
  const found = new Map<string, V>();
  for (const [name, value] of map) if (names.has(name)) found.set(name, value);
  return found;
}

/** What was found about two definitions. They never change. */
const compared = new WeakMap<ParameterDefinitions, WeakMap<ParameterDefinitions, readonly string[]>>();

/** The names whose values are checked otherwise than before. */
function redefined(before: ParameterDefinitions, after: ParameterDefinitions): readonly string[] {
  if (before === after) return [];
  const known = compared.get(before) ?? new WeakMap<ParameterDefinitions, readonly string[]>();
  compared.set(before, known);
  const found = known.get(after) ?? compareDefinitions(before, after);
  known.set(after, found);
  return found;
}

function compareDefinitions(before: ParameterDefinitions, after: ParameterDefinitions): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => textOf(before.get(name)) !== textOf(after.get(name)));
}

/** All of a definition that a check looks at. */
function textOf(definition: ParameterDefinition | undefined): string {
  if (definition === undefined) return '';
  const { type, minLength, maxLength, minValue, maxValue, allowedValues, merge } = definition;
  const bounds = [minValue, maxValue].map((bound) => bound !== undefined && printJson(bound));
  const allowed = allowedValues?.map((value) => printJson(value));
  return JSON.stringify([type, minLength, maxLength, ...bounds, allowed, isRequired(definition), merge]);
}
