/** `/api/v1/configurations`: create, list, read, change and delete. */

import { changeConfiguration } from '../../deeds/change-configuration.ts';
import { createConfiguration } from '../../deeds/create-configuration.ts';
import type { ConfigurationTools } from '../../deeds/create-draft.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { conflict } from '../../lib/errors.ts';
import type { Comparer } from '../../resolve/comparer.ts';
import type { CompositeReader } from '../../resolve/composites.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { heldLevels } from '../../security/rights.ts';
import { deleteResource } from '../../versions/resources.ts';
import { type ConfigurationRow, notFoundIfDeleted, requireRow } from '../../versions/rows.ts';
import type { VersionIndex } from '../../versions/store.ts';
import { permitted } from '../shared/routes.ts';
import { grantedRoutes, type Levels, resourceList, toVersionCounts } from '../shared/versioned.ts';
import { withdrawRoutes } from '../shared/withdraw-routes.ts';
import { type ArchiveTools, archiveRoute } from './archive-routes.ts';
import { type BlameTools, blameRoute } from './blame-routes.ts';
import { checkRoute } from './check-route.ts';
import { compareRoutes } from './compare-routes.ts';
import { type FileTools, fileRoutes } from './file-routes.ts';
import {
  ConfigurationChange,
  ConfigurationView,
  CreatedConfigurationView,
  NEW_CONFIGURATION_FIELDS,
  NewConfiguration,
  VersionView,
} from './schemas.ts';
import { settingsRoutes } from './settings-routes.ts';
import { versionRoutes, withFindings } from './version-routes.ts';

const TAGS = ['Configurations'];
const VERSION_TAGS = ['Configuration versions'];

export type ConfigurationRouteOptions = ArchiveTools &
  BlameTools &
  FileTools &
  FleetTools & { comparer: Comparer; composites: CompositeReader };

export function configurationRoutes(options: ConfigurationRouteOptions): Route[] {
  const { database } = options;
  const { reading, modifying, managing } = grantedRoutes(database, TAGS, { on: 'configuration' });
  const creating = permitted(database, TAGS, 'configurations.create');
  return [
    resourceList(options, 'configurations', '/api/v1/configurations', {
      id: 'listConfigurations',
      summary: 'List the configurations that the caller may read, by name',
      tags: TAGS,
      answer: { description: 'The configurations', schema: ConfigurationView },
      show: toConfiguration,
    }),
    creating.create('/api/v1/configurations', {
      id: 'createConfiguration',
      summary: 'Create a configuration with its first draft',
      description:
        'Parts named `files` whose filename is the relative path, or one part `archive` (ZIP). A name is taken also ' +
        'while the repository of parameters of a lost configuration of that name is on the disk.',
      body: { kind: 'upload', schema: NewConfiguration, fields: NEW_CONFIGURATION_FIELDS },
      answer: { description: 'The configuration', schema: CreatedConfigurationView },
      problems: ['publish_separately', 'name_taken', 'reserved_path', ...WRITING_REPOSITORIES],
      key: ({ name }) => name,
      handle: ({ caller, body: form, files, ignoredFiles, facts }) =>
        createConfiguration(options, { ...caller, gone: facts.over }, { form, files }, async (id) => ({
          ...(await show(options, caller, id)),
          ignoredFiles,
        })),
    }),
    reading.get('/api/v1/configurations/{name}', {
      id: 'getConfiguration',
      summary: 'Read a configuration',
      answer: { description: 'The configuration', schema: ConfigurationView },
      problems: READING_REPOSITORIES,
      handle: (caller) => show(options, caller, caller.resource.id),
    }),
    modifying.update('/api/v1/configurations/{name}', {
      id: 'updateConfiguration',
      method: 'PATCH',
      summary: 'Change description or server-managed parameters',
      description: 'Server-managed parameters stay on while any scope has a published parameter file.',
      body: { kind: 'json', schema: ConfigurationChange },
      changesNodes: ({ body }) => body.useServerManagedParameters !== undefined,
      answer: { description: 'The configuration as it is now', schema: ConfigurationView },
      problems: ['reserved_path', 'in_use', 'change_set_required', ...READING_REPOSITORIES],
      async handle({ caller, resource, body }) {
        await changeConfiguration(options, { kind: 'configurations', resource, ...caller }, body);
        return show(options, caller, resource.id);
      },
    }),
    managing.delete('/api/v1/configurations/{name}', {
      id: 'deleteConfiguration',
      changesNodes: true,
      summary: 'Delete a configuration with all its versions and parameters',
      answer: { description: 'The configuration is gone' },
      problems: ['in_use', 'change_set_required', ...WRITING_REPOSITORIES],
      handle: ({ caller, resource }) =>
        deleteResource(options, 'configurations', { resource, ...caller }, async () => {
          if (await options.composites.isChild(resource.name))
            throw conflict('in_use', 'A composite configuration has it as a child');
        }),
    }),
    ...routesOfVersions(options),
    ...settingsRoutes(options),
  ];
}

function routesOfVersions(options: ConfigurationRouteOptions): Route[] {
  return [
    ...versionRoutes(options),
    ...fileRoutes(options),
    archiveRoute(options),
    blameRoute(options),
    checkRoute(options),
    ...withdrawRoutes(options, {
      kind: 'configurations',
      tags: VERSION_TAGS,
      path: '/api/v1/configurations/{name}/versions/{version}',
      ids: { withdraw: 'withdrawConfigurationVersion', offer: 'offerConfigurationVersionAgain' },
      answer: 'ConfigurationWithdrawal',
      view: VersionView,
      show: (target, details) => withFindings(options, target, details),
    }),
    ...compareRoutes(options),
  ];
}

async function show(
  { database, store }: ConfigurationTools,
  { principal }: { principal: UserPrincipal },
  id: string,
) {
  const row = await requireRow(database.read, 'configurations', id);
  const repository = { kind: 'configurations', name: row.name } as const;
  const index = await notFoundIfDeleted(database, 'configurations', id, () => store.versions(repository));
  return toConfiguration(row, index, await heldLevels(database.read, principal, [id]));
}

function toConfiguration(row: ConfigurationRow, index: VersionIndex | null, levels: Levels) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    useServerManagedParameters: row.use_server_managed_parameters === 1,
    ...toVersionCounts(row, index),
    access: levels('configuration', row.id),
    parametersAccess: levels('parameters', row.id),
  };
}
