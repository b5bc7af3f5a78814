/** `/api/v1/configurations/{name}/settings`: overrides of the server's settings and of retention. */

import type { ZodType, z } from 'zod';
import type { Database, Db } from '../../db/database.ts';
import { findProtection } from '../../db/protections.ts';
import { readValidationSettings } from '../../db/settings.ts';
import {
  changeOwnSettings,
  findOwnSettings,
  type OwnChange,
  readEffectiveSettings,
} from '../../deeds/configuration-settings.ts';
import { NO_PROTECTION, type Protection } from '../../domain/protection.ts';
import type { ProblemName } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { conflict } from '../../lib/errors.ts';
import type { GrantedResource } from '../../security/access.ts';
import type { Actor } from '../../security/audit.ts';
import { requireRow } from '../../versions/rows.ts';
import { grantedRoutes } from '../shared/versioned.ts';
import { RetentionChange, RetentionView, SettingsChange, SettingsView } from './schemas.ts';

const TAGS = ['Configuration settings'];

type Change = OwnChange & { protection?: Protection | undefined };

interface Overrides<C> {
  /** The noun of the operation ids. */
  noun: string;
  /** The end of the summary "Read …". */
  label: string;
  view: ZodType;
  change: ZodType<C>;
  problems?: readonly ProblemName[];
  action: 'configuration.settings_changed' | 'configuration.retention_changed';
  read(db: Db, configurationId: string): Promise<unknown>;
  requireAllowed?(db: Db, change: C): Promise<void>;
  /** Whether a change could alter what nodes get. */
  changesNodes?: (request: { body: C }) => boolean;
  /** The change that makes everything inherited again. */
  inherit: C;
}

export function settingsRoutes(database: Database): Route[] {
  return [
    ...overrideRoutes(database, '/api/v1/configurations/{name}/settings', {
      noun: 'ConfigurationSettings',
      label: 'how versions and parameters of the configuration are checked, and what protects them',
      view: SettingsView,
      change: SettingsChange,
      problems: ['override_not_allowed', 'change_set_required'],
      action: 'configuration.settings_changed',
      read: async (db, id) => ({
        ...(await readEffectiveSettings(db, id)),
        protection: await findProtection(db, { on: 'configuration', id }),
      }),
      requireAllowed: requireAllowedOverrides,
      changesNodes: ({ body }) => body.variables !== undefined,
      inherit: {
        ...{ requireSemVer: null, parameterValidationMode: null, documentChecks: null, variables: null },
        protection: NO_PROTECTION,
      },
    }),
    ...overrideRoutes(database, '/api/v1/configurations/{name}/settings/retention', {
      noun: 'ConfigurationRetention',
      label: "the configuration's own retention",
      view: RetentionView,
      change: RetentionChange,
      action: 'configuration.retention_changed',
      read: readRetention,
      inherit: { enabled: null, keepVersions: null, keepDays: null, keepReleaseVersions: null },
    }),
  ];
}

/** GET, PUT of any subset, and DELETE, after which everything is inherited again. */
function overrideRoutes<C extends Change>(
  database: Database,
  path: string,
  { noun, label, view, change: schema, problems = [], read, inherit, ...rules }: Overrides<C>,
): Route[] {
  const { reading, managing } = grantedRoutes(database, TAGS, { on: 'configuration' });
  const save = async (trx: Db, { id, name }: GrantedResource, actor: Actor, change: C) => {
    // The configuration may have been deleted since access was checked.
    await requireRow(trx, 'configurations', id);
    await rules.requireAllowed?.(trx, change);
    await changeOwnSettings(trx, actor, { id, name }, { action: rules.action, change });
    return read(trx, id);
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
      ...(rules.changesNodes && { changesNodes: rules.changesNodes }),
      change: (trx, { resource, caller, body }) => save(trx, resource, caller.actor, body),
    }),
    managing.delete(path, {
      id: `reset${noun}`,
      summary: `Go back to what is inherited for ${label}`,
      answer: { description: 'Everything is inherited' },
      problems,
      ...(rules.changesNodes && { changesNodes: true }),
      change: (trx, { resource, caller }) => save(trx, resource, caller.actor, inherit),
    }),
  ];
}

/** @throws HawserError conflict `override_not_allowed` for a member that the server's settings keep for themselves */
async function requireAllowedOverrides(db: Db, change: z.output<typeof SettingsChange>): Promise<void> {
  const { allowConfigurationOverride, allowParameterValidationOverride } = await readValidationSettings(db);
  const allowed = {
    requireSemVer: allowConfigurationOverride,
    parameterValidationMode: allowParameterValidationOverride,
    documentChecks: allowParameterValidationOverride,
  };
  for (const member of ['requireSemVer', 'parameterValidationMode', 'documentChecks'] as const) {
    if ((change[member] ?? null) === null || allowed[member]) continue;
    const message = `The server settings do not let a configuration set ${member}`;
    throw conflict('override_not_allowed', message);
  }
}

async function readRetention(db: Db, configurationId: string) {
  const own = await findOwnSettings(db, configurationId);
  const { enabled, keepVersions, keepDays, keepReleaseVersions } = own;
  const values = { enabled, keepVersions, keepDays, keepReleaseVersions };
  return { isOverridden: Object.values(values).some((value) => value !== null), ...values };
}
