/** `/api/v1/configurations/{name}/versions`: drafts, publishing, files. */

import pLimit from 'p-limit';
import type { Database } from '../../db/open.ts';
import { normalizePath } from '../../domain/safe-path.ts';
import type { GitStore } from '../../git/store.ts';
import { created, download, json, jsonWithList, noContent, page } from '../../http/answer.ts';
import { mediaTypeOf } from '../../http/media-types.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { Paging } from '../../http/schemas.ts';
import { HawserError, invalidField, notFound } from '../../lib/errors.ts';
import type { CompatibilityGuard } from '../../resolve/compatibility.ts';
import {
  NEW_VERSION_FIELDS,
  NewVersion,
  ReplacedVersion,
  VersionDetailsView,
  VersionView,
} from './schemas.ts';
import {
  createDraft,
  deleteDraft,
  findVersion,
  publishVersion,
  replaceDraft,
  repositoryOf,
} from './versions.ts';
import { toVersion, toVersionFiles } from './views.ts';
import { whileThere } from './while-there.ts';

const TAGS = ['Configuration versions'];
const VERSIONS = '/api/v1/configurations/{name}/versions';

const VERSION = `${VERSIONS}/{version}`;

const reading = { kind: 'grant', on: 'configuration', level: 'Read' } as const;
const modifying = { kind: 'grant', on: 'configuration', level: 'Modify' } as const;
const managing = { kind: 'grant', on: 'configuration', level: 'Manage' } as const;

export interface VersionRouteOptions {
  database: Database;
  store: GitStore;
  compatibility: CompatibilityGuard;
}

export function versionRoutes(options: VersionRouteOptions): Route[] {
  const { database, store } = options;
  return [
    listRoute(database, store),
    createRoute(database, store),
    detailRoute(database, store),
    replaceRoute(database, store),
    deleteRoute(database, store),
    publishRoute(options),
    fileRoute(database, store),
  ];
}

/** Details of versions come from several objects each when they are not in memory. */
const CONCURRENT_LOADS = 16;

function listRoute(database: Database, store: GitStore): Route {
  const loads = pLimit(CONCURRENT_LOADS);
  return route({
    id: 'listConfigurationVersions',
    method: 'GET',
    path: VERSIONS,
    summary: 'List versions, highest first',
    tags: TAGS,
    access: reading,
    query: Paging,
    answers: { 200: { description: 'Drafts and published versions', schema: VersionView.array() } },
    problems: READING_REPOSITORIES,
    async handle({ resource, query }) {
      const repository = repositoryOf(resource);
      return whileThere(database, resource.id, async () => {
        const { versions } = await store.index(repository);
        const shown = versions.slice(query.skip, query.skip + query.take);
        const details = await Promise.all(shown.map((ref) => loads(() => store.details(repository, ref))));
        return page(details.map(toVersion), versions.length, query);
      });
    },
  });
}

function createRoute(database: Database, store: GitStore): Route {
  return route({
    id: 'createConfigurationVersion',
    method: 'POST',
    path: VERSIONS,
    summary: 'Create a draft version',
    description:
      'Without a version, the next patch above the highest; without an entry point, that of the highest.',
    tags: TAGS,
    access: modifying,
    body: { kind: 'upload', schema: NewVersion, fields: NEW_VERSION_FIELDS },
    answers: { 201: { description: 'The draft', schema: VersionView } },
    problems: ['version_exists', 'reserved_path', ...WRITING_REPOSITORIES],
    async handle({ principal, resource, body, files, facts }) {
      const target = { resource, principal, actor: facts.actor };
      const draft = { form: body, files, gone: facts.over };
      const details = await createDraft({ database, store }, target, draft);
      const location = `/api/v1/configurations/${resource.name}/versions/${encodeURIComponent(details.version)}`;
      return created(location, toVersion(details));
    },
  });
}

