/** What a configuration sets for itself in place of the server's settings. */

import type { z } from 'zod';
import type { Db } from '../../db/open.ts';
import { type ChangedMembers, changedMembers } from '../../domain/changed-members.ts';
import { conflict } from '../../lib/errors.ts';
import type { GrantedResource } from '../../security/access.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { readValidationSettings } from '../settings/queries.ts';
import { findOwnSettings, type SettingsRow, saveOwnSettings, toBoolean, toValidation } from './queries.ts';
import type { RetentionChange, SettingsChange } from './schemas.ts';

/** Which configuration somebody changes, and who. */
export interface SettingsTarget {
  resource: GrantedResource;
  actor: Actor;
}

/** @throws HawserError conflict `override_not_allowed` for a member that the server's settings keep for themselves */
export async function changeSettings(
  trx: Db,
  target: SettingsTarget,
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

export async function changeRetention(
  trx: Db,
  target: SettingsTarget,
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
  { resource, actor }: SettingsTarget,
  action: 'configuration.settings_changed' | 'configuration.retention_changed',
  changes: ChangedMembers | null,
  columns: Partial<SettingsRow>,
): Promise<void> {
  if (changes === null) return;
  const { id: resourceId, name } = resource;
  await saveOwnSettings(trx, resourceId, columns);
  await recordAudit(trx, actor, { action, resourceId, details: { name, ...changes } });
}

export async function readRetention(db: Db, configurationId: string) {
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
