/** Shapes of what a deed takes that has a route of its own, and is a deed on many nodes or a change that is proposed too. */

import { z } from 'zod';
import type { LcmSettings } from '../../deeds/change-lcm-config.ts';
import { choice, Duration, IdInAnyCase } from '../../http/schemas.ts';
import { MAX_TAGS } from './given-schemas.ts';

export const ConfigurationMode = choice('Monitor', 'Remediate');

/** What an LCM is set to, or says that it is. */
export const LCM_SETTINGS = {
  configurationMode: ConfigurationMode.nullish(),
  configurationModeInterval: Duration.nullish(),
  reportCompliance: z.boolean().nullish(),
};

export const LcmConfigChange = z.strictObject(LCM_SETTINGS).meta({
  id: 'LcmConfigChange',
  examples: [
    { configurationMode: 'Remediate', configurationModeInterval: '01:00:00', reportCompliance: null },
  ],
}) satisfies z.ZodType<LcmSettings>;

export const NodeTags = z
  .strictObject({
    scopeValueIds: z.array(IdInAnyCase).max(MAX_TAGS).meta({ description: 'At most one of each scope type' }),
  })
  .meta({ id: 'NodeTags', examples: [{ scopeValueIds: ['c0ffee00-1d2c-4b3a-8495-a6b7c8d9e0f1'] }] });

export const ScopeOrder = z
  .strictObject({
    scopeTypeIds: z.array(IdInAnyCase),
  })
  .meta({
    id: 'ScopeTypeOrder',
    examples: [
      {
        scopeTypeIds: [
          '00000000-0000-0000-0000-000000000001',
          '9e8d7c6b-5a49-4382-9716-05f4e3d2c1b0',
          '00000000-0000-0000-0000-000000000002',
        ],
      },
    ],
  });
