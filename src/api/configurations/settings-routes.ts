/** `/api/v1/configurations/{name}/settings`: overrides of the server's settings and of retention. */

import type { ZodType } from 'zod';
import type { Database, Db } from '../../db/open.ts';
import { json, noContent } from '../../http/answer.ts';
import type { ProblemName } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { findConfiguration, readEffectiveSettings } from './queries.ts';
import { RetentionChange, RetentionView, SettingsChange, SettingsView } from './schemas.ts';
import { changeRetention, changeSettings, readRetention, type SettingsTarget } from './settings.ts';
import { noConfiguration } from './while-there.ts';

const SETTINGS = '/api/v1/configurations/{name}/settings';

interface Overrides<C> {
  path: string;
  /** As it stands in operation ids. */
  noun: string;
  /** As it stands in "Read …". */
  label: string;
  view: ZodType;
  change: ZodType<C>;
  problems?: readonly ProblemName[];
  read(db: Db, configurationId: string): Promise<unknown>;
  save(trx: Db, target: SettingsTarget, change: C): Promise<void>;
  /** The change that makes everything inherited again. */
  inherit: C;
}

export function settingsRoutes(database: Database): Route[] {
  return [
    ...overrideRoutes(database, {
      path: SETTINGS,
      noun: 'ConfigurationSettings',
      label: 'how versions and parameters of the configuration are checked',
      view: SettingsView,
      change: SettingsChange,
      problems: ['override_not_allowed'],
      read: readEffectiveSettings,
      save: changeSettings,
      inherit: { requireSemVer: null, parameterValidationMode: null },
    }),
    ...overrideRoutes(database, {
      path: `${SETTINGS}/retention`,
      noun: 'ConfigurationRetention',
      label: "the configuration's own retention",
      view: RetentionView,
      change: RetentionChange,
      read: readRetention,
      save: changeRetention,
      inherit: { enabled: null, keepVersions: null, keepDays: null, keepReleaseVersions: null },
    }),
  ];
}

/** GET, PUT of any subset, DELETE back to what is inherited. */
function overrideRoutes<C>(database: Database, overrides: Overrides<C>): Route[] {
  const { path, noun, label, view, change, problems = [], read, save, inherit } = overrides;
  const common = { path, tags: ['Configuration settings'] };
  const managing = { kind: 'grant', on: 'configuration', level: 'Manage' } as const;
  return [
    route({
      ...common,
      id: `get${noun}`,
      method: 'GET',
      summary: `Read ${label}`,
      access: { ...managing, level: 'Read' },
      answers: { 200: { description: 'The settings', schema: view } },
      handle: async ({ resource }) => json(await read(database.read, resource.id)),
    }),
    route({
      ...common,
      id: `update${noun}`,
      method: 'PUT',
      summary: `Change ${label}; any subset`,
      access: managing,
      body: { kind: 'json', schema: change },
      answers: { 200: { description: 'The settings as they are now', schema: view } },
      problems,
      async handle({ resource, body, facts }) {
        const settings = await inTransaction(database, resource.id, async (trx) => {
          await save(trx, { resource, actor: facts.actor }, body);
          return read(trx, resource.id);
        });
        return json(settings);
      },
    }),
    route({
      ...common,
      id: `reset${noun}`,
      method: 'DELETE',
      summary: `Go back to what is inherited for ${label}`,
      access: managing,
      answers: { 204: { description: 'Everything is inherited' } },
      async handle({ resource, facts }) {
        const target = { resource, actor: facts.actor };
        await inTransaction(database, resource.id, (trx) => save(trx, target, inherit));
        return noContent();
      },
    }),
  ];
}

/** The configuration may have been deleted since access was checked. */
async function inTransaction<T>(
  database: Database,
  configurationId: string,
  work: (trx: Db) => Promise<T>,
): Promise<T> {
  return database.write.transaction().execute(async (trx) => {
    if (!(await findConfiguration(trx, configurationId))) throw noConfiguration();
    return work(trx);
  });
}
