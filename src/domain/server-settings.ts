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

/** A node is stale when it has not called for this many of its own intervals. */
export const STALENESS_MULTIPLIER = 2;

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
