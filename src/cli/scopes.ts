/** Scopes as people write them, such as `Environment/prod`, and what the server knows of them. */

import type { Api } from '../client/api.ts';
import type { Schemas } from '../client/api-types.ts';
import { DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import { Failure, UsageError } from './errors.ts';
import { someOf } from './values.ts';

/** Where parameters are set: for all nodes, for those with a tag, or for one. */
export interface Scope {
  type: Schemas['ScopeType'];
  /** Null for the scope Default. */
  value: string | null;
}

/** `Environment/prod`, or `Default`, as the API names a scope in its two members. */
export function scopeText(scope: { scopeTypeName: string; scopeValue: string | null }): string {
  return scope.scopeValue === null ? scope.scopeTypeName : `${scope.scopeTypeName}/${scope.scopeValue}`;
}

/** Splits `TYPE/VALUE`. @returns a value of null where only a type was said @throws UsageError */
export function splitScope(text: string, option: string): [typeName: string, value: string | null] {
  const [typeName = '', value = null, ...more] = text.split('/');
  if (typeName === '' || value === '' || more.length > 0)
    throw new UsageError(`${option} is written as TYPE/VALUE, such as Environment/prod.`);
  return [typeName, value];
}

/** Finds the scope that is meant by `Default`, `TYPE/VALUE` or `Node/FQDN`. @throws UsageError, Failure */
export async function findScope(api: Api, text: string): Promise<Scope> {
  const [typeName, value] = splitScope(text, '--scope');
  const isDefault = typeName.toLowerCase() === 'default';
  if (isDefault !== (value === null))
    throw new UsageError(
      `--scope ${text}: say Default alone, or the value too, such as Environment/prod or Node/web01.example.com.`,
    );
  const type = await findScopeType(api, typeName);
  return { type, value: type.id === NODE_SCOPE_TYPE_ID ? (value?.toLowerCase() ?? null) : value };
}

/** Finds a scope type by its name in any case. @throws Failure */
export async function findScopeType(api: Api, name: string): Promise<Schemas['ScopeType']> {
  const types = await api.all('/api/v1/scope-types');
  const type = types.find((each) => each.name.toLowerCase() === name.toLowerCase());
  if (type !== undefined) return type;
  const names = someOf(
    types.map((each) => each.name),
    20,
  );
  throw new Failure(`not_found: There is no scope type "${name}". There are ${names}.`);
}

/** Finds the value that `TYPE/VALUE` names, which nodes are tagged with. @throws UsageError, Failure */
export async function findScopeValue(
  api: Api,
  text: string,
  option: string,
): Promise<Schemas['ScopeValue'] & { name: string }> {
  const [typeName, wanted] = splitScope(text, option);
  if (wanted === null) throw new UsageError(`${option} ${text}: say the value too, such as ${text}/prod.`);
  const type = await findScopeType(api, typeName);
  if (type.id === DEFAULT_SCOPE_TYPE_ID || type.id === NODE_SCOPE_TYPE_ID)
    throw new UsageError(`${option} ${text}: nodes have no tags of ${type.name}.`);
  const path = { scopeTypeId: type.id };
  for await (const value of api.list('/api/v1/scope-types/{scopeTypeId}/values', { path }))
    if (value.value.toLowerCase() === wanted.toLowerCase())
      return { ...value, name: `${type.name}/${value.value}` };
  throw new Failure(
    `not_found: ${type.name} has no value "${wanted}". ` +
      `"hawserctl api POST scope-types/${type.id}/values -F value=${wanted}" makes it.`,
  );
}
