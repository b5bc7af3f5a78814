/** `/api/v1/admin/registration-keys`: the keys with which new nodes register. */

import type { Database } from '../../db/open.ts';
import { changedMembers } from '../../domain/changed-members.ts';
import { created, json, noContent, page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath, Paging } from '../../http/schemas.ts';
import { DAY, toTimestamp } from '../../lib/clock.ts';
import { invalidField, notFound } from '../../lib/errors.ts';
import { newId, newSecret } from '../../lib/ids.ts';
import { recordAudit } from '../../security/audit.ts';
import { requireOwnTakeover } from '../../security/delegation.ts';
import { describeKey, findKey, insertKey, listKeys, type RegistrationKeyRow, revokeKey } from './queries.ts';
import { NewRegistrationKey, RegistrationKey, RegistrationKeyChange } from './schemas.ts';

const PATH = '/api/v1/admin/registration-keys';
const DEFAULT_LIFETIME = 7 * DAY;
const SHOWN_CHARACTERS = 12;

const COMMON = {
  tags: ['Registration keys'],
  access: { kind: 'permission', permission: 'registration-keys.manage' },
} as const;

export function registrationKeyRoutes(database: Database): Route[] {
  return [createRoute(database), listRoute(database), describeRoute(database), revokeRoute(database)];
}

function createRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'createRegistrationKey',
    method: 'POST',
    path: PATH,
    summary: 'Create a registration key',
    description:
      'One with `allowReregistration` takes over nodes that are registered already, so it needs `nodes.delete` as well.',
    body: { kind: 'json', schema: NewRegistrationKey },
    answers: { 201: { description: 'The key, shown this once', schema: RegistrationKey } },
    problems: ['beyond_own_permissions'],
    async handle({ principal, body, facts }) {
      const { now } = facts;
      const expiresAt = body.expiresAt ?? now + DEFAULT_LIFETIME;
      if (expiresAt <= now) throw invalidField('/expiresAt', 'This time has passed');
      const secret = newSecret('reg_');
      const { description, maxUses = null, allowReregistration } = body;
      const wish = { description, maxUses, allowReregistration };
      const row = await database.write.transaction().execute(async (trx) => {
        if (allowReregistration) await requireOwnTakeover(trx, principal);
        const prefix = secret.slice(0, SHOWN_CHARACTERS);
        const key = await insertKey(trx, { id: newId(), secret, prefix, createdAt: now, expiresAt, ...wish });
        const details = { ...wish, expiresAt: toTimestamp(expiresAt) };
        await recordAudit(trx, facts.actor, {
          action: 'registration_key.created',
          resourceId: key.id,
          details,
        });
        return key;
      });
      return created(`${PATH}/${row.id}`, toRegistrationKey(row, secret));
    },
  });
}

function listRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'listRegistrationKeys',
    method: 'GET',
    path: PATH,
    summary: 'List registration keys, newest first',
    query: Paging,
    answers: { 200: { description: 'Keys without their secrets', schema: RegistrationKey.array() } },
    async handle({ query }) {
      const { rows, total } = await listKeys(database.read, query);
      const keys = rows.map((row) => toRegistrationKey(row, null));
      return page(keys, total, query);
    },
  });
}

function describeRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'updateRegistrationKey',
    method: 'PUT',
    path: `${PATH}/{keyId}`,
    summary: "Change a key's description",
    params: idsInPath('keyId'),
    body: { kind: 'json', schema: RegistrationKeyChange },
    answers: { 200: { description: 'The key as it is now', schema: RegistrationKey } },
    async handle({ params, body: { description }, facts }) {
      const row = await database.write.transaction().execute(async (trx) => {
        const key = await findKey(trx, params.keyId);
        if (!key) throw notFound('No such registration key');
        const details = changedMembers(key, { description });
        if (details === null) return key;
        await describeKey(trx, key.id, description);
        await recordAudit(trx, facts.actor, {
          action: 'registration_key.updated',
          resourceId: key.id,
          details,
        });
        return { ...key, description };
      });
      return json(toRegistrationKey(row, null));
    },
  });
}

function revokeRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'revokeRegistrationKey',
    method: 'DELETE',
    path: `${PATH}/{keyId}`,
    summary: 'Revoke a key',
    params: idsInPath('keyId'),
    answers: { 204: { description: 'Revoked; it stays listed' } },
    async handle({ params, facts }) {
      await database.write.transaction().execute(async (trx) => {
        const key = await findKey(trx, params.keyId);
        if (!key) throw notFound('No such registration key');
        if (key.revoked_at !== null) return;
        await revokeKey(trx, key.id, facts.now);
        const details = { description: key.description };
        await recordAudit(trx, facts.actor, {
          action: 'registration_key.revoked',
          resourceId: key.id,
          details,
        });
      });
      return noContent();
    },
  });
}

function toRegistrationKey(row: RegistrationKeyRow, key: string | null) {
  return {
    id: row.id,
    key,
    keyPrefix: row.key_prefix,
    description: row.description,
    expiresAt: toTimestamp(row.expires_at),
    createdAt: toTimestamp(row.created_at),
    maxUses: row.max_uses,
    currentUses: row.current_uses,
    isRevoked: row.revoked_at !== null,
    allowReregistration: row.allow_reregistration === 1,
  };
}
