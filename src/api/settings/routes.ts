/** `/api/v1/settings`: the settings of the whole server. */

import type { ZodType } from 'zod';
import { historyFrom } from '../../db/past.ts';
import {
  readLcmDefaults,
  readRetentionSettings,
  readRolloutSettings,
  readServerSettings,
  readValidationSettings,
} from '../../db/settings.ts';
import { admitRolloutSettings, admitServerSettings } from '../../deeds/admit-settings.ts';
import type { AssignmentTools } from '../../deeds/assign.ts';
import { changeSettings, type SettingsRules } from '../../deeds/change-settings.ts';
import type { ProblemName } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { operation, permitted, ResourceRoutes } from '../shared/routes.ts';
import { freezeRoutes } from './freeze.ts';
import { joiningRuleRoutes } from './joining-rules.ts';
import {
  LcmDefaultsChange,
  LcmDefaultsView,
  PublicSettingsView,
  RetentionSettingsChange,
  RetentionSettingsView,
  RolloutSettingsChange,
  RolloutSettingsView,
  ServerSettingsChange,
  ServerSettingsView,
  ValidationSettingsChange,
  ValidationSettingsView,
} from './schemas.ts';

/** Settings that are read and changed together. */
interface SettingsGroup extends SettingsRules {
  path: string;
  /** What operation ids call the group. */
  noun: string;
  /** What the summaries call the group, after "Read" and "Change". */
  label: string;
  view: ZodType;
  change: ZodType<object>;
  problems?: readonly ProblemName[];
  changesNodes?: true;
}

const GROUPS: readonly SettingsGroup[] = [
  {
    path: '/api/v1/settings',
    noun: 'ServerSettings',
    name: 'server',
    label: 'how often certificates rotate and when a node is stale',
    view: ServerSettingsView,
    change: ServerSettingsChange,
    read: readServerSettings,
    problems: ['certificates_too_old'],
    admit: admitServerSettings,
  },
  {
    path: '/api/v1/settings/lcm-defaults',
    noun: 'LcmDefaults',
    name: 'lcm-defaults',
    label: 'what a node is told where nothing is desired of it in particular; null is no default',
    view: LcmDefaultsView,
    change: LcmDefaultsChange,
    read: readLcmDefaults,
    changesNodes: true,
  },
  {
    path: '/api/v1/settings/validation',
    noun: 'ValidationSettings',
    name: 'validation',
    label: 'how versions and parameters are checked',
    view: ValidationSettingsView,
    change: ValidationSettingsChange,
    read: readValidationSettings,
  },
  {
    path: '/api/v1/settings/retention',
    noun: 'RetentionSettings',
    name: 'retention',
    label: 'what cleanups keep, and whether and how often they run by themselves',
    view: RetentionSettingsView,
    change: RetentionSettingsChange,
    read: async (db, now) => ({
      ...(await readRetentionSettings(db)),
      historyFrom: toTimestamp(await historyFrom(db, now)),
    }),
  },
  {
    path: '/api/v1/settings/rollouts',
    noun: 'RolloutSettings',
    name: 'rollouts',
    label: 'which scope type gives the rings of rollouts; those that run keep theirs',
    view: RolloutSettingsView,
    change: RolloutSettingsChange,
    read: readRolloutSettings,
    admit: admitRolloutSettings,
  },
];

const TAGS = ['Settings'];

export function settingsRoutes(tools: AssignmentTools): Route[] {
  const { database } = tools;
  const open = new ResourceRoutes(database, { tags: TAGS, access: { kind: 'public' } });
  const reading = permitted(database, TAGS, 'server.settings.read');
  const writing = permitted(database, TAGS, 'server.settings.write');
  return [
    open.get('/api/v1/settings/public', {
      ...operation('getPublicSettings', 'Read what an agent needs to know before it is registered'),
      answer: { description: 'The settings', schema: PublicSettingsView },
      async handle() {
        const { certificateRotationInterval } = await readServerSettings(database.read);
        return { certificateRotationInterval };
      },
    }),
    ...freezeRoutes(database, { reading, writing }),
    ...joiningRuleRoutes(tools, { reading, writing }),
    ...GROUPS.flatMap((group) => [
      reading.get(group.path, {
        ...operation(`get${group.noun}`, `Read ${group.label}`),
        answer: { description: 'The settings', schema: group.view },
        handle: ({ facts }) => group.read(database.read, facts.now),
      }),
      writing.update(group.path, {
        ...operation(`update${group.noun}`, `Change ${group.label}; any subset`),
        body: { kind: 'json', schema: group.change },
        answer: { description: 'The settings as they are now', schema: group.view },
        problems: group.problems ?? [],
        ...(group.changesNodes && { changesNodes: true }),
        change: (trx, { caller, body }) => changeSettings(trx, caller, group, body),
      }),
    ]),
  ];
}
