/** `/api/v1/admin/registration-keys`: the keys with which new nodes register. */

import type { Database } from '../../db/database.ts';
import { REGISTRATION_KEYS, type RegistrationKeyRow } from '../../db/registration-keys.ts';
import { createKey, revokeKey, updateKey } from '../../deeds/registration-keys.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { operation, permitted } from '../crud/routes.ts';
import type { Joining } from './joining.ts';
import { NewRegistrationKey, RegistrationKey, RegistrationKeyChange } from './schemas.ts';

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
