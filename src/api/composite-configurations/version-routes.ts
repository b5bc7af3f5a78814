/** `/api/v1/composite-configurations/{name}/versions`: drafts and publishing. */

import { created, json, noContent, page } from '../../http/answer.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { Paging } from '../../http/schemas.ts';
import { notFound } from '../../lib/errors.ts';
import type { GrantedResource } from '../../security/access.ts';
import type { VersionRef } from '../../versions/types.ts';
import { repositoryOf } from './create.ts';
import { findConfigurationIds } from './queries.ts';
import { CompositeVersionView, NewCompositeVersion } from './schemas.ts';
import {
  type CompositeTools,
  createCompositeDraft,
  deleteCompositeDraft,
  publishComposite,
} from './versions.ts';
import { toCompositeVersion } from './views.ts';

const TAGS = ['Composite versions'];
const VERSIONS = '/api/v1/composite-configurations/{name}/versions';
const VERSION = `${VERSIONS}/{version}`;

const reading = { kind: 'grant', on: 'composite', level: 'Read' } as const;
const modifying = { kind: 'grant', on: 'composite', level: 'Modify' } as const;
const managing = { kind: 'grant', on: 'composite', level: 'Manage' } as const;

export function versionRoutes(tools: CompositeTools): Route[] {
  return [listRoute(tools), createRoute(tools), detailRoute(tools), deleteRoute(tools), publishRoute(tools)];
}

/** Versions as the API shows them, in the order given. */
export async function showVersions(
  { database, store, composites }: CompositeTools,
  resource: GrantedResource,
  refs: readonly VersionRef[],
) {
  const repository = repositoryOf(resource);
  const read = refs.map(async (ref) => ({
    details: await store.details(repository, ref),
    document: await composites.document(repository, ref),
  }));
  const versions = await Promise.all(read);
  const names = versions.flatMap(({ document }) => document.children.map((child) => child.configuration));
  const ids = await findConfigurationIds(database.read, [...new Set(names)]);
  return versions.map(({ details, document }) => toCompositeVersion(resource.id, details, document, ids));
}

async function showVersion(tools: CompositeTools, resource: GrantedResource, version: string) {
  const ref = (await tools.store.versions(repositoryOf(resource))).get(version);
  const [shown] = ref ? await showVersions(tools, resource, [ref]) : [];
  if (shown === undefined) throw notFound('No such version');
  return shown;
}

function listRoute(tools: CompositeTools): Route {
  return route({
    id: 'listCompositeVersions',
    method: 'GET',
    path: VERSIONS,
    summary: 'List versions, highest first',
    tags: TAGS,
    access: reading,
    query: Paging,
    answers: { 200: { description: 'Drafts and published versions', schema: CompositeVersionView.array() } },
    problems: READING_REPOSITORIES,
    async handle({ resource, query }) {
      const { versions } = await tools.store.versions(repositoryOf(resource));
      const shown = await showVersions(tools, resource, versions.slice(query.skip, query.skip + query.take));
      return page(shown, versions.length, query);
    },
  });
}

function createRoute(tools: CompositeTools): Route {
  return route({
    id: 'createCompositeVersion',
    method: 'POST',
    path: VERSIONS,
    summary: 'Create an empty draft version',
    tags: TAGS,
    access: modifying,
    body: { kind: 'json', schema: NewCompositeVersion },
    answers: { 201: { description: 'The draft', schema: CompositeVersionView } },
    problems: ['version_exists', ...WRITING_REPOSITORIES],
    async handle({ principal, resource, body, facts }) {
      const caller = { resource, principal, actor: facts.actor };
      const { version } = await createCompositeDraft(tools, caller, body);
      const location = `/api/v1/composite-configurations/${resource.name}/versions/${encodeURIComponent(version)}`;
      return created(location, await showVersion(tools, resource, version));
    },
  });
}

function detailRoute(tools: CompositeTools): Route {
  return route({
    id: 'getCompositeVersion',
    method: 'GET',
    path: VERSION,
    summary: 'Read a version with its children',
    tags: TAGS,
    access: reading,
    answers: { 200: { description: 'The version', schema: CompositeVersionView } },
    problems: READING_REPOSITORIES,
    handle: async ({ resource, params }) => json(await showVersion(tools, resource, params['version'] ?? '')),
  });
}

function deleteRoute(tools: CompositeTools): Route {
  return route({
    id: 'deleteCompositeVersion',
    method: 'DELETE',
    path: VERSION,
    summary: 'Delete a draft',
    tags: TAGS,
    access: managing,
    answers: { 204: { description: 'The draft is gone' } },
    problems: ['published_version', 'draft_changed', ...WRITING_REPOSITORIES],
    async handle({ resource, params, facts }) {
      await deleteCompositeDraft(tools, { resource, actor: facts.actor, version: params['version'] ?? '' });
      return noContent();
    },
  });
}

function publishRoute(tools: CompositeTools): Route {
  return route({
    id: 'publishCompositeVersion',
    method: 'PUT',
    path: `${VERSION}/publish`,
    represents: VERSION,
    summary: 'Publish a draft; nodes get it at their next poll',
    tags: TAGS,
    access: modifying,
    answers: { 200: { description: 'The published version', schema: CompositeVersionView } },
    problems: [
      'already_published',
      'no_children',
      'unpublished_child',
      'draft_changed',
      ...WRITING_REPOSITORIES,
    ],
    async handle({ principal, resource, params, facts }) {
      const version = params['version'] ?? '';
      await publishComposite(tools, { resource, principal, actor: facts.actor, version });
      return json(await showVersion(tools, resource, version));
    },
  });
}
