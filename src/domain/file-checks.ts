/** What is wrong with a parameter file, or with a document that sets everything. */

import type { FieldError } from '../lib/errors.ts';
import { listIn, unkeyedIn } from './list-merging.ts';
import { mergeKeyFault } from './merge.ts';
import { checkParameters, MAX_ERRORS } from './parameter-checks.ts';
import { isSecure, type ParameterDefinitions } from './parameter-schema.ts';
import { PARAMETERS } from './secrets.ts';
import { unsetFaults } from './unset.ts';
import { isMapping, type Mapping } from './value.ts';
import { mayHoldVariable, replaceVariables, type VariableValues } from './variables.ts';

export interface FileCheckOptions {
  /** As `CheckOptions` has it. */
  partial: boolean;
  /** Something for each variable that there is; null where variables are texts as any other. */
  variables: VariableValues | null;
}

/** All faults of the document, at most `MAX_ERRORS`. Without definitions it has none, but for variables that there are not. */
export function checkFile(
  definitions: ParameterDefinitions | null,
  document: Mapping,
  { partial, variables }: FileCheckOptions,
): FieldError[] {
  const errors: FieldError[] = [];
  let looked = document;
  let unreplaced: ReadonlySet<string> = new Set();
  if (variables !== null) {
    const secure = new Set(
      definitions ? [...definitions].filter(([, { type }]) => isSecure(type)).map(([name]) => name) : [],
    );
    const replaced = replaceVariables(document, variables, secure);
    errors.push(...replaced.faults);
    looked = replaced.document;
    unreplaced = namesWithVariables(document);
  }
  errors.push(...checkParameters(definitions, looked, { partial, unreplaced }));
  if (definitions !== null)
    errors.push(
      ...keyFaults(definitions, document),
      ...unsetFaults(document, (name) => definitions.has(name)),
    );
  return errors.slice(0, MAX_ERRORS);
}

function namesWithVariables(document: Mapping): ReadonlySet<string> {
  const block = document.get(PARAMETERS);
  if (!isMapping(block)) return new Set();
  return new Set([...block].filter(([, value]) => mayHoldVariable(value)).map(([name]) => name));
}

/** What `byKey` cannot tell apart in one file. */
function keyFaults(definitions: ParameterDefinitions, document: Mapping): FieldError[] {
  const block = document.get(PARAMETERS);
  if (!isMapping(block)) return [];
  return [...block].flatMap(([name, value]) => {
    const merge = definitions.get(name)?.merge;
    const items = typeof merge === 'object' ? listIn(value) : null;
    if (typeof merge !== 'object' || items === null) return [];
    return unkeyedIn(items, merge.byKey).map((at) => mergeKeyFault(name, at));
  });
}
