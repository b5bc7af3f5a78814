/** Shapes of scope types and scope values. */

import { z } from 'zod';
import { SCOPE_NAME } from '../../domain/scopes.ts';
import { choice, Description, Id, Timestamp } from '../../http/schemas.ts';

const ScopeName = z.string().regex(SCOPE_NAME, 'Not 1 to 64 letters, digits, "_" and "-"');

const ValueMode = choice('Unrestricted', 'Restricted');

export const NewScopeType = z.strictObject({
  name: ScopeName,
  description: Description,
  valueMode: ValueMode.nullish().transform((mode) => mode ?? 'Unrestricted'),
});

export const ScopeTypeChange = z.strictObject({ description: Description });

export const ScopeOrder = z.strictObject({
  scopeTypeIds: z.array(z.guid().transform((id) => id.toLowerCase())),
});

export const ScopeType = z.object({
  id: Id,
  name: z.string(),
  description: z.string().nullable(),
  precedence: z.int().meta({ description: 'The higher wins; 0 is Default, the highest is Node' }),
  isSystem: z.boolean(),
  isEnabled: z.boolean(),
  valueMode: ValueMode,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const NewScopeValue = z.strictObject({ value: ScopeName, description: Description });

export const ScopeValueChange = z.strictObject({ description: Description });

export const ScopeValue = z.object({
  id: Id,
  scopeTypeId: Id,
  value: z.string(),
  description: z.string().nullable(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
