/** Scope types and their values. */

import { NewScopeType, NewScopeValue } from '../../../api/scope-types/schemas.ts';
import { isReservedScopeTypeName, scopeKey } from '../../../domain/scopes.ts';
import { scopeOf } from '../../../versions/parameter-files.ts';
import type { SourceScopeType } from '../source/site.ts';
import { Clash, here, LeftOut, made, type Plan, requireFreeId, requireSame, type Standing } from './plan.ts';

export function planScopes(plan: Plan): void {
  const { site } = plan.input;
  const types = [...site.scopeTypes].sort((a, b) => a.precedence - b.precedence);
  plan.judge('scope types', types, {
    id: ({ id }) => id,
    name: ({ name }) => name,
    judge: (type) => (type.isSystem ? judgeSystemType(plan, type) : judgeType(plan, types, type)),
  });
  planValues(plan);
}

/** Default and Node have the same ids on both servers. */
function judgeSystemType(plan: Plan, { id, isEnabled }: SourceScopeType) {
  const row = plan.input.here.scopeTypes.find((each) => each.id === id);
  if (row === undefined) throw new LeftOut('It belongs to that server, and this one has no such type');
  const standing = { id, name: row.name };
  const isOn = row.is_enabled === 1;
  if (isOn === isEnabled) return here(standing);
  if (!isOn) throw new Clash('It is switched off here');
  if (hasPublishedFiles(plan, row.name)) throw new Clash('It has published parameter files here');
  return made({ do: 'switchOffScopeType', id }, standing);
}

function hasPublishedFiles(plan: Plan, scopeType: string): boolean {
  return plan.input.here.configurations.some(({ parameters }) =>
    [...parameters].some(
      ([series, versions]) =>
        scopeOf(series).scopeType === scopeType &&
        [...versions.values()].some(({ status }) => status === 'Published'),
    ),
  );
}

/** A new type gets its place below Node, so it must come after all that are here. */
function judgeType(plan: Plan, types: readonly SourceScopeType[], type: SourceScopeType) {
  const { id, name } = type;
  const { scopeTypes } = plan.input.here;
  const wanted = NewScopeType.parse({
    name,
    description: type.description,
    valueMode: type.valueMode,
  });
  if (isReservedScopeTypeName(name))
    throw new LeftOut('This name has a meaning of its own in the repositories of parameters');
  plan.once('scope types', scopeKey(name));
  const find = (each: SourceScopeType) => scopeTypes.find((row) => row.name_key === scopeKey(each.name));
  const row = find(type);
  const later = types.slice(types.indexOf(type) + 1).filter((each) => !each.isSystem);
  const misplaced = later.find((each) => {
    const other = find(each);
    return other !== undefined && (row === undefined || other.precedence < row.precedence);
  });
  if (misplaced) throw new Clash(`${misplaced.name} comes before it here and after it there`);
  if (row === undefined) {
    requireFreeId(id, scopeTypes, (each) => each.name);
    return made({ do: 'createScopeType', id, ...wanted }, { id, name });
  }
  const { description, value_mode: valueMode } = row;
  requireSame({ name: row.name, description, valueMode }, wanted);
  return here({ id: row.id, name: row.name });
}

function planValues(plan: Plan): void {
  const { site } = plan.input;
  const typeNames = new Map(site.scopeTypes.map(({ id, name }) => [id, name]));
  plan.judge('scope values', site.scopeValues, {
    id: ({ id }) => id,
    name: ({ scopeTypeId, value }) => `${typeNames.get(scopeTypeId) ?? scopeTypeId}/${value}`,
    judge({ id, scopeTypeId, value: text, description }) {
      const scopeType = plan.require('scope types', scopeTypeId);
      const wanted = NewScopeValue.parse({ value: text, description });
      requireFirstSpelling(plan, scopeType, text);
      const row = findValue(plan, scopeType, text);
      if (row === undefined) {
        requireFreeId(id, plan.input.here.scopeValues, (each) => each.value);
        return made({ do: 'addScopeValue', id, scopeType, ...wanted }, { id, name: text });
      }
      requireSame(row, wanted);
      return here({ id: row.id, name: row.value });
    },
  });
}

/**
 * Values that differ by case alone are one here and two there, so only the first is taken over.
 * @throws LeftOut for another spelling of a value
 */
export function requireFirstSpelling(plan: Plan, { id }: Pick<Standing, 'id'>, value: string): void {
  if (plan.spelling(`${id} ${scopeKey(value)}`, value) !== value)
    throw new LeftOut('Another value that counts as the same comes before it');
}

/** The value of this name that is here, in whatever case. */
export function findValue(plan: Plan, { id }: Pick<Standing, 'id'>, value: string) {
  const key = scopeKey(value);
  return plan.input.here.scopeValues.find((row) => row.scope_type_id === id && row.value_key === key);
}
