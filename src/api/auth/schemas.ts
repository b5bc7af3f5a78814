/** Shapes of the sign-in and token routes. */

import { z } from 'zod';
import type { WantedToken } from '../../deeds/tokens.ts';
import { PASSWORD_MAX } from '../../domain/password-rules.ts';
import { TOKEN_SCOPES } from '../../domain/permissions.ts';
import { Id, Instant, Timestamp } from '../../http/schemas.ts';
import { FreezeInForce } from '../shared/freeze.ts';

/** Any text that is short enough to be hashed. The rules for new passwords are in domain/password-rules.ts. */
const AnyPassword = z.string().min(1).max(1_024);

export const Login = z
  .strictObject({ username: z.string().min(1).max(256), password: AnyPassword })
  .meta({ id: 'Login', examples: [{ username: 'alice', password: 'correct horse battery staple' }] });

const SIGNED_IN = {
  userId: '0b1f7c52-6a53-4d0e-9d43-7c1d2f0c9a11',
  username: 'alice',
  email: 'alice@example.com',
};

const user = { userId: Id, username: z.string(), email: z.string() };

const requirePasswordChange = z
  .boolean()
  .meta({ description: 'While true, only sign-out, `/auth/me` and change-password can be called' });

export const SignedIn = z
  .object({ ...user, requirePasswordChange })
  .meta({ id: 'SignedIn', examples: [{ ...SIGNED_IN, requirePasswordChange: false }] });

export const Me = z
  .object({
    ...user,
    accountType: z.enum(['User', 'ServiceAccount']),
    roles: z.array(z.string()).meta({ description: 'Names, of roles held by groups too' }),
    groups: z.array(z.string()),
    permissions: z.array(z.string()).meta({ description: "Effective ones, after the token's scopes" }),
    authProvider: z
      .string()
      .meta({ description: 'The provider of the session; `Local` for a password, and for a token' }),
    authMethod: z.enum(['Session', 'Token']),
    requirePasswordChange,
    freeze: FreezeInForce.nullable().meta({
      description: 'Until when nobody may change what nodes get; null while everybody may who has the rights',
    }),
  })
  .meta({
    id: 'CurrentUser',
    examples: [
      {
        ...SIGNED_IN,
        accountType: 'User',
        roles: ['Operator'],
        groups: ['Web team'],
        permissions: ['nodes.read', 'reports.read'],
        authProvider: 'Local',
        authMethod: 'Token',
        requirePasswordChange: false,
        freeze: null,
      },
    ],
  });

export const ChangePassword = z
  .strictObject({
    currentPassword: AnyPassword,
    newPassword: z
      .string()
      .max(PASSWORD_MAX * 4)
      .meta({ description: '12 to 256 characters, neither the user name nor a common one' }),
  })
  .meta({
    id: 'PasswordChange',
    examples: [
      { currentPassword: 'correct horse battery staple', newPassword: 'four other words, chosen freely' },
    ],
  });

/** The new password is typed twice: nobody sees what is typed, and a slip would lock its user out. */
export const ChangePasswordForm = ChangePassword.extend({ repeatedPassword: z.string() });

/** A form with nothing but a button. */
export const EmptyForm = z.strictObject({});

const next = z
  .string()
  .optional()
  .meta({ description: 'Where to go then: a path below `/ui/`, with its query. Anything else is ignored' });

/** Other members of the query are ignored. */
export const LoginPageQuery = z.object({
  changed: z.string().optional(),
  signedOut: z
    .string()
    .optional()
    .meta({ description: 'The provider by whose session somebody was signed in' }),
  next,
});

export const NextQuery = z.object({ next });

/** Blank scopes are dropped, but only after all were checked, so that an error names the place in the input. */
const Scope = z
  .string()
  .trim()
  .refine(
    (scope) => scope === '' || TOKEN_SCOPES.has(scope),
    `No such scope; there are ${[...TOKEN_SCOPES].join(', ')}`,
  )
  .meta({ published: { type: 'string', enum: [...TOKEN_SCOPES] } });

export const NewToken = z
  .strictObject({
    name: z.string().trim().min(1).max(128),
    scopes: z
      .array(Scope)
      .max(1_000)
      .transform((scopes) => [...new Set(scopes.filter((scope) => scope !== ''))]),
    expiresAt: Instant.nullish().meta({ description: 'Absent: in 90 days; null: never' }),
  })
  .meta({
    id: 'NewToken',
    examples: [
      {
        name: 'deploy pipeline',
        scopes: ['nodes.read', 'configurations.grants'],
        expiresAt: '2027-03-31T00:00:00Z',
      },
    ],
  }) satisfies z.ZodType<WantedToken>;

export const Token = z
  .object({
    id: Id,
    name: z.string(),
    tokenPrefix: z.string().meta({ description: 'Enough to tell tokens apart' }),
    scopes: z.array(z.string()),
    expiresAt: Timestamp.nullable(),
    lastUsedAt: Timestamp.nullable().meta({ description: 'At most a minute late' }),
    isRevoked: z.boolean(),
    createdAt: Timestamp,
  })
  .meta({
    id: 'Token',
    examples: [
      {
        id: '1a2b3c4d-5e6f-4708-8192-a3b4c5d6e7f8',
        name: 'deploy pipeline',
        tokenPrefix: 'pat_9kQ2xVb7',
        scopes: ['nodes.read', 'configurations.grants'],
        expiresAt: '2027-03-31T00:00:00.000Z',
        lastUsedAt: null,
        isRevoked: false,
        createdAt: '2026-11-20T09:08:00.000Z',
      },
    ],
  });

export const CreatedToken = z
  .object({
    token: z.string().meta({ description: 'Shown this once' }),
    tokenId: Id,
    name: z.string(),
    tokenPrefix: z.string(),
    scopes: z.array(z.string()),
    expiresAt: Timestamp.nullable(),
    createdAt: Timestamp,
  })
  .meta({
    id: 'CreatedToken',
    examples: [
      {
        token: 'pat_9kQ2xVb7Yl0sT4mWc8ZrE1uJfHnAoPdGi5K6v3BtXyQ',
        tokenId: '1a2b3c4d-5e6f-4708-8192-a3b4c5d6e7f8',
        name: 'deploy pipeline',
        tokenPrefix: 'pat_9kQ2xVb7',
        scopes: ['nodes.read', 'configurations.grants'],
        expiresAt: '2027-03-31T00:00:00.000Z',
        createdAt: '2026-11-20T09:08:00.000Z',
      },
    ],
  });
