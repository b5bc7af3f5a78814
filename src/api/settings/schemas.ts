/** Shapes of the server-wide settings. */

import { z } from 'zod';
import { choice } from '../../http/schemas.ts';

export const ValidationMode = choice('None', 'Warn', 'Strict');

export const ValidationSettingsView = z.object({
  requireSemVer: z.boolean(),
  defaultParameterValidationMode: ValidationMode,
  allowConfigurationOverride: z.boolean(),
  allowParameterValidationOverride: z.boolean(),
});

export const ValidationSettingsChange = z.strictObject({
  requireSemVer: z.boolean().optional(),
  defaultParameterValidationMode: ValidationMode.optional(),
  allowConfigurationOverride: z.boolean().optional(),
  allowParameterValidationOverride: z.boolean().optional(),
});
