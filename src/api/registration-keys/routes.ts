/** `/api/v1/admin/registration-keys`: the keys with which new nodes register. */

import type { Database, Db } from '../../db/database.ts';
import { changedMembers } from '../../domain/changed-members.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { DAY, toTimestamp } from '../../lib/clock.ts';
import { invalidField } from '../../lib/errors.ts';
import { sha256Hex } from '../../lib/hash.ts';
import { newId, newSecret } from '../../lib/ids.ts';
import { recordAudit } from '../../security/audit.ts';
import type { Caller } from '../../security/caller.ts';
import { requireOwnTakeover } from '../../security/delegation.ts';
import { operation, permitted } from '../crud/routes.ts';
import type { Joining } from './joining.ts';
import { insertKey, REGISTRATION_KEYS, type RegistrationKeyRow } from './queries.ts';
import { NewRegistrationKey, RegistrationKey, RegistrationKeyChange } from './schemas.ts';

const DEFAULT_LIFETIME = 7 * DAY;
const SHOWN_CHARACTERS = 12;

/** @param joining null where machines cannot be joined by a line */
export function registrationKeyRoutes(database: Database, joining: Joining | null): Route[] {
  const keys = permitted(database, ['Registration keys'], 'registration-keys.manage');
  return [
    keys.create('/api/v1/admin/registration-keys', {
      ...operation('createRegistrationKey', 'Create a registration key'),
      description:
        'One with `allowReregistration` takes over nodes that are registered already, so it needs `nodes.delete` as well. ' +
        'Whoever has `joinCommand` has the key.',
      body: { kind: 'json', schema: NewRegistrationKey },
      answer: { description: 'The key, shown this once', schema: RegistrationKey },
      problems: ['beyond_own_permissions'],
      async change(trx, { caller, body }) {
        const { row, secret } = await createKey(trx, caller, body);
        const joinCommand = joining?.commandFor(secret);
        return { ...toRegistrationKey(row, secret), ...(joinCommand !== undefined && { joinCommand }) };
      },
    }),
    keys.list('/api/v1/admin/registration-keys', {
      ...operation('listRegistrationKeys', 'List registration keys, newest first'),
      answer: { description: 'Keys without their secrets', schema: RegistrationKey },
      rows: ({ query }) => REGISTRATION_KEYS.page(database.read, query),
      show: (row) => toRegistrationKey(row, null),
    }),
    keys.update('/api/v1/admin/registration-keys/{keyId}', {
      ...operation('updateRegistrationKey', "Change a key's description"),
      params: idsInPath('keyId'),
      body: { kind: 'json', schema: RegistrationKeyChange },
      answer: { description: 'The key as it is now', schema: RegistrationKey },
      async change(trx, { caller, params, body }) {
        return toRegistrationKey(await updateKey(trx, caller, params.keyId, body.description), null);
      },
    }),
    keys.delete('/api/v1/admin/registration-keys/{keyId}', {
      ...operation('revokeRegistrationKey', 'Revoke a key'),
      params: idsInPath('keyId'),
      answer: { description: 'Revoked; it stays listed' },
      change: (trx, { caller, params }) => revokeKey(trx, caller, params.keyId),
    }),
  ];
}

/** @throws HawserError invalid for a time that has passed; `beyond_own_permissions` */
async function createKey(trx: Db, { principal, actor }: Caller, body: NewRegistrationKey) {
  const { description, maxUses = null, allowReregistration, expiresAt = null } = body;
  const expiry = expiresAt ?? actor.at + DEFAULT_LIFETIME;
  if (expiry <= actor.at) throw invalidField('/expiresAt', 'This time has passed');
  if (allowReregistration) await requireOwnTakeover(trx, principal);
  const secret = newSecret('reg_');
  const row = await insertKey(trx, actor, {
    id: newId(),
    key_hash: sha256Hex(secret),
    key_prefix: secret.slice(0, SHOWN_CHARACTERS),
    description,
    created_at: actor.at,
    expires_at: expiry,
    max_uses: maxUses,
    revoked_at: null,
    allow_reregistration: allowReregistration ? 1 : 0,
  });
  return { row, secret };
}

/** @throws HawserError not_found */
async function updateKey(
  trx: Db,
  { actor }: Caller,
  id: string,
  description: string | null,
): Promise<RegistrationKeyRow> {
  const key = await REGISTRATION_KEYS.require(trx, id);
  const details = changedMembers(key, { description });
  if (details === null) return key;
  await recordAudit(trx, actor, { action: 'registration_key.updated', resourceId: id, details });
  return REGISTRATION_KEYS.update(trx, id, { description });
}

/** The key stays listed. To revoke it again changes nothing. @throws HawserError not_found */
async function revokeKey(trx: Db, { actor }: Caller, id: string): Promise<void> {
  const { description, revoked_at } = await REGISTRATION_KEYS.require(trx, id);
  if (revoked_at !== null) return;
  await REGISTRATION_KEYS.update(trx, id, { revoked_at: actor.at });
  const details = { description };
  await recordAudit(trx, actor, { action: 'registration_key.revoked', resourceId: id, details });
}

/** @param key the secret, which only the answer to its creation shows */
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
