/** The settings of the server, what configurations set for themselves, and registration keys. */

import { RetentionChange, SettingsChange } from '../../../api/configurations/schemas.ts';
import { NewRegistrationKey } from '../../../api/registration-keys/schemas.ts';
import {
  LcmDefaultsChange,
  RetentionSettingsChange,
  ServerSettingsChange,
  ValidationSettingsChange,
} from '../../../api/settings/schemas.ts';
import { formatDuration } from '../../../domain/duration.ts';
import {
  DEFAULT_LCM,
  DEFAULT_RETENTION,
  DEFAULT_SERVER,
  DEFAULT_VALIDATION,
  effectiveValidation,
} from '../../../domain/server-settings.ts';
import { HOUR, toTimestamp } from '../../../lib/clock.ts';
import { sha256Hex } from '../../../lib/hash.ts';
import type {
  SourceRegistrationKey,
  SourceServerSettings,
  SourceValidationSettings,
} from '../source/site.ts';
import { Clash, here, LeftOut, made, type Plan, requireSame, type Standing } from './plan.ts';

const DEFAULTS: Record<string, unknown> = {
  ...DEFAULT_SERVER,
  ...DEFAULT_LCM,
  ...DEFAULT_RETENTION,
  ...DEFAULT_VALIDATION,
};

/** The groups of settings as the audit trail calls them, with the rules for their members. */
const RULES = {
  server: ServerSettingsChange,
  lcm: LcmDefaultsChange,
  retention: RetentionSettingsChange,
  validation: ValidationSettingsChange,
} as const;

interface Setting {
  group: keyof typeof RULES;
  name: string;
  value: unknown;
}

export function planSettings(plan: Plan): void {
  const { serverSettings, validationSettings } = plan.input.site;
  const settings = [
    ...(serverSettings ? ofServer(serverSettings) : []),
    ...(validationSettings ? ofValidation(validationSettings) : []),
  ];
  plan.judge('settings', settings, {
    name: ({ name }) => name,
    judge({ group, name, value }) {
      const set = plan.input.here.settings;
      const own = set.has(name) ? set.get(name) : DEFAULTS[name];
      plan.settings.set(name, own);
      if (own === value) return here();
      RULES[group].parse({ [name]: value });
      if (set.has(name)) requireSame({ value: own }, { value });
      if (!plan.input.skip.has('settings')) plan.settings.set(name, value);
      return made({ do: 'saveSetting', group, name, before: own, value });
    },
  });
  plan.judge('registration keys', plan.input.site.registrationKeys, {
    name: ({ description, id }) => description ?? id,
    judge: (key) => judgeKey(plan, key),
  });
}

function ofServer(given: SourceServerSettings): Setting[] {
  const { defaultConfigurationModeInterval: interval } = given;
  const groups = {
    server: {
      certificateRotationInterval: formatDuration(given.certificateRotationInterval),
      stalenessMultiplier: given.stalenessMultiplier,
    },
    lcm: {
      defaultConfigurationMode: given.defaultConfigurationMode,
      defaultConfigurationModeInterval: interval === null ? null : formatDuration(interval),
      defaultReportCompliance: given.defaultReportCompliance,
    },
    retention: {
      enabled: given.retentionEnabled,
      keepVersions: given.retentionKeepVersions,
      keepDays: given.retentionKeepDays,
      keepReleaseVersions: given.retentionKeepReleaseVersions,
      scheduleIntervalHours: given.retentionScheduleInterval / HOUR,
      reportKeepCount: given.retentionReportKeepCount,
      reportKeepDays: given.retentionReportKeepDays,
      statusEventKeepCount: given.retentionStatusEventKeepCount,
      statusEventKeepDays: given.retentionStatusEventKeepDays,
    },
  };
  return Object.entries(groups).flatMap(([group, members]) =>
    Object.entries(members).map(([name, value]) => ({ group: group as Setting['group'], name, value })),
  );
}

