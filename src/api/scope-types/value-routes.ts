/** `/api/v1/scope-types/{scopeTypeId}/values`: what a node can be tagged with. */

import { created, json, noContent, page } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath, Paging } from '../../http/schemas.ts';
import { requireScopeType, type ScopeTools } from './changes.ts';
import { listScopeValues } from './queries.ts';
import { NewScopeValue, ScopeValue, ScopeValueChange } from './schemas.ts';
import {
  createScopeValue,
  deleteScopeValue,
  describeScopeValue,
  requireScopeValue,
} from './value-changes.ts';
import { toScopeValue } from './views.ts';

const TAGS = ['Scope values'];
const PATH = '/api/v1/scope-types/{scopeTypeId}/values';
const ONE = `${PATH}/{id}`;

const READ = { tags: TAGS, access: { kind: 'user' } } as const;
const WRITE = {
  tags: TAGS,
  access: { kind: 'permission', permission: 'scopes.admin-override' },
} as const;

export function scopeValueRoutes(tools: ScopeTools): Route[] {
  return [listRoute(tools), readRoute(tools), createRoute(tools), describeRoute(tools), deleteRoute(tools)];
}

function listRoute({ database }: ScopeTools): Route {
  return route({
    ...READ,
    id: 'listScopeValues',
    method: 'GET',
    path: PATH,
    summary: "List a scope type's values",
    description:
      'Default and Node have none: Default needs no value, and those of Node are the names of nodes.',
    params: idsInPath('scopeTypeId'),
    query: Paging,
    answers: { 200: { description: 'Values in the order of their text', schema: ScopeValue.array() } },
    async handle({ params, query }) {
      const { id } = await requireScopeType(database.read, params.scopeTypeId);
      const { rows, total } = await listScopeValues(database.read, id, query);
      return page(rows.map(toScopeValue), total, query);
    },
  });
}

function readRoute({ database }: ScopeTools): Route {
  return route({
    ...READ,
    id: 'getScopeValue',
    method: 'GET',
    path: ONE,
    summary: 'Read a scope value',
    params: idsInPath('scopeTypeId', 'id'),
    answers: { 200: { description: 'The value', schema: ScopeValue } },
    async handle({ params }) {
      const { value } = await requireScopeValue(database.read, params);
      return json(toScopeValue(value));
    },
  });
}

function createRoute(tools: ScopeTools): Route {
  return route({
    ...WRITE,
    id: 'createScopeValue',
    method: 'POST',
    path: PATH,
    summary: 'Create a scope value',
    params: idsInPath('scopeTypeId'),
    body: { kind: 'json', schema: NewScopeValue },
    answers: { 201: { description: 'The value', schema: ScopeValue } },
    problems: ['system_scope_type', 'name_taken'],
    async handle({ params, body, facts }) {
      const { scopeTypeId } = params;
      const value = await createScopeValue(tools, facts.actor, scopeTypeId, body);
      return created(`/api/v1/scope-types/${scopeTypeId}/values/${value.id}`, toScopeValue(value));
    },
  });
}

function describeRoute(tools: ScopeTools): Route {
  return route({
    ...WRITE,
    id: 'updateScopeValue',
    method: 'PUT',
    path: ONE,
    summary: "Change a scope value's description",
    params: idsInPath('scopeTypeId', 'id'),
    body: { kind: 'json', schema: ScopeValueChange },
    answers: { 200: { description: 'The value as it is now', schema: ScopeValue } },
    async handle({ params, body, facts }) {
      return json(toScopeValue(await describeScopeValue(tools, facts.actor, params, body.description)));
    },
  });
}

function deleteRoute(tools: ScopeTools): Route {
  return route({
    ...WRITE,
    id: 'deleteScopeValue',
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a scope value',
    params: idsInPath('scopeTypeId', 'id'),
    answers: { 204: { description: 'Deleted' } },
    problems: ['in_use', ...READING_REPOSITORIES],
    async handle({ params, facts }) {
      await deleteScopeValue(tools, facts.actor, params);
      return noContent();
    },
  });
}
