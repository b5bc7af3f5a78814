/** Shapes of scope types and scope values. */

import { z } from 'zod';
import type * as deed from '../../deeds/change-scope-type.ts';
import { SCOPE_NAME } from '../../domain/scopes.ts';
import {
  choice,
  Description,
  Flag,
  given,
  Id,
  IdInAnyCase,
  orUnchanged,
  Timestamp,
} from '../../http/schemas.ts';
import { EXAMPLE_PROTECTION, NewProtection, ProtectionView } from '../shared/deed-schemas.ts';

const ScopeName = z.string().regex(SCOPE_NAME, 'Not 1 to 64 letters, digits, "_" and "-"');

const ValueMode = choice('Unrestricted', 'Restricted');

export const NewScopeType = z
  .strictObject({
    name: ScopeName,
    description: Description,
    valueMode: ValueMode.nullish().transform((mode) => mode ?? 'Unrestricted'),
  })
  .meta({
    id: 'NewScopeType',
    examples: [{ name: 'Environment', description: 'Where a machine stands', valueMode: 'Restricted' }],
  }) satisfies z.ZodType<deed.NewScopeType>;

/** A name that is absent stays. */
export const ScopeTypeChange = z
  .strictObject({ name: orUnchanged(ScopeName), description: Description })
  .meta({
    id: 'ScopeTypeChange',
    examples: [{ name: 'Stage', description: 'Test, staging or production' }],
  });

export const ScopeType = z
  .object({
    id: Id,
    name: z.string(),
    description: z.string().nullable(),
    precedence: z.int().describe('The higher wins; 0 is Default, the highest is Node'),
    isSystem: z.boolean(),
    isEnabled: z.boolean().describe('False keeps it out of merging'),
    valueMode: ValueMode.describe('Whether files may be written for values that are not defined'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: 'ScopeType',
    examples: [
      {
        id: '9e8d7c6b-5a49-4382-9716-05f4e3d2c1b0',
        name: 'Environment',
        description: 'Where a machine stands',
        precedence: 1,
        isSystem: false,
        isEnabled: true,
        valueMode: 'Restricted',
        createdAt: '2026-11-20T09:08:00.000Z',
        updatedAt: '2026-11-20T09:08:00.000Z',
      },
    ],
  });

export const NewScopeValue = z.strictObject({ value: ScopeName, description: Description }).meta({
  id: 'NewScopeValue',
  examples: [{ value: 'production', description: 'What customers use' }],
}) satisfies z.ZodType<deed.NewScopeValue>;

export const ScopeValueOrder = z.strictObject({ scopeValueIds: z.array(IdInAnyCase) }).meta({
  id: 'ScopeValueOrder',
  examples: [
    { scopeValueIds: ['c0ffee00-1d2c-4b3a-8495-a6b7c8d9e0f1', '7d1f0e9b-8c7d-4a5f-8e3d-2c1b0a9f8e7d'] },
  ],
});

/** A value or a protection that is absent stays. */
export const ScopeValueChange = z
  .strictObject({
    value: orUnchanged(ScopeName),
    description: Description,
    protection: NewProtection.optional(),
  })
  .meta({ id: 'ScopeValueChange', examples: [{ value: 'live', description: 'What customers see' }] });

export const WithParameters = z.object({
  withParameters: given(Flag)
    .transform((flag) => flag ?? false)
    .meta({ description: 'Removes its parameter files, drafts too' }),
});

export const ScopeValue = z
  .object({
    id: Id,
    scopeTypeId: Id,
    value: z.string(),
    description: z.string().nullable(),
    order: z.int().describe('Its place among the values of its type, lowest first; numbers may be missing'),
    protection: ProtectionView,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({
    id: 'ScopeValue',
    examples: [
      {
        id: 'c0ffee00-1d2c-4b3a-8495-a6b7c8d9e0f1',
        scopeTypeId: '9e8d7c6b-5a49-4382-9716-05f4e3d2c1b0',
        value: 'production',
        description: 'What customers use',
        order: 3,
        protection: EXAMPLE_PROTECTION,
        createdAt: '2026-11-20T09:08:00.000Z',
        updatedAt: '2026-11-20T09:08:00.000Z',
      },
    ],
  });
