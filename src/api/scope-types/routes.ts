/**
 * `/api/v1/scope-types`: the kinds of scope that parameters are set for, which of them wins, and the values that nodes
 * can be tagged with.
 */

import type { Database, Db } from '../../db/database.ts';
import { findProtections } from '../../db/protections.ts';
import { pageOf } from '../../db/rows.ts';
import { SCOPE_TYPES, type ScopeTypeRow, type ScopeValueRow, valuesOf } from '../../db/scope-types.ts';
import {
  createScopeType,
  createScopeValue,
  orderScopeTypes,
  reorderScopeValues,
  requireScopeValue,
  type ScopeTools,
  switchScopeType,
} from '../../deeds/change-scope-type.ts';
import {
  deleteScopeType,
  deleteScopeValue,
  updateScopeType,
  updateScopeValue,
} from '../../deeds/rename-scope.ts';
import { NO_PROTECTION } from '../../domain/protection.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { ScopeOrder } from '../shared/deed-schemas.ts';
import { operation, type PermittedRoutes, permitted, ResourceRoutes } from '../shared/routes.ts';
import {
  NewScopeType,
  NewScopeValue,
  ScopeType,
  ScopeTypeChange,
  ScopeValue,
  ScopeValueChange,
  ScopeValueOrder,
  WithParameters,
} from './schemas.ts';

const RENAMING =
  'With another name, the refs, tags and branches of all parameter repositories follow in one step. The old tags stay ' +
  'readable under `renamed/`. A name that a running rollout uses cannot change.';
const REMOVAL =
  'Parameter files of it are removed with `withParameters`, which needs Manage on the parameters of each of their ' +
  'configurations.';
const MOVING = ['name_taken', 'in_use', ...WRITING_REPOSITORIES];

export function scopeTypeRoutes(tools: ScopeTools): Route[] {
  const { database } = tools;
  const { reading, writing } = routesTagged('Scope types', database);
  return [
    reading.list('/api/v1/scope-types', {
      ...operation('listScopeTypes', 'List scope types by precedence'),
      answer: { description: 'Scope types, the weakest first', schema: ScopeType },
      rows: ({ query }) => SCOPE_TYPES.page(database.read, query),
      show: toScopeType,
    }),
    reading.get('/api/v1/scope-types/{id}', {
      ...operation('getScopeType', 'Read a scope type'),
      params: idsInPath('id'),
      answer: { description: 'The scope type', schema: ScopeType },
      handle: async ({ params }) => toScopeType(await SCOPE_TYPES.require(database.read, params.id)),
    }),
    writing.create('/api/v1/scope-types', {
      ...operation('createScopeType', 'Create a scope type just below Node'),
      description: 'The names draft, schema, main and HEAD are taken by the repositories of parameters.',
      body: { kind: 'json', schema: NewScopeType },
      answer: { description: 'The scope type', schema: ScopeType },
      problems: ['name_taken', 'reserved_name'],
      change: async (trx, { body, facts }) => toScopeType(await createScopeType(trx, facts.actor, body)),
    }),
    writing.update('/api/v1/scope-types/{id}', {
      ...operation('updateScopeType', "Change a scope type's name and description"),
      description: RENAMING,
      params: idsInPath('id'),
      body: { kind: 'json', schema: ScopeTypeChange },
      answer: { description: 'The scope type as it is now', schema: ScopeType },
      problems: ['system_scope_type', 'reserved_name', ...MOVING],
      handle: async ({ params, body, facts }) =>
        toScopeType(await updateScopeType(tools, facts.actor, params.id, body)),
    }),
    writing.update('/api/v1/scope-types/reorder', {
      ...operation('reorderScopeTypes', 'Put all scope types into a new order'),
      changesNodes: true,
      represents: '/api/v1/scope-types',
      description: 'The weakest first: every scope type exactly once, Default first and Node last.',
      body: { kind: 'json', schema: ScopeOrder },
      answer: { description: 'All scope types in their new order', schema: ScopeType.array() },
      problems: ['change_set_required', ...READING_REPOSITORIES],
      handle: async ({ body, facts }) =>
        (await orderScopeTypes(tools, facts.actor, body.scopeTypeIds)).map(toScopeType),
    }),
    writing.delete('/api/v1/scope-types/{id}', {
      ...operation('deleteScopeType', 'Delete a scope type and its values'),
      description: REMOVAL,
      params: idsInPath('id'),
      query: WithParameters,
      answer: { description: 'Deleted; what was above it has moved down' },
      problems: ['system_scope_type', 'in_use', 'change_set_required', ...WRITING_REPOSITORIES],
      handle: ({ params, query, principal, facts: { actor } }) =>
        deleteScopeType(tools, { ...query, principal, actor }, params.id),
    }),
    ...switchRoutes(tools, writing),
    ...valueRoutes(tools),
  ];
}

/** Every user reads scopes. To change them needs a permission. */
function routesTagged(tag: string, database: Database) {
  const reading = new ResourceRoutes(database, { tags: [tag], access: { kind: 'user' } });
  return { reading, writing: permitted(database, [tag], 'scopes.admin-override') };
}

