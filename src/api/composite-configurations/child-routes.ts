/** `.../versions/{version}/children`: what a composite's draft consists of. */

import type { CompositeChild } from '../../domain/composite-document.ts';
import { created, json, noContent } from '../../http/answer.ts';
import { WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { addChild, changeChild, removeChild } from './children.ts';
import { findConfigurationIds } from './queries.ts';
import { ChildChange, ItemView, NewChild } from './schemas.ts';
import type { CompositeTools } from './versions.ts';
import { toItem } from './views.ts';

const VERSION = '/api/v1/composite-configurations/{name}/versions/{version}';
const CHILDREN = `${VERSION}/children`;

const COMMON = {
  tags: ['Composite versions'],
  access: { kind: 'grant', on: 'composite', level: 'Modify' },
  represents: VERSION,
} as const;

const CHANGING_DRAFTS = ['published_version', 'draft_changed', ...WRITING_REPOSITORIES];

export function childRoutes(tools: CompositeTools): Route[] {
  return [addRoute(tools), changeRoute(tools), removeRoute(tools)];
}

async function showItem({ database }: CompositeTools, child: CompositeChild) {
  return toItem(child, await findConfigurationIds(database.read, [child.configuration]));
}

function addRoute(tools: CompositeTools): Route {
  return route({
    ...COMMON,
    id: 'addCompositeChild',
    method: 'POST',
    path: CHILDREN,
    summary: 'Add a child to a draft',
    description: 'The caller needs Read on the configuration, which is any but a composite.',
    body: { kind: 'json', schema: NewChild },
    answers: { 201: { description: 'The item', schema: ItemView } },
    problems: [...CHANGING_DRAFTS, 'nested_composite', 'child_exists', 'reserved_path'],
    async handle({ principal, resource, params, body, facts }) {
      const version = params['version'] ?? '';
      const child = await addChild(tools, { resource, principal, actor: facts.actor, version }, body);
      const base = `/api/v1/composite-configurations/${resource.name}/versions/${encodeURIComponent(version)}`;
      return created(`${base}/children/${child.id}`, await showItem(tools, child));
    },
  });
}

function changeRoute(tools: CompositeTools): Route {
  return route({
    ...COMMON,
    id: 'updateCompositeChild',
    method: 'PUT',
    path: `${CHILDREN}/{childId}`,
    summary: "Change a child's version or order",
    description: 'The caller needs Read on the child. A member that is left out stays.',
    body: { kind: 'json', schema: ChildChange },
    answers: { 200: { description: 'The item as it is now', schema: ItemView } },
    problems: CHANGING_DRAFTS,
    async handle({ principal, resource, params, body, facts }) {
      const target = { resource, principal, actor: facts.actor, version: params['version'] ?? '' };
      return json(await showItem(tools, await changeChild(tools, target, params['childId'] ?? '', body)));
    },
  });
}

function removeRoute(tools: CompositeTools): Route {
  return route({
    ...COMMON,
    id: 'removeCompositeChild',
    method: 'DELETE',
    path: `${CHILDREN}/{childId}`,
    summary: 'Take a child out of a draft',
    answers: { 204: { description: 'The child is out' } },
    problems: CHANGING_DRAFTS,
    async handle({ principal, resource, params, facts }) {
      const target = { resource, principal, actor: facts.actor, version: params['version'] ?? '' };
      await removeChild(tools, target, params['childId'] ?? '');
      return noContent();
    },
  });
}
