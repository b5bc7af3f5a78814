/** Shapes of the sign-in and token routes. */

import { z } from 'zod';
import { PASSWORD_MAX } from '../../domain/password-rules.ts';
import { TOKEN_SCOPES } from '../../domain/permissions.ts';
import { Id, Instant, Timestamp } from '../../http/schemas.ts';

/** Bounds what is hashed, not what is allowed: a longer text is refused before any hashing. */
const AnyPassword = z.string().min(1).max(1_024);

export const Login = z.strictObject({ username: z.string().min(1).max(256), password: AnyPassword });

export const SignedIn = z.object({
  userId: Id,
  username: z.string(),
  email: z.string(),
  requirePasswordChange: z.boolean(),
});

export const Me = z.object({
  userId: Id,
  username: z.string(),
  email: z.string(),
  accountType: z.enum(['User', 'ServiceAccount']),
  roles: z.array(z.string()),
  groups: z.array(z.string()),
  permissions: z.array(z.string()),
  authProvider: z.literal('Local'),
  authMethod: z.enum(['Session', 'Token']),
  requirePasswordChange: z.boolean(),
});

export const ChangePassword = z.strictObject({
  currentPassword: AnyPassword,
  newPassword: z.string().max(PASSWORD_MAX * 4),
});

/** A blank one is dropped afterwards; judged before that, so that a fault names the place in the input. */
const Scope = z
  .string()
  .trim()
  .refine((scope) => scope === '' || TOKEN_SCOPES.has(scope), 'No such scope');

export const NewToken = z.strictObject({
  name: z.string().trim().min(1).max(128),
  scopes: z
    .array(Scope)
    .max(1_000)
    .transform((scopes) => [...new Set(scopes.filter((scope) => scope !== ''))]),
  expiresAt: Instant.nullish(),
});

export const Token = z.object({
  id: Id,
  name: z.string(),
  tokenPrefix: z.string(),
  scopes: z.array(z.string()),
  expiresAt: Timestamp.nullable(),
  lastUsedAt: Timestamp.nullable(),
  isRevoked: z.boolean(),
  createdAt: Timestamp,
});

export const CreatedToken = z.object({
  token: z.string(),
  tokenId: Id,
  name: z.string(),
  tokenPrefix: z.string(),
  scopes: z.array(z.string()),
  expiresAt: Timestamp.nullable(),
  createdAt: Timestamp,
});
