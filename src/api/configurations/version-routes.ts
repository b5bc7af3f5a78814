/** `/api/v1/configurations/{name}/versions`: drafts, publishing, files. */

import type { Database } from '../../db/open.ts';
import { normalizePath } from '../../domain/safe-path.ts';
import type { GitStore } from '../../git/store.ts';
import { created, download, json, page } from '../../http/answer.ts';
import { mediaTypeOf } from '../../http/media-types.ts';
import { type Route, route } from '../../http/route.ts';
import { Paging } from '../../http/schemas.ts';
import { HawserError, notFound } from '../../lib/errors.ts';
import { Semaphore } from '../../lib/keyed-mutex.ts';
import { NEW_VERSION_FIELDS, NewVersion, VersionView } from './schemas.ts';
import { createDraft, findVersion, publishVersion, repositoryOf } from './versions.ts';
import { toVersion } from './views.ts';

const TAGS = ['Configuration versions'];
const VERSIONS = '/api/v1/configurations/{name}/versions';

const reading = { kind: 'grant', on: 'configuration', level: 'Read' } as const;
const modifying = { kind: 'grant', on: 'configuration', level: 'Modify' } as const;

export function versionRoutes(database: Database, store: GitStore): Route[] {
  return [listRoute(store), createRoute(database, store), publishRoute(store), fileRoute(store)];
}

/** Details of versions come from several objects each when they are not in memory. */
const CONCURRENT_LOADS = 16;

function listRoute(store: GitStore): Route {
  const loads = new Semaphore(CONCURRENT_LOADS);
  return route({
    method: 'GET',
    path: VERSIONS,
    summary: 'List versions, highest first',
    tags: TAGS,
    access: reading,
    query: Paging,
    answers: { 200: { description: 'Drafts and published versions', schema: VersionView.array() } },
    async handle({ resource, query }) {
      const repository = repositoryOf(resource);
      const { versions } = await store.index(repository);
      const shown = versions.slice(query.skip, query.skip + query.take);
      const details = await Promise.all(shown.map((ref) => loads.run(() => store.details(repository, ref))));
      return page(details.map(toVersion), versions.length, query);
    },
  });
}

function createRoute(database: Database, store: GitStore): Route {
  return route({
    method: 'POST',
    path: VERSIONS,
    summary: 'Create a draft version',
    description:
      'Without a version, the next patch above the highest; without an entry point, that of the highest.',
    tags: TAGS,
    access: modifying,
    body: { kind: 'upload', schema: NewVersion, fields: NEW_VERSION_FIELDS },
    answers: { 201: { description: 'The draft', schema: VersionView } },
    problems: ['version_exists', 'reserved_path', 'invalid_path', 'invalid_archive', 'malformed_multipart'],
    async handle({ principal, resource, body, files, facts }) {
      const draft = { form: body, files, now: facts.now };
      const details = await createDraft(database, store, { resource, principal }, draft);
      const location = `/api/v1/configurations/${resource.name}/versions/${encodeURIComponent(details.version)}`;
      return created(location, toVersion(details));
    },
  });
}

function publishRoute(store: GitStore): Route {
  return route({
    method: 'PUT',
    path: `${VERSIONS}/{version}/publish`,
    summary: 'Publish a draft; nodes get it at their next poll',
    tags: TAGS,
    access: modifying,
    answers: { 200: { description: 'The published version', schema: VersionView } },
    problems: ['already_published'],
    async handle({ principal, resource, params, facts }) {
      const by = { principal, now: facts.now };
      return json(toVersion(await publishVersion(store, resource, params['version'] ?? '', by)));
    },
  });
}

function fileRoute(store: GitStore): Route {
  return route({
    method: 'GET',
    path: `${VERSIONS}/{version}/files/{*filePath}`,
    summary: 'Download a file of a version',
    tags: TAGS,
    access: reading,
    answers: { 200: { description: 'The bytes, with the media type of the extension', mediaType: '*/*' } },
    async handle({ resource, params }) {
      const repository = repositoryOf(resource);
      const path = existingPath(params['filePath'] ?? '');
      const details = await findVersion(store, repository, params['version'] ?? '');
      const file = details.files.find((candidate) => candidate.path === path);
      if (file === undefined) throw notFound('No such file in this version');
      return download(await store.blob(repository, file.oid), mediaTypeOf(path), file.oid);
    },
  });
}

/** A path that no file can have names nothing. */
function existingPath(raw: string): string {
  try {
    return normalizePath(raw.replace(/\/$/, ''));
  } catch (error) {
    if (error instanceof HawserError) throw notFound('No such file in this version');
    throw error;
  }
}