function ofValidation(given: SourceValidationSettings): Setting[] {
  const members = {
    requireSemVer: given.enforceSemverCompliance,
    defaultParameterValidationMode: given.defaultParameterValidation,
    allowConfigurationOverride: given.allowSemverComplianceOverride,
    allowParameterValidationOverride: given.allowParameterValidationOverride,
  };
  return Object.entries(members).map(([name, value]) => ({ group: 'validation', name, value }));
}

/** What configurations set for themselves, which needs the configurations. */
export function planOwnSettings(plan: Plan): void {
  const { site, here: own } = plan.input;
  const names = new Map(site.configurations.map(({ id, name }) => [id, name]));
  plan.judge('settings', site.configurationSettings, {
    name: ({ configurationId }) => names.get(configurationId) ?? configurationId,
    judge({ configurationId, ...given }) {
      const configuration = plan.require('configurations', configurationId);
      const { requireSemVer, parameterValidationMode } = SettingsChange.parse({
        requireSemVer: given.enforceSemverCompliance,
        parameterValidationMode: given.parameterValidation,
      });
      const retention = RetentionChange.parse({
        enabled: given.retentionEnabled,
        keepVersions: given.retentionKeepVersions,
        keepDays: given.retentionKeepDays,
        keepReleaseVersions: given.retentionKeepReleaseVersions,
      });
      const wanted = { requireSemVer, parameterValidationMode, ...retention };
      const before = own.ownSettings.get(configuration.id);
      const isSet = before !== undefined && Object.values(before).some((value) => value !== null);
      if (isSet) requireSame(before, wanted);
      else if (Object.values(wanted).some((value) => value !== null))
        return made({ do: 'saveOwnSettings', configuration, change: wanted });
      return here();
    },
  });
}

/** Whether versions of the configuration must be SemVer once the settings are imported. */
export function requiresSemVer(plan: Plan, configurationId: string, { id }: Standing): boolean {
  const { site, here: own, skip } = plan.input;
  const server = { ...DEFAULT_VALIDATION, ...Object.fromEntries([...own.settings, ...plan.settings]) };
  const there = skip.has('settings')
    ? undefined
    : site.configurationSettings.find((each) => each.configurationId === configurationId);
  const requireSemVer = own.ownSettings.get(id)?.requireSemVer ?? there?.enforceSemverCompliance ?? null;
  return effectiveValidation(server, {
    ...{ requireSemVer, parameterValidationMode: null, documentChecks: null, variables: null },
  }).requireSemVer;
}

/** Enough of a key to tell it from others. */
const SHOWN_CHARACTERS = 8;

function judgeKey(
  plan: Plan,
  { id, key, expiresAt, maxUses, currentUses, isRevoked, ...more }: SourceRegistrationKey,
) {
  const { now, here: own } = plan.input;
  if (expiresAt === null) throw new LeftOut('It has no end');
  const { description } = NewRegistrationKey.pick({ description: true }).parse({
    description: more.description,
  });
  const hash = sha256Hex(key);
  const row = own.registrationKeys.find((each) => each.key_hash === hash);
  if (row !== undefined) {
    const seen = {
      description: row.description,
      expiresAt: toTimestamp(row.expires_at),
      maxUses: row.max_uses,
    };
    requireSame(
      { ...seen, isRevoked: row.revoked_at !== null },
      { description, expiresAt: toTimestamp(expiresAt), maxUses, isRevoked },
    );
    return here();
  }
  if (own.registrationKeys.some((each) => each.id === id))
    throw new Clash('Its id belongs to another key here');
  const added = {
    ...{ id, key_hash: hash, key_prefix: key.slice(0, SHOWN_CHARACTERS), description },
    ...{ created_at: more.createdAt ?? now, expires_at: expiresAt, max_uses: maxUses },
    ...{ current_uses: currentUses, revoked_at: isRevoked ? now : null, allow_reregistration: 0 },
  };
  return made({ do: 'insertKey', key: added });
}
