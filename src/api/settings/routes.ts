/** `/api/v1/settings`: what holds for the whole server. */

import type { Database } from '../../db/open.ts';
import { changedMembers } from '../../domain/changed-members.ts';
import type { ValidationSettings } from '../../domain/server-settings.ts';
import { json } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { readValidationSettings, saveSettings } from './queries.ts';
import { ValidationSettingsChange, ValidationSettingsView } from './schemas.ts';

const COMMON = { path: '/api/v1/settings/validation', tags: ['Settings'] };

export function settingsRoutes(database: Database): Route[] {
  return [
    route({
      ...COMMON,
      method: 'GET',
      summary: 'Read how versions and parameters are checked',
      access: { kind: 'permission', permission: 'server.settings.read' },
      answers: { 200: { description: 'The settings', schema: ValidationSettingsView } },
      handle: async () => json(await readValidationSettings(database.read)),
    }),
    route({
      ...COMMON,
      method: 'PUT',
      summary: 'Change how versions and parameters are checked; any subset',
      access: { kind: 'permission', permission: 'server.settings.write' },
      body: { kind: 'json', schema: ValidationSettingsChange },
      answers: { 200: { description: 'The settings as they are now', schema: ValidationSettingsView } },
      handle: async ({ body, facts }) => json(await changeValidation(database, facts.actor, body)),
    }),
  ];
}

function changeValidation(database: Database, actor: Actor, change: object): Promise<ValidationSettings> {
  return database.write.transaction().execute(async (trx) => {
    const before = await readValidationSettings(trx);
    const changes = changedMembers(before, change);
    if (changes === null) return before;
    await saveSettings(trx, change);
    const details = { settings: 'validation', ...changes };
    await recordAudit(trx, actor, { action: 'settings.changed', resourceId: null, details });
    return readValidationSettings(trx);
  });
}
