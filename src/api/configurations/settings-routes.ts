/** `/api/v1/configurations/{name}/settings`: overrides of the server's settings and of retention. */

import type { ZodType, z } from 'zod';
import type { Database, Db } from '../../db/open.ts';
import { type ChangedMembers, changedMembers } from '../../domain/changed-members.ts';
import type { ProblemName } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { conflict } from '../../lib/errors.ts';
import type { GrantedResource } from '../../security/access.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { requireRow } from '../../versions/rows.ts';
import { grantedRoutes } from '../crud/versioned.ts';
import { readValidationSettings } from '../settings/queries.ts';
import {
  findOwnSettings,
  readEffectiveSettings,
  type SettingsRow,
  saveOwnSettings,
  toBoolean,
  toValidation,
} from './queries.ts';
import { RetentionChange, RetentionView, SettingsChange, SettingsView } from './schemas.ts';

const TAGS = ['Configuration settings'];

/** Which configuration somebody changes, and who. */
interface Change {
  resource: GrantedResource;
  actor: Actor;
}

interface Overrides<C> {
  /** As it stands in operation ids. */
  noun: string;
  /** As it stands in "Read …". */
  label: string;
  view: ZodType;
  change: ZodType<C>;
  problems?: readonly ProblemName[];
  read(db: Db, configurationId: string): Promise<unknown>;
  save(trx: Db, target: Change, change: C): Promise<void>;
  /** The change that makes everything inherited again. */
  inherit: C;
}

export function settingsRoutes(database: Database): Route[] {
  return [
    ...overrideRoutes(database, '/api/v1/configurations/{name}/settings', {
      noun: 'ConfigurationSettings',
      label: 'how versions and parameters of the configuration are checked',
      view: SettingsView,
      change: SettingsChange,
      problems: ['override_not_allowed'],
      read: readEffectiveSettings,
      save: changeSettings,
      inherit: { requireSemVer: null, parameterValidationMode: null },
    }),
    ...overrideRoutes(database, '/api/v1/configurations/{name}/settings/retention', {
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

/** GET, PUT of any subset, and DELETE, after which everything is inherited again. */
function overrideRoutes<C>(database: Database, path: string, overrides: Overrides<C>): Route[] {
  const { noun, label, view, change: schema, problems = [], read, save, inherit } = overrides;
  const { reading, managing } = grantedRoutes(database, TAGS, { on: 'configuration' });
  const saved = async (trx: Db, target: Change, change: C) => {
    // The configuration may have been deleted since access was checked.
    await requireRow(trx, 'configurations', target.resource.id);
    await save(trx, target, change);
    return read(trx, target.resource.id);
  };
  return [
    reading.get(path, {
      id: `get${noun}`,
      summary: `Read ${label}`,
      answer: { description: 'The settings', schema: view },
      handle: ({ resource }) => read(database.read, resource.id),
    }),
    managing.update(path, {
      id: `update${noun}`,
      summary: `Change ${label}; any subset`,
      body: { kind: 'json', schema },
      answer: { description: 'The settings as they are now', schema: view },
      problems,
      change: (trx, { resource, caller, body }) => saved(trx, { resource, ...caller }, body),
    }),
    managing.delete(path, {
      id: `reset${noun}`,
      summary: `Go back to what is inherited for ${label}`,
      answer: { description: 'Everything is inherited' },
      change: (trx, { resource, caller }) => saved(trx, { resource, ...caller }, inherit),
    }),
  ];
}

/** @throws HawserError conflict `override_not_allowed` for a member that the server's settings keep for themselves */
async function changeSettings(
  trx: Db,
  target: Change,
  change: z.output<typeof SettingsChange>,
): Promise<void> {
  const server = await readValidationSettings(trx);
  const { requireSemVer, parameterValidationMode } = change;
  if ((requireSemVer ?? null) !== null && !server.allowConfigurationOverride)
    throw notAllowed('requireSemVer');
  if ((parameterValidationMode ?? null) !== null && !server.allowParameterValidationOverride) {
    throw notAllowed('parameterValidationMode');
  }
  const changes = changedMembers(toValidation(await findOwnSettings(trx, target.resource.id)), change);
  await save(trx, target, 'configuration.settings_changed', changes, {
    ...(requireSemVer === undefined ? {} : { require_semver: toFlag(requireSemVer) }),
    ...(parameterValidationMode === undefined ? {} : { parameter_validation_mode: parameterValidationMode }),
  });
}

const notAllowed = (member: string) =>
  conflict('override_not_allowed', `The server settings do not let a configuration set ${member}`);

async function changeRetention(
  trx: Db,
  target: Change,
  change: z.output<typeof RetentionChange>,
): Promise<void> {
  const { enabled, keepVersions, keepDays, keepReleaseVersions } = change;
  const changes = changedMembers(toRetention(await findOwnSettings(trx, target.resource.id)), change);
  await save(trx, target, 'configuration.retention_changed', changes, {
    ...(enabled === undefined ? {} : { retention_enabled: toFlag(enabled) }),
    ...(keepVersions === undefined ? {} : { retention_keep_versions: keepVersions }),
    ...(keepDays === undefined ? {} : { retention_keep_days: keepDays }),
    ...(keepReleaseVersions === undefined
      ? {}
      : { retention_keep_release_versions: toFlag(keepReleaseVersions) }),
  });
}

async function save(
  trx: Db,
  { resource, actor }: Change,
  action: 'configuration.settings_changed' | 'configuration.retention_changed',
  changes: ChangedMembers | null,
  columns: Partial<SettingsRow>,
): Promise<void> {
  if (changes === null) return;
  const { id: resourceId, name } = resource;
  await saveOwnSettings(trx, resourceId, columns);
  await recordAudit(trx, actor, { action, resourceId, details: { name, ...changes } });
}

async function readRetention(db: Db, configurationId: string) {
  const values = toRetention(await findOwnSettings(db, configurationId));
  return { isOverridden: Object.values(values).some((value) => value !== null), ...values };
}

function toRetention(own: SettingsRow) {
  return {
    enabled: toBoolean(own.retention_enabled),
    keepVersions: own.retention_keep_versions,
    keepDays: own.retention_keep_days,
    keepReleaseVersions: toBoolean(own.retention_keep_release_versions),
  };
}

function toFlag(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}
