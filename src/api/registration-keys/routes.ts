/** `/api/v1/admin/registration-keys`: the keys with which new nodes register. */

import type { Db } from '../../db/database.ts';
import {
  countNodesOf,
  profileOf,
  REGISTRATION_KEYS,
  type RegistrationKeyRow,
} from '../../db/registration-keys.ts';
import { type AssignmentTools, assignmentByName } from '../../deeds/assign.ts';
import { createKey, revokeKey, updateKey } from '../../deeds/registration-keys.ts';
import { NOT_FOUND, READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { operation, permitted } from '../shared/routes.ts';
import { joinLineRoute } from './join-line.ts';
import type { Joining } from './joining.ts';
import { NewRegistrationKey, RegistrationKey, RegistrationKeyChange } from './schemas.ts';

export function registrationKeyRoutes(tools: AssignmentTools, joining: Joining): Route[] {
  const { database } = tools;
  const keys = permitted(database, ['Registration keys'], 'registration-keys.manage');
  return [
    keys.create('/api/v1/admin/registration-keys', {
      ...operation('createRegistrationKey', 'Create a registration key'),
      description:
        'One with `allowReregistration` takes over nodes that are registered already, so it needs `nodes.delete` as well. ' +
        'A profile needs `nodes.assign-configuration` and Read on all that it assigns, and `nodes.write` for its tags. ' +
        'Whoever has `joinCommand` has the key.',
      body: { kind: 'json', schema: NewRegistrationKey },
      answer: { description: 'The key, shown this once', schema: RegistrationKey },
      problems: ['beyond_own_permissions', NOT_FOUND, [409, 'no_eligible_version'], ...READING_REPOSITORIES],
      async handle({ caller, body }) {
        const { row, secret } = await createKey(tools, caller, body);
        const joinCommand = joining.commandFor(secret, row.signers);
        const made = { ...toRegistrationKey(row, 0), key: secret };
        return { ...made, ...(joinCommand !== null && { joinCommand }) };
      },
    }),
    keys.list('/api/v1/admin/registration-keys', {
      ...operation('listRegistrationKeys', 'List registration keys, newest first'),
      answer: { description: 'Keys without their secrets', schema: RegistrationKey },
      async rows({ query }) {
        const { rows, total } = await REGISTRATION_KEYS.page(database.read, query);
        return { rows: await toRegistrationKeys(database.read, rows), total };
      },
      show: (key) => key,
    }),
    keys.update('/api/v1/admin/registration-keys/{keyId}', {
      ...operation('updateRegistrationKey', "Change a key's description"),
      params: idsInPath('keyId'),
      body: { kind: 'json', schema: RegistrationKeyChange },
      answer: { description: 'The key as it is now', schema: RegistrationKey },
      async change(trx, { caller, params, body }) {
        const row = await updateKey(trx, caller, params.keyId, body.description);
        return (await toRegistrationKeys(trx, [row]))[0];
      },
    }),
    keys.delete('/api/v1/admin/registration-keys/{keyId}', {
      ...operation('revokeRegistrationKey', 'Revoke a key'),
      params: idsInPath('keyId'),
      answer: { description: 'Revoked; it stays listed' },
      change: (trx, { caller, params }) => revokeKey(trx, caller, params.keyId),
    }),
    joinLineRoute(database, joining),
  ];
}

async function toRegistrationKeys(db: Db, rows: readonly RegistrationKeyRow[]) {
  const nodes = await countNodesOf(
    db,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => toRegistrationKey(row, nodes.get(row.id) ?? 0));
}

/** @param nodes how many nodes have registered by the key and are left */
function toRegistrationKey(row: RegistrationKeyRow, nodes: number) {
  const profile = profileOf(row);
  return {
    id: row.id,
    // Only the answer to its creation shows the secret.
    key: null,
    keyPrefix: row.key_prefix,
    description: row.description,
    expiresAt: toTimestamp(row.expires_at),
    createdAt: toTimestamp(row.created_at),
    maxUses: row.max_uses,
    currentUses: row.current_uses,
    isRevoked: row.revoked_at !== null,
    allowReregistration: row.allow_reregistration === 1,
    profile: profile && {
      ...profile,
      assignment: profile.assignment && assignmentByName(profile.assignment),
    },
    lastUsedAt: toOptionalTimestamp(row.last_used_at),
    nodes,
    signers: row.signers,
  };
}
