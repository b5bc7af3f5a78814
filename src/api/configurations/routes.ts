/** `/api/v1/configurations`: create, list and detail. */

import pLimit from 'p-limit';
import type { Database } from '../../db/open.ts';
import { nameLock } from '../../domain/lock-names.ts';
import type { GitStore, VersionIndex } from '../../git/store.ts';
import { created, json, noContent, page } from '../../http/answer.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { Paging } from '../../http/schemas.ts';
import { HawserError } from '../../lib/errors.ts';
import type { Locks } from '../../lib/locks.ts';
import type { Log } from '../../lib/log.ts';
import type { CompatibilityGuard } from '../../resolve/compatibility.ts';
import type { CompositeReader } from '../../resolve/composites.ts';
import { changeConfiguration, deleteConfiguration } from './change.ts';
import { type CreateOptions, createConfiguration } from './create.ts';
import { type ConfigurationRow, findConfiguration, listReadable } from './queries.ts';
import {
  ConfigurationChange,
  ConfigurationView,
  NEW_CONFIGURATION_FIELDS,
  NewConfiguration,
} from './schemas.ts';
import { settingsRoutes } from './settings-routes.ts';
import { versionRoutes } from './version-routes.ts';
import { repositoryOf } from './versions.ts';
import { toConfiguration } from './views.ts';
import { noConfiguration, whileThere } from './while-there.ts';

const TAGS = ['Configurations'];
export const CONFIGURATIONS = '/api/v1/configurations';

const CONFIGURATION = `${CONFIGURATIONS}/{name}`;

export interface ConfigurationRouteOptions {
  database: Database;
  store: GitStore;
  locks: Locks;
  log: Log;
  composites: CompositeReader;
  compatibility: CompatibilityGuard;
}

export function configurationRoutes(options: ConfigurationRouteOptions): Route[] {
  const { database, store } = options;
  return [
    listRoute(database, store),
    createRoute(options),
    detailRoute(database, store),
    changeRoute(database, store),
    deleteRoute(options),
    ...versionRoutes(options),
    ...settingsRoutes(database),
  ];
}

/** After a start a page of the list reads as many repositories from the disk; others want to be served too. */
const CONCURRENT_LOADS = 16;

function listRoute(database: Database, store: GitStore): Route {
  const loads = pLimit(CONCURRENT_LOADS);
  return route({
    id: 'listConfigurations',
    method: 'GET',
    path: CONFIGURATIONS,
    summary: 'List the configurations that the caller may read, by name',
    tags: TAGS,
    access: { kind: 'user' },
    query: Paging,
    answers: { 200: { description: 'The configurations', schema: ConfigurationView.array() } },
    problems: ['shutting_down'],
    async handle({ principal, query }) {
      const { rows, total } = await listReadable(database.read, principal, query);
      const views = rows.map(async (row) =>
        toConfiguration(row, await loads(() => readableIndex(store, row))),
      );
      return page(await Promise.all(views), total, query);
    },
  });
}

function createRoute(options: CreateOptions): Route {
  const { database, store } = options;
  return route({
    id: 'createConfiguration',
    method: 'POST',
    path: CONFIGURATIONS,
    summary: 'Create a configuration with its first draft',
    description:
      'Parts named `files` whose filename is the relative path, or one part `archive` (ZIP). A name is taken also ' +
      'while the repository of parameters of a lost configuration of that name is on the disk.',
    tags: TAGS,
    access: { kind: 'permission', permission: 'configurations.create' },
    body: { kind: 'upload', schema: NewConfiguration, fields: NEW_CONFIGURATION_FIELDS },
    answers: { 201: { description: 'The configuration', schema: ConfigurationView } },
    problems: ['name_taken', 'reserved_path', ...WRITING_REPOSITORIES],
    async handle({ principal, body, files, facts }) {
      const caller = { principal, actor: facts.actor, gone: facts.over };
      const id = await createConfiguration(options, caller, body, files);
      return created(`${CONFIGURATIONS}/${body.name}`, await view(database, store, id));
    },
  });
}

function detailRoute(database: Database, store: GitStore): Route {
  return route({
    id: 'getConfiguration',
    method: 'GET',
    path: CONFIGURATION,
    summary: 'Read a configuration',
    tags: TAGS,
    access: { kind: 'grant', on: 'configuration', level: 'Read' },
    answers: { 200: { description: 'The configuration', schema: ConfigurationView } },
    problems: READING_REPOSITORIES,
    async handle({ resource }) {
      return json(await view(database, store, resource.id));
    },
  });
}

function changeRoute(database: Database, store: GitStore): Route {
  return route({
    id: 'updateConfiguration',
    method: 'PATCH',
    path: CONFIGURATION,
    summary: 'Change description or server-managed parameters',
    description: 'Server-managed parameters stay on while any scope has a published parameter file.',
    tags: TAGS,
    access: { kind: 'grant', on: 'configuration', level: 'Modify' },
    body: { kind: 'json', schema: ConfigurationChange },
    answers: { 200: { description: 'The configuration as it is now', schema: ConfigurationView } },
    problems: ['reserved_path', 'in_use', ...READING_REPOSITORIES],
    async handle({ resource, body, facts }) {
      await changeConfiguration({ database, store }, { resource, actor: facts.actor }, body);
      return json(await view(database, store, resource.id));
    },
  });
}

function deleteRoute(options: ConfigurationRouteOptions): Route {
  return route({
    id: 'deleteConfiguration',
    method: 'DELETE',
    path: CONFIGURATION,
    summary: 'Delete a configuration with all its versions and parameters',
    tags: TAGS,
    access: { kind: 'grant', on: 'configuration', level: 'Manage' },
    answers: { 204: { description: 'The configuration is gone' } },
    problems: ['in_use', ...WRITING_REPOSITORIES],
    async handle({ resource, facts }) {
      const target = { resource, actor: facts.actor };
      await options.locks.run(nameLock('configurations', resource.name), () =>
        deleteConfiguration(options, target),
      );
      return noContent();
    },
  });
}

async function view(database: Database, store: GitStore, id: string) {
  const row = await findConfiguration(database.read, id);
  if (!row) throw noConfiguration();
  const index = await whileThere(database, id, () => store.index(repositoryOf(row)));
  return toConfiguration(row, index);
}

/** Null for a repository that is missing or unreadable: one such must not take the list of all others down. */
async function readableIndex(store: GitStore, row: ConfigurationRow): Promise<VersionIndex | null> {
  try {
    return await store.index(repositoryOf(row));
  } catch (error) {
    if (error instanceof HawserError && ['internal', 'unavailable'].includes(error.kind)) return null;
    throw error;
  }
}
