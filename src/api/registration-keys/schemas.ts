/** Shapes of registration keys. */

import { z } from 'zod';
import { Description, Id, Instant, Timestamp } from '../../http/schemas.ts';

export const NewRegistrationKey = z.strictObject({
  description: Description,
  expiresAt: Instant.nullish(),
  maxUses: z.int().min(1).nullish(),
  allowReregistration: z
    .boolean()
    .nullish()
    .transform((allowed) => allowed ?? false),
});

export const RegistrationKeyChange = z.strictObject({ description: Description });

export const RegistrationKey = z.object({
  id: Id,
  key: z.string().nullable(),
  keyPrefix: z.string(),
  description: z.string().nullable(),
  expiresAt: Timestamp,
  createdAt: Timestamp,
  maxUses: z.int().nullable(),
  currentUses: z.int(),
  isRevoked: z.boolean(),
  allowReregistration: z.boolean(),
});
