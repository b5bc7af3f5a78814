/** Secrets of parameter files: encrypting one value for its place, and showing one to who may see it. */

import { z } from 'zod';
import { encryptValue } from '../../deeds/encrypt-value.ts';
import type { ParameterTools } from '../../deeds/parameter-checks.ts';
import { revealSecret } from '../../deeds/reveal-secret.ts';
import { REVEAL } from '../../domain/permissions.ts';
import { json, writtenJson } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { callerOf, ResourceRoutes } from '../shared/routes.ts';
import { grantedRoutes, SERIES } from '../shared/versioned.ts';
import { InSet, InVersion } from './schemas.ts';

const TAGS = ['Parameters'];
const MAX_REASON = 1_000;
const MAX_PATH = 10_000;
const NO_STORE = { 'Cache-Control': '`no-store`' };

const ScopeValue = z
  .string()
  .nullish()
  .meta({ description: 'None for Default; for Node the fqdn of a node' });
const Path = z
  .string()
  .max(MAX_PATH)
  .meta({ description: 'JSON Pointer from the root of the document, such as `/parameters/password`' });

const NewSecret = z
  .strictObject({
    scopeValue: ScopeValue,
    path: Path,
    value: z.unknown().meta({
      description: 'Any JSON value but an object with members; numbers that a double holds exactly',
    }),
  })
  .superRefine(({ value }, context) => {
    const fault = faultOf(value);
    if (fault === null) return;
    const [code, message] = fault;
    context.addIssue({ code: 'custom', path: ['value'], message, params: { code } });
  })
  .meta({
    id: 'NewSecret',
    examples: [{ scopeValue: 'production', path: '/parameters/password', value: 's3cret' }],
  });

function faultOf(value: unknown): [code: string, message: string] | null {
  if (value === undefined) return ['required', 'A value is required'];
  const isObject = value !== null && typeof value === 'object' && !Array.isArray(value);
  if (isObject && Object.keys(value).length > 0)
    return ['not_allowed', 'An object with members is no leaf; encrypt each of its members by its own path'];
  return isExact(value) ? null : ['not_allowed', 'An integer beyond 2^53 would not be kept exactly'];
}

function isExact(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isInteger(value) || Number.isSafeInteger(value);
  if (value === null || typeof value !== 'object') return true;
  return Object.values(value).every(isExact);
}

const SealedValue = z
  .strictObject({
    text: z
      .string()
      .meta({ description: 'What a file of this scope may hold at the path, in double quotes' }),
  })
  .meta({ id: 'SealedValue', examples: [{ text: 'ENC[996d7ee07bc7b673,oKGio6SlpqeoqaqrxGgd7tq8wQkQ]' }] });

const WantedSecret = z
  .strictObject({
    scopeValue: ScopeValue,
    path: Path,
    reason: z.string().min(1).max(MAX_REASON).meta({ description: 'Why; it stands in the audit trail' }),
  })
  .meta({
    id: 'WantedSecret',
    examples: [
      {
        scopeValue: 'production',
        path: '/parameters/password',
        reason: 'The database moves to another host',
      },
    ],
  });

const RevealedSecret = z
  .strictObject({ value: z.unknown().meta({ description: 'The value of the leaf, with all its digits' }) })
  .meta({ id: 'RevealedSecret', examples: [{ value: 's3cret' }] });

export function secretRoutes(tools: ParameterTools): Route[] {
  const { modifying } = grantedRoutes(tools.database, TAGS, SERIES);
  const access = { kind: 'grant', level: 'Read', permission: REVEAL, ...SERIES } as const;
  const revealing = new ResourceRoutes(tools.database, { tags: TAGS, access });
  return [
    modifying.own('POST', '/api/v1/parameters/{scopeTypeId}/{configurationId}/encrypt', {
      id: 'encryptParameterValue',
      summary: 'Encrypt a value for its place in a parameter file',
      description:
        'The text opens at this path, in files of this scope of this configuration, and nowhere else. Nothing is stored. ' +
        'Files that are saved with a secret in the clear are encrypted by the server; this is for files that are pushed.',
      params: InSet,
      body: { kind: 'json', schema: NewSecret },
      answers: { 200: { description: 'The encrypted text', schema: SealedValue, headers: NO_STORE } },
      problems: [
        ...['unknown_node', 'unknown_scope_value', 'scope_type_disabled'],
        ...['secret_key_missing', 'upgrade_incomplete'],
      ],
      async handle({ params, body: { value, ...place }, resource, principal }) {
        const wanted = { type: { id: params.scopeTypeId }, ...place, json: JSON.stringify(value) };
        return json({
          text: await encryptValue(
            tools,
            { resource, principal },
            { ...wanted, scopeValue: place.scopeValue },
          ),
        });
      },
    }),
    revealing.own('POST', '/api/v1/parameters/{scopeTypeId}/{configurationId}/versions/{version}/reveal', {
      id: 'revealParameterSecret',
      summary: 'See one secret of a parameter file in the clear',
      description:
        'Each user may see 30 secrets an hour, with bundles that hold secrets counted as one each. Each is an entry ' +
        '`secret.revealed` of the audit trail, with the reason, and an event.',
      params: InVersion,
      body: { kind: 'json', schema: WantedSecret },
      answers: { 200: { description: 'The secret', schema: RevealedSecret, headers: NO_STORE } },
      problems: [[409, 'secret_unreadable'], 'secret_key_missing', 'rate_limited', ...READING_REPOSITORIES],
      async handle({ params, body: { scopeValue, path, reason }, resource, ...call }) {
        const wanted = {
          type: { id: params.scopeTypeId },
          version: params.version,
          scopeValue,
          path,
          reason,
        };
        return writtenJson(`{"value":${await revealSecret(tools, callerOf(call), resource, wanted)}}`);
      },
    }),
  ];
}
