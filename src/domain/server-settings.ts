/** The server-wide settings with their names, types and defaults. */

export type ParameterValidationMode = 'None' | 'Warn' | 'Strict';

/** What becomes of a version whose document dsc cannot read: it is not published, it is and is told, or it is. */
export type DocumentChecks = 'None' | 'Warn' | 'Strict';

/**
 * Whom a push may name. With `Committer` the committer of a pushed commit, and the tagger of a pushed tag, must bear the
 * caller's e-mail. With `Any` git's names are a claim that nobody checks.
 */
export type PushIdentity = 'Any' | 'Committer';

export const DEFAULT_VALIDATION = {
  requireSemVer: true,
  defaultParameterValidationMode: 'Strict' as ParameterValidationMode,
  defaultDocumentChecks: 'Strict' as DocumentChecks,
  /** Whether a configuration may set requireSemVer for itself. */
  allowConfigurationOverride: true,
  /** Whether a configuration may set the validation mode and the checks of documents for itself. */
  allowParameterValidationOverride: true,
  pushIdentity: 'Any' as PushIdentity,
};

export type ValidationSettings = typeof DEFAULT_VALIDATION;

export const DEFAULT_SERVER = {
  /** How old an agent lets its certificate grow; a duration as `parseDuration` writes it. */
  certificateRotationInterval: '60.00:00:00',
  /** A node is stale if it has not called for this many of its own intervals. */
  stalenessMultiplier: 2,
};

export type ServerSettings = typeof DEFAULT_SERVER;

/** What a node is told to do if nothing else is set for it. Null means that there is no default either. */
export const DEFAULT_LCM = {
  defaultConfigurationMode: null as 'Monitor' | 'Remediate' | null,
  /** A duration as `parseDuration` writes it. */
  defaultConfigurationModeInterval: null as string | null,
  defaultReportCompliance: null as boolean | null,
};

export type LcmDefaults = typeof DEFAULT_LCM;

/** What a cleanup keeps if nothing else is set, and whether cleanups run on a schedule. */
export const DEFAULT_RETENTION = {
  /** Whether cleanups run on a schedule. */
  enabled: false,
  keepVersions: 10,
  keepDays: 90,
  keepReleaseVersions: true,
  scheduleIntervalHours: 24,
  /** This and the next three are numbers per node. */
  reportKeepCount: 1_000,
  reportKeepDays: 30,
  statusEventKeepCount: 200,
  statusEventKeepDays: 7,
  /** For how many days it is kept what nodes ran, those that were deleted too. */
  historyKeepDays: 400,
};

export type RetentionSettings = typeof DEFAULT_RETENTION;

export const DEFAULT_ROLLOUTS = {
  /** The name of the Restricted scope type whose values are the rings; null while nothing can be rolled out. */
  rolloutScopeType: null as string | null,
};

export type RolloutSettings = typeof DEFAULT_ROLLOUTS;

/** Whether variables such as `${node.fqdn}` in the merged parameters of a configuration are replaced. */
export type Variables = 'Off' | 'On';

/** The settings of a configuration. Null means that the server's setting counts. */
export interface ValidationOverrides {
  requireSemVer: boolean | null;
  parameterValidationMode: ParameterValidationMode | null;
  documentChecks: DocumentChecks | null;
  /** Null is Off, as the server has no such setting. */
  variables: Variables | null;
}

export interface EffectiveValidation {
  isOverridden: boolean;
  requireSemVer: boolean;
  parameterValidationMode: ParameterValidationMode;
  documentChecks: DocumentChecks;
  variables: Variables;
}

/** An override counts only while the server allows it, so a change of that takes effect at once. */
export function effectiveValidation(
  server: ValidationSettings,
  own: ValidationOverrides,
): EffectiveValidation {
  const requireSemVer = server.allowConfigurationOverride ? own.requireSemVer : null;
  const { allowParameterValidationOverride: isAllowed } = server;
  const mode = isAllowed ? own.parameterValidationMode : null;
  const checks = isAllowed ? own.documentChecks : null;
  return {
    isOverridden: requireSemVer !== null || mode !== null || checks !== null,
    requireSemVer: requireSemVer ?? server.requireSemVer,
    parameterValidationMode: mode ?? server.defaultParameterValidationMode,
    documentChecks: checks ?? server.defaultDocumentChecks,
    variables: own.variables ?? 'Off',
  };
}