function detailRoute(database: Database, store: GitStore): Route {
  return route({
    id: 'getConfigurationVersion',
    method: 'GET',
    path: VERSION,
    summary: 'Read a version with its files',
    tags: TAGS,
    access: reading,
    answers: { 200: { description: 'The version', schema: VersionDetailsView } },
    problems: READING_REPOSITORIES,
    async handle({ resource, params }) {
      const repository = repositoryOf(resource);
      return whileThere(database, resource.id, async () => {
        const details = await findVersion(store, repository, params['version'] ?? '');
        const infos = await store.fileInfos(repository, details.files);
        return jsonWithList(toVersion(details), 'files', toVersionFiles(details, infos));
      });
    },
  });
}

function replaceRoute(database: Database, store: GitStore): Route {
  return route({
    id: 'replaceConfigurationVersion',
    method: 'PUT',
    path: VERSION,
    summary: "Replace a draft's files",
    description: 'All files at once, as for a new version; without an entry point it keeps its own.',
    tags: TAGS,
    access: modifying,
    body: { kind: 'upload', schema: ReplacedVersion, fields: NEW_VERSION_FIELDS },
    answers: { 200: { description: 'The draft as it is now', schema: VersionView } },
    problems: ['published_version', 'draft_changed', 'reserved_path', ...WRITING_REPOSITORIES],
    async handle({ principal, resource, params, body, files, facts }) {
      const version = params['version'] ?? '';
      if (body.version !== undefined && body.version !== version) {
        throw invalidField('/version', 'Not the version in the path', 'version_mismatch');
      }
      const target = { resource, principal, actor: facts.actor };
      const draft = { form: body, files, gone: facts.over };
      return json(toVersion(await replaceDraft({ database, store }, target, version, draft)));
    },
  });
}

function deleteRoute(database: Database, store: GitStore): Route {
  return route({
    id: 'deleteConfigurationVersion',
    method: 'DELETE',
    path: VERSION,
    summary: 'Delete a draft',
    tags: TAGS,
    access: managing,
    answers: { 204: { description: 'The draft is gone' } },
    problems: ['published_version', 'draft_changed', ...WRITING_REPOSITORIES],
    async handle({ resource, params, facts }) {
      await deleteDraft({ database, store }, { resource, actor: facts.actor }, params['version'] ?? '');
      return noContent();
    },
  });
}

function publishRoute(options: VersionRouteOptions): Route {
  return route({
    id: 'publishConfigurationVersion',
    method: 'PUT',
    path: `${VERSION}/publish`,
    represents: VERSION,
    summary: 'Publish a draft; nodes get it at their next poll',
    description:
      'Where the server manages the parameters, the `parameters` block of the entry point, or the schema uploaded ' +
      'for the version, is compared with that of the highest published version below it: what breaks it is refused ' +
      'with a `compatibilityReport`, unless the major version rises. A block that cannot be read is refused in ' +
      'mode Strict, and counts as none otherwise.',
    tags: TAGS,
    access: modifying,
    answers: { 200: { description: 'The published version', schema: VersionView } },
    problems: [
      'already_published',
      'incompatible_parameters',
      [409, 'validation_failed'],
      'draft_changed',
      ...WRITING_REPOSITORIES,
    ],
    async handle({ principal, resource, params, facts }) {
      const target = { resource, principal, actor: facts.actor };
      return json(toVersion(await publishVersion(options, target, params['version'] ?? '')));
    },
  });
}

function fileRoute(database: Database, store: GitStore): Route {
  return route({
    id: 'downloadConfigurationFile',
    method: 'GET',
    path: `${VERSION}/files/{*filePath}`,
    summary: 'Download a file of a version',
    tags: TAGS,
    access: reading,
    answers: {
      200: {
        description: 'The bytes, with the media type of the extension',
        mediaType: '*/*',
        headers: { 'Content-Disposition': '`attachment`' },
      },
    },
    problems: READING_REPOSITORIES,
    async handle({ resource, params }) {
      const repository = repositoryOf(resource);
      const path = existingPath(params['filePath'] ?? '');
      return whileThere(database, resource.id, async () => {
        const details = await findVersion(store, repository, params['version'] ?? '');
        const file = details.files.find((candidate) => candidate.path === path);
        if (file === undefined) throw notFound('No such file in this version');
        return download(await store.blob(repository, file.oid), mediaTypeOf(path), file.oid);
      });
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
