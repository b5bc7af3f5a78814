/** Shapes of sign-in by identity providers, and of the exchange of tokens. */

import { z } from 'zod';
import type * as deed from '../../deeds/federate.ts';
import { TOKEN_SCOPES } from '../../domain/permissions.ts';
import { Id, Timestamp } from '../../http/schemas.ts';

export const ProviderView = z
  .object({ name: z.string(), label: z.string() })
  .meta({ id: 'IdentityProvider', examples: [{ name: 'entra', label: 'Example Corp' }] });

export const BeginQuery = z.object({
  returnTo: z
    .string()
    .optional()
    .meta({ description: 'An address of the console. Anything else leads to its first page' }),
});

/** What it holds is for the checks of the protocol, which refuse a state that came twice: it is a list then. */
export const CallbackQuery = z.object({ state: z.unknown().optional().meta({ type: 'string' }) }).loose();

export const ProviderName = z.object({ provider: z.string() });

/** Any text that is short enough to be hashed. */
export const LinkBody = z.strictObject({ currentPassword: z.string().min(1).max(1_024) });

export const SessionsEnded = z.object({}).meta({ id: 'SessionsEnded', examples: [{}] });

export const Identity = z
  .object({
    id: Id,
    provider: z.string(),
    issuer: z.string(),
    subject: z.string(),
    lastSignInAt: Timestamp,
    createdAt: Timestamp,
  })
  .meta({
    id: 'Identity',
    examples: [
      {
        id: '5d1f2a34-0c5b-4e6f-8a9b-1c2d3e4f5a6b',
        provider: 'entra',
        issuer: 'https://login.example.org/tenant/v2.0',
        subject: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
        lastSignInAt: '2026-11-24T08:00:00.000Z',
        createdAt: '2026-11-01T08:00:00.000Z',
      },
    ],
  });

const Claim = z.union([z.string().max(1_024), z.number(), z.boolean()]);

const federation = {
  issuer: z.string().min(1).max(1_024),
  claims: z
    .record(z.string().min(1).max(128), Claim)
    .refine(({ sub }) => typeof sub === 'string' && sub !== '', { path: ['sub'], error: 'sub is required' })
    .refine((claims) => Object.keys(claims).length <= 32, 'At most 32 claims')
    .meta({ description: 'What a token must say, exactly; `sub` is required' }),
  scopes: z
    .array(z.string().refine((scope) => TOKEN_SCOPES.has(scope), 'No such scope'))
    .max(1_000)
    .transform((scopes) => [...new Set(scopes)]),
};

const EXAMPLE = {
  issuer: 'https://token.actions.githubusercontent.com',
  claims: { sub: 'repo:example/web:ref:refs/heads/main', repository_id: '123456' },
  scopes: ['configurations.grants'],
  lifetimeMinutes: 15,
};

export const NewFederation = z
  .strictObject({ ...federation, lifetimeMinutes: z.int().min(1).max(60).default(15) })
  .meta({ id: 'NewFederation', examples: [EXAMPLE] }) satisfies z.ZodType<deed.NewFederation>;

export const Federation = z
  .object({
    id: Id,
    issuer: z.string(),
    claims: z.record(z.string(), Claim),
    scopes: z.array(z.string()),
    lifetimeMinutes: z.int(),
    createdAt: Timestamp,
  })
  .meta({
    id: 'Federation',
    examples: [
      { id: '7c1b2a34-0c5b-4e6f-8a9b-1c2d3e4f5a6b', ...EXAMPLE, createdAt: '2026-11-24T08:00:00.000Z' },
    ],
  });

export const ExchangedToken = z
  .object({
    access_token: z.string(),
    issued_token_type: z.literal('urn:ietf:params:oauth:token-type:access_token'),
    token_type: z.literal('Bearer'),
    expires_in: z.int().meta({ description: 'Seconds' }),
    scope: z.string().meta({ description: 'The scopes, with blanks between them' }),
  })
  .meta({
    id: 'ExchangedToken',
    examples: [
      {
        access_token: 'pat_9kQ2xVb7Yl0sT4mWc8ZrE1uJfHnAoPdGi5K6v3BtXyQ',
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: 900,
        scope: 'configurations.grants',
      },
    ],
  });
