/** `/api/v1/configurations/{name}/settings`: overrides of the server's settings and of retention. */

import type { ZodType, z } from 'zod';
import type { Db } from '../../db/database.ts';
import { findProtection } from '../../db/protections.ts';
import { readValidationSettings } from '../../db/settings.ts';
import { findSigning } from '../../db/signing.ts';
import {
  type SettingsChange as Change,
  changeOwnSettings,
  findOwnSettings,
  readEffectiveSettings,
} from '../../deeds/configuration-settings.ts';
import type { ConfigurationTools } from '../../deeds/create-draft.ts';
import { type ProtectionTools, requireDoneAlone } from '../../deeds/protection.ts';
import { NO_PROTECTION } from '../../domain/protection.ts';
import { isSameSigning, NO_SIGNING } from '../../domain/signing.ts';
import { json } from '../../http/answer.ts';
import type { ProblemName } from '../../http/problem-codes.ts';
import type { RequestFacts, Route } from '../../http/route.ts';
import { conflict } from '../../lib/errors.ts';
import { sha256Hex } from '../../lib/hash.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import type { GrantedResource } from '../../security/access.ts';
import type { Actor } from '../../security/audit.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { tagsOf } from '../../versions/outside-tags.ts';
import type { ResourceTools } from '../../versions/resources.ts';
import { requireRow } from '../../versions/rows.ts';
import { ONLY_SERIES } from '../../versions/types.ts';
import { grantedRoutes } from '../shared/versioned.ts';
import { RetentionChange, RetentionView, SettingsChange, SettingsView } from './schemas.ts';
import { countUnsigned } from './unsigned.ts';

const TAGS = ['Configuration settings'];

/** What the routes work with. */
type Tools = ResourceTools & Pick<ConfigurationTools, 'log'> & FleetTools;

interface Overrides<C, S> {
  /** The noun of the operation ids. */
  noun: string;
  /** The end of the summary "Read …". */
  label: string;
  view: ZodType;
  change: ZodType<C>;
  problems?: readonly ProblemName[];
  action: 'configuration.settings_changed' | 'configuration.retention_changed';
  read(db: Db, configurationId: string): Promise<S>;
  requireAllowed?(db: Db, change: C): Promise<void>;
  /** Members that answers have beside or in place of those. They change by themselves, so the ETag does not stand for them. */
  beside?(
    settings: S,
    call: { resource: GrantedResource; principal: UserPrincipal; now: number },
  ): Promise<object>;
  /** Whether a change could alter what nodes get. */
  changesNodes?: (request: { body: C }) => boolean;
  /** The change that makes everything inherited again. */
  inherit: C;
}

export function settingsRoutes(tools: Tools): Route[] {
  return [
    ...overrideRoutes(tools, '/api/v1/configurations/{name}/settings', {
      noun: 'ConfigurationSettings',
      label:
        'how versions and parameters of the configuration are checked, what protects them, and who signs',
      view: SettingsView,
      change: SettingsChange,
      problems: ['override_not_allowed', 'change_set_required'],
      action: 'configuration.settings_changed',
      read: async (db, id) => ({
        ...(await readEffectiveSettings(db, id)),
        protection: await findProtection(db, { on: 'configuration', id }),
        signing: await findSigning(db, id),
      }),
      requireAllowed: requireAllowedOverrides,
      beside: async ({ signing }, call) => ({
        signing: { ...signing, unsigned: await countUnsigned(tools, call) },
      }),
      changesNodes: ({ body }) => body.variables !== undefined,
      inherit: {
        ...{ requireSemVer: null, parameterValidationMode: null, documentChecks: null, variables: null },
        protection: NO_PROTECTION,
        signing: NO_SIGNING,
      },
    }),
    ...overrideRoutes(tools, '/api/v1/configurations/{name}/settings/retention', {
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
function overrideRoutes<C extends Change, S extends object>(
  tools: Tools,
  path: string,
  { noun, label, view, change: schema, problems = [], read, inherit, ...rules }: Overrides<C, S>,
): Route[] {
  const { database } = tools;
  const { reading, managing } = grantedRoutes(database, TAGS, { on: 'configuration' });
  const save = async (trx: Db, { id, name }: GrantedResource, actor: Actor, change: C) => {
    // The configuration may have been deleted since access was checked.
    await requireRow(trx, 'configurations', id);
    await rules.requireAllowed?.(trx, change);
    await requireSetAlone({ ...tools, database: { read: trx } }, { id, name }, actor, change);
    await changeOwnSettings(trx, actor, { id, name }, { action: rules.action, change });
    return read(trx, id);
  };
  const whole = async (
    settings: S,
    {
      resource,
      principal,
      facts,
    }: { resource: GrantedResource; principal: UserPrincipal; facts: RequestFacts },
  ) => ({ ...settings, ...(await rules.beside?.(settings, { resource, principal, now: facts.now })) });
  return [
    reading.own('GET', path, {
      id: `get${noun}`,
      summary: `Read ${label}`,
      answers: { 200: { description: 'The settings', schema: view } },
      async handle(input) {
        const settings = await read(database.read, input.resource.id);
        return json(await whole(settings, input), sha256Hex(JSON.stringify(settings)).slice(0, 40));
      },
    }),
    managing.update(path, {
      id: `update${noun}`,
      summary: `Change ${label}; any subset`,
      body: { kind: 'json', schema },
      answer: { description: 'The settings as they are now', schema: view },
      problems,
      ...(rules.changesNodes && { changesNodes: rules.changesNodes }),
      // What is beside the settings is read once they are written, and not in their transaction.
      async handle(input) {
        const { resource, caller, body } = input;
        const write = (admitted: readonly string[]) =>
          database.write
            .transaction()
            .execute((trx) => save(trx, resource, caller.actor, { ...body, admitted }));
        // Under the lock nobody publishes what would count as come from outside.
        const repository = { kind: 'configurations', name: resource.name } as const;
        const settings =
          body.signing?.require === 'Version'
            ? await tools.store.exclusive(repository, ({ index }) => write(tagsOf(index.of(ONLY_SERIES))))
            : await write([]);
        return whole(settings, input);
      },
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

/**
 * Of what is protected, a change set alone says who may sign and whether variables are replaced. A request that names one of them is
 * refused whatever it says; a reset where it would change anything.
 * @throws HawserError conflict `change_set_required`
 */
async function requireSetAlone(
  tools: ProtectionTools,
  { id, name }: Pick<GrantedResource, 'id' | 'name'>,
  actor: Actor,
  { signing, variables }: Change,
): Promise<void> {
  const isReset = signing === NO_SIGNING;
  const { read } = tools.database;
  const isSame =
    isReset &&
    isSameSigning(await findSigning(read, id), signing) &&
    ((await findOwnSettings(read, id)).variables ?? 'Off') === 'Off';
  if (isSame || (signing === undefined && variables === undefined)) return;
  const deed = { kind: 'SetSettings', configurationName: name, signing, variables } as const;
  await requireDoneAlone(tools, actor, deed);
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
