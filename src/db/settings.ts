/** Server-wide settings. The table has one row for each setting that was set. No two groups have a setting of the same name. */

import {
  DEFAULT_LCM,
  DEFAULT_RETENTION,
  DEFAULT_ROLLOUTS,
  DEFAULT_SERVER,
  DEFAULT_VALIDATION,
  type LcmDefaults,
  type RetentionSettings,
  type RolloutSettings,
  type ServerSettings,
  type ValidationSettings,
} from '../domain/server-settings.ts';
import type { Db } from './database.ts';

export function readServerSettings(db: Db): Promise<ServerSettings> {
  return readSettings(db, DEFAULT_SERVER);
}

export function readLcmDefaults(db: Db): Promise<LcmDefaults> {
  return readSettings(db, DEFAULT_LCM);
}

export function readRetentionSettings(db: Db): Promise<RetentionSettings> {
  return readSettings(db, DEFAULT_RETENTION);
}

export function readValidationSettings(db: Db): Promise<ValidationSettings> {
  return readSettings(db, DEFAULT_VALIDATION);
}

export function readRolloutSettings(db: Db): Promise<RolloutSettings> {
  return readSettings(db, DEFAULT_ROLLOUTS);
}

/** The settings that were set, and the defaults of the others. */
async function readSettings<T extends object>(db: Db, defaults: T): Promise<T> {
  const rows = await db
    .selectFrom('server_settings')
    .selectAll()
    .where('name', 'in', Object.keys(defaults))
    .execute();
  return { ...defaults, ...Object.fromEntries(rows.map((row) => [row.name, JSON.parse(row.value)])) };
}
