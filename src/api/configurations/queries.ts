/** Reads and writes of what configurations set for themselves. */

import type { Selectable } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { ConfigurationSettingsTable } from '../../db/schema.ts';
import {
  type EffectiveValidation,
  effectiveValidation,
  type ValidationOverrides,
} from '../../domain/server-settings.ts';
import { readValidationSettings } from '../settings/queries.ts';

export type SettingsRow = Omit<Selectable<ConfigurationSettingsTable>, 'configuration_id'>;

const INHERITED: SettingsRow = {
  require_semver: null,
  parameter_validation_mode: null,
  retention_enabled: null,
  retention_keep_versions: null,
  retention_keep_days: null,
  retention_keep_release_versions: null,
};

/** What the configuration sets for itself. Null stands for what it does not set. */
export async function findOwnSettings(db: Db, configurationId: string): Promise<SettingsRow> {
  const row = await db
    .selectFrom('configuration_settings')
    .selectAll()
    .where('configuration_id', '=', configurationId)
    .executeTakeFirst();
  return row ?? INHERITED;
}

/** Sets the columns that are given. Null makes one inherited again. */
export async function saveOwnSettings(
  db: Db,
  configurationId: string,
  change: Partial<SettingsRow>,
): Promise<void> {
  await db
    .insertInto('configuration_settings')
    .values({ configuration_id: configurationId, ...INHERITED, ...change })
    .onConflict((conflict) =>
      Object.keys(change).length === 0
        ? conflict.column('configuration_id').doNothing()
        : conflict.column('configuration_id').doUpdateSet(change),
    )
    .execute();
}

/** The settings of the configuration: its own ones where the server's settings allow that, else the server's. */
export async function readEffectiveSettings(db: Db, configurationId: string): Promise<EffectiveValidation> {
  const own = await findOwnSettings(db, configurationId);
  return effectiveValidation(await readValidationSettings(db), toValidation(own));
}

export function toValidation(own: SettingsRow): ValidationOverrides {
  return {
    requireSemVer: toBoolean(own.require_semver),
    parameterValidationMode: own.parameter_validation_mode,
  };
}

export function toBoolean(value: number | null): boolean | null {
  return value === null ? null : value === 1;
}
