/** `/api/v1/configurations`: create, list and detail. */

import type { Database } from '../../db/open.ts';
import type { GitStore, VersionIndex } from '../../git/store.ts';
import { created, json, page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { Paging } from '../../http/schemas.ts';
import { HawserError, notFound } from '../../lib/errors.ts';
import { KeyedMutex, Semaphore } from '../../lib/keyed-mutex.ts';
import { createConfiguration } from './create.ts';
import { type ConfigurationRow, findConfiguration, listReadable } from './queries.ts';
import { ConfigurationView, NEW_CONFIGURATION_FIELDS, NewConfiguration } from './schemas.ts';
import { versionRoutes } from './version-routes.ts';
import { repositoryOf } from './versions.ts';
import { toConfiguration } from './views.ts';

const TAGS = ['Configurations'];
export const CONFIGURATIONS = '/api/v1/configurations';

export function configurationRoutes(database: Database, store: GitStore): Route[] {
  return [
    listRoute(database, store),
    createRoute(database, store),
    detailRoute(database, store),
    ...versionRoutes(database, store),
  ];
}

/** After a start a page of the list reads as many repositories from the disk; others want to be served too. */
const CONCURRENT_LOADS = 16;

function listRoute(database: Database, store: GitStore): Route {
  const loads = new Semaphore(CONCURRENT_LOADS);
  return route({
    method: 'GET',
    path: CONFIGURATIONS,
    summary: 'List the configurations that the caller may read, by name',
    tags: TAGS,
    access: { kind: 'user' },
    query: Paging,
    answers: { 200: { description: 'The configurations', schema: ConfigurationView.array() } },
    async handle({ principal, query }) {
      const { rows, total } = await listReadable(database.read, principal, query);
      const views = rows.map(async (row) =>
        toConfiguration(row, await loads.run(() => readableIndex(store, row))),
      );
      return page(await Promise.all(views), total, query);
    },
  });
}

function createRoute(database: Database, store: GitStore): Route {
  const names = new KeyedMutex();
  return route({
    method: 'POST',
    path: CONFIGURATIONS,
    summary: 'Create a configuration with its first draft',
    description: 'Parts named `files` whose filename is the relative path, or one part `archive` (ZIP).',
    tags: TAGS,
    access: { kind: 'permission', permission: 'configurations.create' },
    body: { kind: 'upload', schema: NewConfiguration, fields: NEW_CONFIGURATION_FIELDS },
    answers: { 201: { description: 'The configuration', schema: ConfigurationView } },
    problems: ['name_taken', 'reserved_path', 'invalid_path', 'invalid_archive', 'malformed_multipart'],
    async handle({ principal, body, files, facts }) {
      const upload = { files, now: facts.now };
      const id = await createConfiguration({ database, store, names }, principal, body, upload);
      return created(`${CONFIGURATIONS}/${body.name}`, await view(database, store, id));
    },
  });
}

function detailRoute(database: Database, store: GitStore): Route {
  return route({
    method: 'GET',
    path: `${CONFIGURATIONS}/{name}`,
    summary: 'Read a configuration',
    tags: TAGS,
    access: { kind: 'grant', on: 'configuration', level: 'Read' },
    answers: { 200: { description: 'The configuration', schema: ConfigurationView } },
    async handle({ resource }) {
      return json(await view(database, store, resource.id));
    },
  });
}

async function view(database: Database, store: GitStore, id: string) {
  const row = await findConfiguration(database.read, id);
  if (!row) throw notFound('No configuration of this name');
  return toConfiguration(row, await store.index(repositoryOf(row)));
}

/** Null for a repository that is missing or unreadable: one such must not take the list of all others down. */
async function readableIndex(store: GitStore, row: ConfigurationRow): Promise<VersionIndex | null> {
  try {
    return await store.index(repositoryOf(row));
  } catch (error) {
    if (error instanceof HawserError && error.kind === 'internal') return null;
    throw error;
  }
}
