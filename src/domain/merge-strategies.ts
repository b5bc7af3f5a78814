/** How the values of one parameter from several scopes meet, as the document that declares it says. */

import { escapeToken, isMapping, type Mapping, type Value } from './value.ts';

/** How lists meet that do not replace each other. */
export type ListStrategy = 'append' | 'unique' | { readonly byKey: string };

/** A strategy that is not the default of its parameter. */
export type MergeStrategy = 'replace' | ListStrategy;

/** What stands in `metadata.hawser` that nobody can mean: where, by the keys from the definition, and in words. */
export interface MergeFault {
  steps: readonly string[];
  message: string;
}

/** A type of parameters, as `ParameterType` has it. */
type TypeName = string;

const OBJECTS: readonly TypeName[] = ['object', 'secureObject'];

/** What mappings do, and any other value. */
export function defaultStrategy(type: TypeName): 'deep' | 'replace' {
  return OBJECTS.includes(type) ? 'deep' : 'replace';
}

/**
 * The strategy of a parameter. What is faulty counts as absent.
 * @param type null where it is unknown, so that nothing can be said
 */
export function readStrategy(
  definition: Mapping,
  type: TypeName | null,
): { strategy: MergeStrategy | null; faults: readonly MergeFault[] } {
  const metadata = definition.get('metadata');
  const own = isMapping(metadata) ? (metadata.get('hawser') ?? null) : null;
  const none = { strategy: null, faults: [] };
  if (own === null || type === null) return none;
  const here = ['metadata', 'hawser'];
  if (!isMapping(own)) return { ...none, faults: [{ steps: here, message: 'Must be a mapping' }] };
  const faults: MergeFault[] = [];
  for (const key of own.keys())
    if (key !== 'merge')
      faults.push({ steps: [...here, key], message: 'Must be `merge`; there is nothing else' });
  const merge = own.get('merge');
  if (merge === undefined) return { strategy: null, faults };
  const strategy = strategyIn(merge, type);
  if (strategy === undefined) faults.unshift({ steps: [...here, 'merge'], message: ruleFor(type) });
  return { strategy: strategy ?? null, faults };
}

/** Null for the default, undefined for what the type does not take. */
function strategyIn(merge: Value, type: TypeName): MergeStrategy | null | undefined {
  if (merge === defaultStrategy(type)) return null;
  if (merge === 'replace') return merge;
  if (type !== 'array') return undefined;
  if (merge === 'append' || merge === 'unique') return merge;
  const byKey = isMapping(merge) && merge.size === 1 ? merge.get('byKey') : undefined;
  return typeof byKey === 'string' ? { byKey } : undefined;
}

function ruleFor(type: TypeName): string {
  if (OBJECTS.includes(type)) return 'A mapping takes `deep` or `replace`';
  if (type === 'array') return 'A list takes `replace`, `append`, `unique` or `{byKey: member}`';
  return `A parameter of type ${type} takes \`replace\``;
}

/** A strategy as answers name it: by its word, or as JSON. */
export function nameOfStrategy(strategy: MergeStrategy | 'deep'): string {
  return typeof strategy === 'string' ? strategy : JSON.stringify(strategy);
}

export function isListStrategy(strategy: MergeStrategy | undefined): strategy is ListStrategy {
  return strategy !== undefined && strategy !== 'replace';
}

/** The pointer of a fault in the definition of a parameter. */
export function pathOfMergeFault(pathOfDefinition: string, { steps }: MergeFault): string {
  return pathOfDefinition + steps.map((step) => `/${escapeToken(step)}`).join('');
}
