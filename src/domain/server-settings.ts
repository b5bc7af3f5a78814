/** Server-wide settings (api.md section 13): their names, types and defaults. */

export type ParameterValidationMode = 'None' | 'Warn' | 'Strict';

export interface ValidationSettings {
  requireSemVer: boolean;
  defaultParameterValidationMode: ParameterValidationMode;
  /** Whether a configuration may set requireSemVer for itself. */
  allowConfigurationOverride: boolean;
  /** Whether a configuration may set the validation mode for itself. */
  allowParameterValidationOverride: boolean;
}

export const DEFAULT_VALIDATION: ValidationSettings = {
  requireSemVer: true,
  defaultParameterValidationMode: 'Strict',
  allowConfigurationOverride: true,
  allowParameterValidationOverride: true,
};

export interface ServerSettings {
  /** How old an agent lets its certificate grow; a duration as `parseDuration` writes it. */
  certificateRotationInterval: string;
  /** A node is stale when it has not called for this many of its own intervals. */
  stalenessMultiplier: number;
}

export const DEFAULT_SERVER: ServerSettings = {
  certificateRotationInterval: '60.00:00:00',
  stalenessMultiplier: 2,
};

/** What a node is told where nothing is desired of it in particular; null means no default either. */
export interface LcmDefaults {
  defaultConfigurationMode: 'Monitor' | 'Remediate' | null;
  /** A duration as `parseDuration` writes it. */
  defaultConfigurationModeInterval: string | null;
  defaultReportCompliance: boolean | null;
}

export const DEFAULT_LCM: LcmDefaults = {
  defaultConfigurationMode: null,
  defaultConfigurationModeInterval: null,
  defaultReportCompliance: null,
};

/** What a cleanup keeps that is not told otherwise (api.md section 8), and whether one runs by itself. */
export interface RetentionSettings {
  /** Whether cleanups run on a schedule. */
  enabled: boolean;
  keepVersions: number;
  keepDays: number;
  keepReleaseVersions: boolean;
  scheduleIntervalHours: number;
  /** Per node, as the three below. */
  reportKeepCount: number;
  reportKeepDays: number;
  statusEventKeepCount: number;
  statusEventKeepDays: number;
}

export const DEFAULT_RETENTION: RetentionSettings = {
  enabled: false,
  keepVersions: 10,
  keepDays: 90,
  keepReleaseVersions: true,
  scheduleIntervalHours: 24,
  reportKeepCount: 1_000,
  reportKeepDays: 30,
  statusEventKeepCount: 200,
  statusEventKeepDays: 7,
};

/** What a configuration sets for itself; null means inherited. */
export interface ValidationOverrides {
  requireSemVer: boolean | null;
  parameterValidationMode: ParameterValidationMode | null;
}

export interface EffectiveValidation {
  isOverridden: boolean;
  requireSemVer: boolean;
  parameterValidationMode: ParameterValidationMode;
}

/** An override counts only while the server allows it, so that forbidding it acts at once. */
export function effectiveValidation(
  server: ValidationSettings,
  own: ValidationOverrides,
): EffectiveValidation {
  const requireSemVer = server.allowConfigurationOverride ? own.requireSemVer : null;
  const mode = server.allowParameterValidationOverride ? own.parameterValidationMode : null;
  return {
    isOverridden: requireSemVer !== null || mode !== null,
    requireSemVer: requireSemVer ?? server.requireSemVer,
    parameterValidationMode: mode ?? server.defaultParameterValidationMode,
  };
}
