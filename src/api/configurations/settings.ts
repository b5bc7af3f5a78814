/** What a configuration sets for itself in place of the server's settings. */

import type { z } from 'zod';
import type { Db } from '../../db/open.ts';
import { type EffectiveValidation, effectiveValidation } from '../../domain/server-settings.ts';
import { conflict } from '../../lib/errors.ts';
import { readValidationSettings } from '../settings/queries.ts';
import { findOwnSettings, saveOwnSettings } from './queries.ts';
import type { RetentionChange, SettingsChange } from './schemas.ts';

export async function readEffectiveSettings(db: Db, configurationId: string): Promise<EffectiveValidation> {
  const own = await findOwnSettings(db, configurationId);
  return effectiveValidation(await readValidationSettings(db), {
    requireSemVer: toBoolean(own.require_semver),
    parameterValidationMode: own.parameter_validation_mode,
  });
}

/** @throws HawserError conflict `override_not_allowed` for a member that the server's settings keep for themselves */
export async function changeSettings(
  trx: Db,
  configurationId: string,
  change: z.output<typeof SettingsChange>,
): Promise<void> {
  const server = await readValidationSettings(trx);
  const { requireSemVer, parameterValidationMode } = change;
  if ((requireSemVer ?? null) !== null && !server.allowConfigurationOverride)
    throw notAllowed('requireSemVer');
  if ((parameterValidationMode ?? null) !== null && !server.allowParameterValidationOverride) {
    throw notAllowed('parameterValidationMode');
  }
  await saveOwnSettings(trx, configurationId, {
    ...(requireSemVer === undefined ? {} : { require_semver: toFlag(requireSemVer) }),
    ...(parameterValidationMode === undefined ? {} : { parameter_validation_mode: parameterValidationMode }),
  });
}

const notAllowed = (member: string) =>
  conflict('override_not_allowed', `The server settings do not let a configuration set ${member}`);

export function changeRetention(
  trx: Db,
  configurationId: string,
  change: z.output<typeof RetentionChange>,
): Promise<void> {
  const { enabled, keepVersions, keepDays, keepReleaseVersions } = change;
  return saveOwnSettings(trx, configurationId, {
    ...(enabled === undefined ? {} : { retention_enabled: toFlag(enabled) }),
    ...(keepVersions === undefined ? {} : { retention_keep_versions: keepVersions }),
    ...(keepDays === undefined ? {} : { retention_keep_days: keepDays }),
    ...(keepReleaseVersions === undefined
      ? {}
      : { retention_keep_release_versions: toFlag(keepReleaseVersions) }),
  });
}

export async function readRetention(db: Db, configurationId: string) {
  const own = await findOwnSettings(db, configurationId);
  const values = {
    enabled: toBoolean(own.retention_enabled),
    keepVersions: own.retention_keep_versions,
    keepDays: own.retention_keep_days,
    keepReleaseVersions: toBoolean(own.retention_keep_release_versions),
  };
  return { isOverridden: Object.values(values).some((value) => value !== null), ...values };
}

function toFlag(value: boolean | null): number | null {
  return value === null ? null : Number(value);
}

function toBoolean(value: number | null): boolean | null {
  return value === null ? null : value === 1;
}
