/** `/api/v1/scope-types`: the kinds of scope that parameters are set for, and which of them wins. */

import { created, json, noContent, page } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath, Paging } from '../../http/schemas.ts';
import {
  createScopeType,
  deleteScopeType,
  describeScopeType,
  reorderScopeTypes,
  requireScopeType,
  type ScopeTools,
  switchScopeType,
} from './changes.ts';
import { listScopeTypes } from './queries.ts';
import { NewScopeType, ScopeOrder, ScopeType, ScopeTypeChange } from './schemas.ts';
import { toScopeType } from './views.ts';

const TAGS = ['Scope types'];
const PATH = '/api/v1/scope-types';
const ONE = `${PATH}/{id}`;

const READ = { tags: TAGS, access: { kind: 'user' } } as const;
const WRITE = {
  tags: TAGS,
  access: { kind: 'permission', permission: 'scopes.admin-override' },
} as const;

export function scopeTypeRoutes(tools: ScopeTools): Route[] {
  return [
    listRoute(tools),
    readRoute(tools),
    createRoute(tools),
    describeRoute(tools),
    reorderRoute(tools),
    deleteRoute(tools),
    switchRoute(tools, true),
    switchRoute(tools, false),
  ];
}

function listRoute({ database }: ScopeTools): Route {
  return route({
    ...READ,
    id: 'listScopeTypes',
    method: 'GET',
    path: PATH,
    summary: 'List scope types by precedence',
    query: Paging,
    answers: { 200: { description: 'Scope types, the weakest first', schema: ScopeType.array() } },
    async handle({ query }) {
      const types = await listScopeTypes(database.read);
      const shown = types.slice(query.skip, query.skip + query.take);
      return page(shown.map(toScopeType), types.length, query);
    },
  });
}

function readRoute({ database }: ScopeTools): Route {
  return route({
    ...READ,
    id: 'getScopeType',
    method: 'GET',
    path: ONE,
    summary: 'Read a scope type',
    params: idsInPath('id'),
    answers: { 200: { description: 'The scope type', schema: ScopeType } },
    async handle({ params }) {
      return json(toScopeType(await requireScopeType(database.read, params.id)));
    },
  });
}

function createRoute(tools: ScopeTools): Route {
  return route({
    ...WRITE,
    id: 'createScopeType',
    method: 'POST',
    path: PATH,
    summary: 'Create a scope type just below Node',
    description: 'The names draft, schema, main and HEAD are taken by the repositories of parameters.',
    body: { kind: 'json', schema: NewScopeType },
    answers: { 201: { description: 'The scope type', schema: ScopeType } },
    problems: ['name_taken', 'reserved_name'],
    async handle({ body, facts }) {
      const type = await createScopeType(tools, facts.actor, body);
      return created(`${PATH}/${type.id}`, toScopeType(type));
    },
  });
}

function describeRoute(tools: ScopeTools): Route {
  return route({
    ...WRITE,
    id: 'updateScopeType',
    method: 'PUT',
    path: ONE,
    summary: "Change a scope type's description",
    params: idsInPath('id'),
    body: { kind: 'json', schema: ScopeTypeChange },
    answers: { 200: { description: 'The scope type as it is now', schema: ScopeType } },
    problems: ['system_scope_type'],
    async handle({ params, body, facts }) {
      return json(toScopeType(await describeScopeType(tools, facts.actor, params.id, body.description)));
    },
  });
}

function reorderRoute(tools: ScopeTools): Route {
  return route({
    ...WRITE,
    id: 'reorderScopeTypes',
    method: 'PUT',
    path: `${PATH}/reorder`,
    represents: PATH,
    summary: 'Put all scope types into a new order',
    description: 'The weakest first: every scope type exactly once, Default first and Node last.',
    body: { kind: 'json', schema: ScopeOrder },
    answers: { 200: { description: 'All scope types in their new order', schema: ScopeType.array() } },
    async handle({ body, facts }) {
      const types = await reorderScopeTypes(tools, facts.actor, body.scopeTypeIds);
      return json(types.map(toScopeType));
    },
  });
}

function deleteRoute(tools: ScopeTools): Route {
  return route({
    ...WRITE,
    id: 'deleteScopeType',
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a scope type and its values',
    params: idsInPath('id'),
    answers: { 204: { description: 'Deleted; what was above it has moved down' } },
    problems: ['system_scope_type', 'in_use', ...READING_REPOSITORIES],
    async handle({ params, facts }) {
      await deleteScopeType(tools, facts.actor, params.id);
      return noContent();
    },
  });
}

function switchRoute(tools: ScopeTools, isEnabled: boolean): Route {
  return route({
    ...WRITE,
    id: isEnabled ? 'enableScopeType' : 'disableScopeType',
    method: 'PATCH',
    path: `${ONE}/${isEnabled ? 'enable' : 'disable'}`,
    represents: ONE,
    summary: isEnabled ? 'Let a system scope type take part' : 'Keep a system scope type out of merging',
    description: 'Only Default and Node can be switched.',
    params: idsInPath('id'),
    answers: { 200: { description: 'The scope type as it is now', schema: ScopeType } },
    problems: ['not_a_system_scope_type', ...(isEnabled ? [] : ['in_use', ...READING_REPOSITORIES])],
    async handle({ params, facts }) {
      return json(toScopeType(await switchScopeType(tools, facts.actor, params.id, isEnabled)));
    },
  });
}
