/** `/api/v1/composite-configurations`: create, list, detail, delete. */

import pLimit from 'p-limit';
import type { GitStore, VersionIndex } from '../../git/store.ts';
import { created, json, noContent, page } from '../../http/answer.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { Paging } from '../../http/schemas.ts';
import { HawserError, notFound } from '../../lib/errors.ts';
import { childRoutes } from './child-routes.ts';
import { createComposite, deleteComposite, repositoryOf } from './create.ts';
import { type CompositeRow, findComposite, listReadableComposites } from './queries.ts';
import { CompositeDetailsView, CompositeView, NewComposite } from './schemas.ts';
import { showVersions, versionRoutes } from './version-routes.ts';
import type { CompositeTools } from './versions.ts';
import { toComposite } from './views.ts';

const TAGS = ['Composite configurations'];
const COMPOSITES = '/api/v1/composite-configurations';
const COMPOSITE = `${COMPOSITES}/{name}`;

export function compositeRoutes(tools: CompositeTools): Route[] {
  return [
    listRoute(tools),
    createRoute(tools),
    detailRoute(tools),
    deleteRoute(tools),
    ...versionRoutes(tools),
    ...childRoutes(tools),
  ];
}

/** After a start a page of the list reads as many repositories from the disk; others want to be served too. */
const CONCURRENT_LOADS = 16;

function listRoute({ database, store }: CompositeTools): Route {
  const loads = pLimit(CONCURRENT_LOADS);
  return route({
    id: 'listComposites',
    method: 'GET',
    path: COMPOSITES,
    summary: 'List the composite configurations that the caller may read, by name',
    tags: TAGS,
    access: { kind: 'user' },
    query: Paging,
    answers: { 200: { description: 'The composites', schema: CompositeView.array() } },
    problems: ['shutting_down'],
    async handle({ principal, query }) {
      const { rows, total } = await listReadableComposites(database.read, principal, query);
      const views = rows.map(async (row) => toComposite(row, await loads(() => readableIndex(store, row))));
      return page(await Promise.all(views), total, query);
    },
  });
}

/** Null for a repository that is missing or unreadable: one such must not take the list of all others down. */
async function readableIndex(store: GitStore, row: CompositeRow): Promise<VersionIndex | null> {
  try {
    return await store.index(repositoryOf(row));
  } catch (error) {
    if (error instanceof HawserError && ['internal', 'unavailable'].includes(error.kind)) return null;
    throw error;
  }
}

function createRoute({ database, store, locks }: CompositeTools): Route {
  return route({
    id: 'createComposite',
    method: 'POST',
    path: COMPOSITES,
    summary: 'Create a composite configuration',
    description: 'A configuration may have the same name, another composite not.',
    tags: TAGS,
    access: { kind: 'permission', permission: 'composite-configurations.create' },
    body: { kind: 'json', schema: NewComposite },
    answers: { 201: { description: 'The composite, still without versions', schema: CompositeView } },
    problems: ['name_taken', 'invalid_path', ...WRITING_REPOSITORIES],
    async handle({ principal, body, facts }) {
      const caller = { principal, actor: facts.actor };
      const id = await createComposite({ database, store, locks }, caller, body);
      const row = await findComposite(database.read, id);
      if (!row) throw notFound('No composite configuration of this name');
      return created(`${COMPOSITES}/${row.name}`, toComposite(row, await store.index(repositoryOf(row))));
    },
  });
}

function detailRoute(tools: CompositeTools): Route {
  return route({
    id: 'getComposite',
    method: 'GET',
    path: COMPOSITE,
    summary: 'Read a composite configuration with its versions',
    tags: TAGS,
    access: { kind: 'grant', on: 'composite', level: 'Read' },
    answers: { 200: { description: 'The composite', schema: CompositeDetailsView } },
    problems: READING_REPOSITORIES,
    async handle({ resource }) {
      const row = await findComposite(tools.database.read, resource.id);
      if (!row) throw notFound('No composite configuration of this name');
      const index = await tools.store.index(repositoryOf(resource));
      return json({
        ...toComposite(row, index),
        versions: await showVersions(tools, resource, index.versions),
      });
    },
  });
}

function deleteRoute(tools: CompositeTools): Route {
  return route({
    id: 'deleteComposite',
    method: 'DELETE',
    path: COMPOSITE,
    summary: 'Delete a composite configuration with all its versions',
    tags: TAGS,
    access: { kind: 'grant', on: 'composite', level: 'Manage' },
    answers: { 204: { description: 'The composite is gone' } },
    problems: ['in_use', ...WRITING_REPOSITORIES],
    async handle({ resource, facts }) {
      await deleteComposite(tools, { resource, actor: facts.actor });
      return noContent();
    },
  });
}
