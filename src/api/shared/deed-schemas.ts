/** Shapes of what a deed takes that has a route of its own, and is a deed on many nodes or a change that is proposed too. */

import { z } from 'zod';
import type { LcmSettings } from '../../deeds/change-lcm-config.ts';
import { MAX_APPROVALS, type Protection } from '../../domain/protection.ts';
import { SIGNING_REQUIRES, type Signing } from '../../domain/signing.ts';
import { choice, Duration, Id, IdInAnyCase } from '../../http/schemas.ts';
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

const PROTECTION = {
  approvals: z
    .int()
    .min(0)
    .max(MAX_APPROVALS)
    .meta({ description: 'How many people approve a change set before it is applied' }),
  byChangeSetOnly: z.boolean().meta({ description: 'Whether single deeds are refused all the same' }),
};

export const EXAMPLE_PROTECTION = { approvals: 1, groupId: null, byChangeSetOnly: false };

/** It is replaced as a whole. */
export const NewProtection = z
  .strictObject({
    ...PROTECTION,
    groupId: IdInAnyCase.nullable().meta({ description: 'The group whose members alone count' }),
  })
  .meta({ id: 'NewProtection', examples: [EXAMPLE_PROTECTION] }) satisfies z.ZodType<Protection>;

export const ProtectionView = z
  .object({ ...PROTECTION, groupId: Id.nullable() })
  .meta({ id: 'Protection', examples: [EXAMPLE_PROTECTION] });

const SIGNING = {
  allowedSigners: z.string().meta({
    description:
      "Who may sign: OpenSSH's `allowed_signers`, a line for each key, with the options `namespaces`, `valid-after` and " +
      '`valid-before`; at most 64 KiB and 1,000 lines',
  }),
};
const REQUIRE = 'With `Version` no version comes to be offered that none of them has signed';

export const EXAMPLE_SIGNING = {
  require: 'Version' as const,
  allowedSigners:
    'alice@example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ9vWqwQ0bFZ0K3l7b0pXyq6mE4m5tG9rQ2yVJb3f1aB\n',
};

/** It is replaced as a whole. */
export const NewSigning = z
  .strictObject({ require: choice(...SIGNING_REQUIRES).meta({ description: REQUIRE }), ...SIGNING })
  .meta({ id: 'NewSigning', examples: [EXAMPLE_SIGNING] }) satisfies z.ZodType<Signing>;

export const VariablesView = z.enum(['Off', 'On']).meta({
  description:
    'Whether variables, such as that of the fqdn of the node, are replaced in the merged parameters',
});

export const SigningView = z
  .object({ require: z.enum(SIGNING_REQUIRES).meta({ description: REQUIRE }), ...SIGNING })
  .meta({ id: 'Signing', examples: [EXAMPLE_SIGNING] });

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
