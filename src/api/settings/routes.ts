/** `/api/v1/settings`: what holds for the whole server. */

import type { ZodType } from 'zod';
import type { Database, Db } from '../../db/open.ts';
import { changedMembers } from '../../domain/changed-members.ts';
import { json } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import {
  readLcmDefaults,
  readRetentionSettings,
  readServerSettings,
  readValidationSettings,
  saveSettings,
} from './queries.ts';
import {
  LcmDefaultsChange,
  LcmDefaultsView,
  PublicSettingsView,
  RetentionSettingsChange,
  RetentionSettingsView,
  ServerSettingsChange,
  ServerSettingsView,
  ValidationSettingsChange,
  ValidationSettingsView,
} from './schemas.ts';

const SETTINGS = '/api/v1/settings';
const TAGS = ['Settings'];

/** Settings that are read and changed together. */
interface SettingsGroup {
  path: string;
  /** As it stands in operation ids. */
  noun: string;
  /** As the audit trail calls the group. */
  name: string;
  /** As it stands in "Read …". */
  label: string;
  view: ZodType;
  change: ZodType<object>;
  read(db: Db): Promise<object>;
}

const GROUPS: readonly SettingsGroup[] = [
  {
    path: SETTINGS,
    noun: 'ServerSettings',
    name: 'server',
    label: 'how often certificates rotate and when a node is stale',
    view: ServerSettingsView,
    change: ServerSettingsChange,
    read: readServerSettings,
  },
  {
    path: `${SETTINGS}/lcm-defaults`,
    noun: 'LcmDefaults',
    name: 'lcm-defaults',
    label: 'what a node is told where nothing is desired of it in particular; null is no default',
    view: LcmDefaultsView,
    change: LcmDefaultsChange,
    read: readLcmDefaults,
  },
  {
    path: `${SETTINGS}/validation`,
    noun: 'ValidationSettings',
    name: 'validation',
    label: 'how versions and parameters are checked',
    view: ValidationSettingsView,
    change: ValidationSettingsChange,
    read: readValidationSettings,
  },
  {
    path: `${SETTINGS}/retention`,
    noun: 'RetentionSettings',
    name: 'retention',
    label: 'what cleanups keep, and whether and how often they run by themselves',
    view: RetentionSettingsView,
    change: RetentionSettingsChange,
    read: readRetentionSettings,
  },
];

export function settingsRoutes(database: Database): Route[] {
  return [publicRoute(database), ...GROUPS.flatMap((group) => groupRoutes(database, group))];
}

function publicRoute(database: Database): Route {
  return route({
    id: 'getPublicSettings',
    method: 'GET',
    path: `${SETTINGS}/public`,
    summary: 'Read what an agent needs to know before it is registered',
    tags: TAGS,
    access: { kind: 'public' },
    answers: { 200: { description: 'The settings', schema: PublicSettingsView } },
    async handle() {
      const { certificateRotationInterval } = await readServerSettings(database.read);
      return json({ certificateRotationInterval });
    },
  });
}

/** GET, and PUT of any subset. */
function groupRoutes(database: Database, group: SettingsGroup): Route[] {
  const { path, noun, label, view, change, read } = group;
  return [
    route({
      id: `get${noun}`,
      path,
      method: 'GET',
      summary: `Read ${label}`,
      tags: TAGS,
      access: { kind: 'permission', permission: 'server.settings.read' },
      answers: { 200: { description: 'The settings', schema: view } },
      handle: async () => json(await read(database.read)),
    }),
    route({
      id: `update${noun}`,
      path,
      method: 'PUT',
      summary: `Change ${label}; any subset`,
      tags: TAGS,
      access: { kind: 'permission', permission: 'server.settings.write' },
      body: { kind: 'json', schema: change },
      answers: { 200: { description: 'The settings as they are now', schema: view } },
      handle: async ({ body, facts }) => json(await changeSettings(database, facts.actor, group, body)),
    }),
  ];
}

function changeSettings(
  database: Database,
  actor: Actor,
  { name, read }: SettingsGroup,
  change: object,
): Promise<object> {
  return database.write.transaction().execute(async (trx) => {
    const before = await read(trx);
    const changes = changedMembers(before, change);
    if (changes === null) return before;
    await saveSettings(trx, change);
    const details = { settings: name, ...changes };
    await recordAudit(trx, actor, { action: 'settings.changed', resourceId: null, details });
    return read(trx);
  });
}
