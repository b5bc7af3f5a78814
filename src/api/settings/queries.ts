/** Server-wide settings: one row per setting that differs from its default. */

import type { Db } from '../../db/open.ts';
import { DEFAULT_VALIDATION, type ValidationSettings } from '../../domain/server-settings.ts';

export function readValidationSettings(db: Db): Promise<ValidationSettings> {
  return readSettings(db, DEFAULT_VALIDATION);
}

/** The defaults with what was set in their place. */
async function readSettings<T extends object>(db: Db, defaults: T): Promise<T> {
  const rows = await db
    .selectFrom('server_settings')
    .selectAll()
    .where('name', 'in', Object.keys(defaults))
    .execute();
  return { ...defaults, ...Object.fromEntries(rows.map((row) => [row.name, JSON.parse(row.value)])) };
}

/** Saves any subset; members that are undefined stay as they are. */
export async function saveSettings(db: Db, change: object): Promise<void> {
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) continue;
    const row = { value: JSON.stringify(value) };
    await db
      .insertInto('server_settings')
      .values({ name, ...row })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
      .execute();
  }
}
