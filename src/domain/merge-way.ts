/** All that decides what parameter files make together, beside the files: for one version, and where it has variables for one node. */

import { conflict, type FieldError } from '../lib/errors.ts';
import { type LeafProvenance, type MergeRules, mergeByRules, mergeMappings } from './merge.ts';
import { isListStrategy, type MergeStrategy } from './merge-strategies.ts';
import { isSecretAt, PARAMETERS, type SecretNames } from './secrets.ts';
import { holdsSecrets, isMapping, type Mapping } from './value.ts';
import { replaceValue, replaceVariables, type VariableValues } from './variables.ts';

/** It is plain, so that threads can send it to each other. */
export interface MergeWay {
  /** Those that are not the defaults, by the names of parameters. */
  strategies: readonly (readonly [name: string, strategy: MergeStrategy])[];
  /** Whether the parameters are declared, so that `unset` of a file is no value. */
  isDeclared: boolean;
  /** The names of secure parameters, as far as variables are replaced. */
  secure: readonly string[];
  /** The values of variables; null where they are texts as any other. */
  variables: VariableValues | null;
}

/** Mappings merge, and everything else replaces. */
export const PLAIN_WAY: MergeWay = { strategies: [], isDeclared: false, secure: [], variables: null };

/** What the files make together. */
export interface MergedParameters {
  merged: Mapping;
  /** What cannot be merged or replaced, with the codes `merge_key` and `unknown_variable`. */
  faults: readonly FieldError[];
  /** The names of the parameters with a variable that could not be replaced. */
  unreplaced: ReadonlySet<string>;
  /** The names of the variables that were replaced. */
  used: readonly string[];
}

const NO_NAMES: ReadonlySet<string> = new Set();

/** @throws HawserError conflict `parameter_merge_failed` */
export function mergeInWay(documents: readonly Mapping[], way: MergeWay): MergedParameters {
  const { merged, faults } = mergeByRules(documents, rulesOf(way));
  return withVariables(merged, faults, way);
}

/** What documents make that merge by default and unset nothing, where they are merged already. */
export function mergedPlainly(merged: Mapping, way: MergeWay): MergedParameters {
  return withVariables(merged, [], way);
}

/** The same with the provenance of each leaf. @throws HawserError conflict `parameter_merge_failed` */
export function traceInWay(
  documents: readonly Mapping[],
  way: MergeWay,
): MergedParameters & { provenance: ReadonlyMap<string, LeafProvenance> } {
  const { merged, faults, provenance } = mergeMappings(documents, rulesOf(way));
  const { variables } = way;
  const made = withVariables(merged, faults, way);
  if (variables === null) return { ...made, provenance };
  const secure = new Set(way.secure);
  const replaced = new Map<string, LeafProvenance>();
  for (const [pointer, leaf] of provenance) {
    const isLooked = isSecretAt(pointer, 'all') && !isSecretAt(pointer, secure);
    const value = isLooked ? replaceValue(leaf.value, variables) : leaf.value;
    replaced.set(pointer, value === leaf.value ? leaf : { ...leaf, value, text: leaf.value });
  }
  return { ...made, provenance: replaced };
}

/** @throws HawserError conflict `unknown_variable` */
export function requireReplaced({ faults, unreplaced }: MergedParameters): void {
  if (unreplaced.size === 0) return;
  const errors = faults.filter(({ code }) => code === 'unknown_variable');
  const { path, message } = errors[0] ?? { path: '', message: '' };
  throw conflict('unknown_variable', `At ${path}: ${message}`, { errors });
}

/** How the parameters of this way meet. */
export function rulesOf({ strategies, isDeclared }: MergeWay): MergeRules {
  return { strategies: new Map(strategies), hasUnset: isDeclared };
}

function withVariables(
  merged: Mapping,
  faults: readonly FieldError[],
  { variables, secure }: MergeWay,
): MergedParameters {
  if (variables === null) return { merged, faults, unreplaced: NO_NAMES, used: [] };
  const replaced = replaceVariables(merged, variables, new Set(secure));
  const { document, used, faulty } = replaced;
  return { merged: document, faults: [...faults, ...replaced.faults], unreplaced: faulty, used };
}

/**
 * The names of what is secret in what the documents make. Lists that join show by their items what is in another one, so where
 * one of them holds a secret, all of it is one.
 */
export function secretsInWay(
  secrets: SecretNames,
  { strategies }: MergeWay,
  documents: readonly Mapping[],
): SecretNames {
  if (secrets === 'all' || strategies.length === 0) return secrets;
  const holds = (name: string) =>
    documents.some((document) => {
      const block = document.get(PARAMETERS);
      return isMapping(block) && holdsSecrets(block.get(name));
    });
  const joined = strategies.flatMap(([name, merge]) => (isListStrategy(merge) && holds(name) ? name : []));
  return joined.length === 0 ? secrets : new Set([...secrets, ...joined]);
}
