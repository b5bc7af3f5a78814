/** Reads and writes of the registry of configurations. */

import type { Selectable } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { ConfigurationSettingsTable, ConfigurationsTable } from '../../db/schema.ts';
import {
  type EffectiveValidation,
  effectiveValidation,
  type ValidationOverrides,
} from '../../domain/server-settings.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { readableIds } from '../../security/rights.ts';
import { readValidationSettings } from '../settings/queries.ts';

export type ConfigurationRow = Selectable<ConfigurationsTable>;

export function findConfiguration(db: Db, id: string): Promise<ConfigurationRow | undefined> {
  return db.selectFrom('configurations').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Looks without regard to case, as names are unique that way. */
export async function isNameTaken(db: Db, name: string): Promise<boolean> {
  const row = await db
    .selectFrom('configurations')
    .select('id')
    .where('name_key', '=', name.toLowerCase())
    .executeTakeFirst();
  return row !== undefined;
}

export async function insertConfiguration(
  db: Db,
  configuration: Omit<ConfigurationRow, 'name_key' | 'updated_at' | 'has_parameters'>,
): Promise<void> {
  const { name, created_at } = configuration;
  await db
    .insertInto('configurations')
    .values({ ...configuration, name_key: name.toLowerCase(), updated_at: created_at })
    .execute();
}

/** Those the caller may read, by name. */
export async function listReadable(
  db: Db,
  principal: UserPrincipal,
  { take, skip }: { take: number; skip: number },
) {
  const ids = readableIds(db, principal, 'configuration');
  const all = db.selectFrom('configurations');
  const readable = ids === 'all' ? all : all.where('id', 'in', ids);
  const { total } = await readable
    .select((of) => of.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await readable.selectAll().orderBy('name').limit(take).offset(skip).execute();
  return { rows, total };
}

export async function updateConfiguration(
  db: Db,
  id: string,
  change: Partial<Pick<ConfigurationRow, 'description' | 'use_server_managed_parameters'>> & {
    updated_at: number;
  },
): Promise<void> {
  await db.updateTable('configurations').set(change).where('id', '=', id).execute();
}

/** Notes that the configuration has a repository of parameters from now on. */
export async function noteParameters(db: Db, id: string): Promise<void> {
  await db
    .updateTable('configurations')
    .set({ has_parameters: 1 })
    .where('id', '=', id)
    .where('has_parameters', '=', 0)
    .execute();
}

export type SettingsRow = Omit<Selectable<ConfigurationSettingsTable>, 'configuration_id'>;

const INHERITED: SettingsRow = {
  require_semver: null,
  parameter_validation_mode: null,
  retention_enabled: null,
  retention_keep_versions: null,
  retention_keep_days: null,
  retention_keep_release_versions: null,
};

/** What the configuration sets for itself; all null where it sets nothing. */
export async function findOwnSettings(db: Db, configurationId: string): Promise<SettingsRow> {
  const row = await db
    .selectFrom('configuration_settings')
    .selectAll()
    .where('configuration_id', '=', configurationId)
    .executeTakeFirst();
  return row ?? INHERITED;
}

/** Sets the members given; null makes one inherited again. */
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

/** What holds for the configuration: its own settings where the server's let them count. */
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