function switchRoutes(tools: ScopeTools, scopeTypes: PermittedRoutes): Route[] {
  const common = {
    method: 'PATCH',
    represents: '/api/v1/scope-types/{id}',
    description: 'Only Default and Node can be switched.',
    params: idsInPath('id'),
    answer: { description: 'The scope type as it is now', schema: ScopeType },
  } as const;
  return [
    scopeTypes.update('/api/v1/scope-types/{id}/enable', {
      ...common,
      ...operation('enableScopeType', 'Let a system scope type take part'),
      changesNodes: true,
      problems: ['not_a_system_scope_type', 'change_set_required', ...READING_REPOSITORIES],
      handle: async ({ params, facts }) =>
        toScopeType(await switchScopeType(tools, facts.actor, params.id, true)),
    }),
    scopeTypes.update('/api/v1/scope-types/{id}/disable', {
      ...common,
      ...operation('disableScopeType', 'Keep a system scope type out of merging'),
      changesNodes: true,
      problems: ['not_a_system_scope_type', 'in_use', 'change_set_required', ...READING_REPOSITORIES],
      handle: async ({ params, facts }) =>
        toScopeType(await switchScopeType(tools, facts.actor, params.id, false)),
    }),
  ];
}

function valueRoutes(tools: ScopeTools): Route[] {
  const { database } = tools;
  const { reading, writing } = routesTagged('Scope values', database);
  return [
    reading.list('/api/v1/scope-types/{scopeTypeId}/values', {
      ...operation('listScopeValues', "List a scope type's values"),
      description:
        'Default and Node have none: Default needs no value, and those of Node are the names of nodes.',
      params: idsInPath('scopeTypeId'),
      answer: { description: 'Values by their text', schema: ScopeValue },
      async rows({ params, query }) {
        const { id } = await SCOPE_TYPES.require(database.read, params.scopeTypeId);
        const { rows, total } = await pageOf(valuesOf(database.read, id), query);
        return { rows: await toScopeValues(database.read, rows), total };
      },
      show: (value) => value,
    }),
    reading.get('/api/v1/scope-types/{scopeTypeId}/values/{id}', {
      ...operation('getScopeValue', 'Read a scope value'),
      params: idsInPath('scopeTypeId', 'id'),
      answer: { description: 'The value', schema: ScopeValue },
      handle: async ({ params }) =>
        toScopeValue(database.read, (await requireScopeValue(database.read, params)).value),
    }),
    writing.create('/api/v1/scope-types/{scopeTypeId}/values', {
      ...operation('createScopeValue', 'Create a scope value'),
      params: idsInPath('scopeTypeId'),
      body: { kind: 'json', schema: NewScopeValue },
      answer: { description: 'The value', schema: ScopeValue },
      problems: ['system_scope_type', 'name_taken'],
      change: async (trx, { params, body, facts }) =>
        toScopeValue(trx, await createScopeValue(trx, facts.actor, params.scopeTypeId, body)),
    }),
    writing.update('/api/v1/scope-types/{scopeTypeId}/values/reorder', {
      ...operation('reorderScopeValues', 'Put all values of a scope type into a new order'),
      represents: '/api/v1/scope-types/{scopeTypeId}/values',
      description:
        'The order is that in which people go through them, such as rings of a rollout. Nodes get the same.',
      params: idsInPath('scopeTypeId'),
      body: { kind: 'json', schema: ScopeValueOrder },
      answer: { description: 'All values in their new order', schema: ScopeValue.array() },
      problems: ['system_scope_type', 'incomplete_order'],
      change: async (trx, { params, body, facts }) =>
        toScopeValues(
          trx,
          await reorderScopeValues(trx, facts.actor, params.scopeTypeId, body.scopeValueIds),
        ),
    }),
    writing.update('/api/v1/scope-types/{scopeTypeId}/values/{id}', {
      ...operation('updateScopeValue', "Change a scope value's text and description"),
      description: RENAMING,
      params: idsInPath('scopeTypeId', 'id'),
      body: { kind: 'json', schema: ScopeValueChange },
      answer: { description: 'The value as it is now', schema: ScopeValue },
      problems: ['change_set_required', ...MOVING],
      async handle({ params, body: { value: name, ...rest }, facts }) {
        const value = await updateScopeValue(tools, facts.actor, params, { ...rest, name });
        return toScopeValue(database.read, value);
      },
    }),
    writing.delete('/api/v1/scope-types/{scopeTypeId}/values/{id}', {
      ...operation('deleteScopeValue', 'Delete a scope value'),
      description: REMOVAL,
      params: idsInPath('scopeTypeId', 'id'),
      query: WithParameters,
      problems: ['in_use', 'change_set_required', ...WRITING_REPOSITORIES],
      handle: ({ params, query, principal, facts: { actor } }) =>
        deleteScopeValue(tools, { ...query, principal, actor }, params),
    }),
  ];
}

function toScopeType(row: ScopeTypeRow) {
  const { id, name, description, precedence } = row;
  return {
    id,
    name,
    description,
    precedence,
    isSystem: row.is_system === 1,
    isEnabled: row.is_enabled === 1,
    valueMode: row.value_mode,
    ...timesOf(row),
  };
}

async function toScopeValue(db: Db, row: ScopeValueRow) {
  return (await toScopeValues(db, [row]))[0];
}

async function toScopeValues(db: Db, rows: readonly ScopeValueRow[]) {
  const protections = await findProtections(
    db,
    'scopeValue',
    rows.map(({ id }) => id),
  );
  return rows.map((row) => {
    const { id, value, description, sort_order: order } = row;
    const protection = protections.get(id) ?? NO_PROTECTION;
    return { id, scopeTypeId: row.scope_type_id, value, description, order, protection, ...timesOf(row) };
  });
}

function timesOf(row: { created_at: number; updated_at: number }) {
  return { createdAt: toTimestamp(row.created_at), updatedAt: toTimestamp(row.updated_at) };
}
