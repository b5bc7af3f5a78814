/** `/api/v1/users/{id}/federations`: whose tokens may become tokens of a service account. */

import type { Selectable } from 'kysely';
import type { z } from 'zod';
import type { Database, Db } from '../../db/database.ts';
import { pageOf } from '../../db/rows.ts';
import type { FederationsTable } from '../../db/sign-in-tables.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { invalidField, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { recordAudit } from '../../security/audit.ts';
import type { Caller } from '../../security/caller.ts';
import { requireOwnToken } from '../../security/delegation.ts';
import { requireServiceAccount } from '../auth/account-tokens.ts';
import { operation, permitted } from '../crud/routes.ts';
import { Federation, NewFederation } from './schemas.ts';

const PATH = '/api/v1/users/{id}/federations';

/** @param issuers those whose tokens this server takes */
export function federationRoutes(database: Database, issuers: readonly string[]): Route[] {
  const users = permitted(database, ['Users'], 'users.manage');
  return [
    users.create(PATH, {
      ...operation('createFederation', 'Let tokens of an issuer become tokens of a service account'),
      description:
        'A token must have all of the claims, with exactly these values. The caller needs what the making of a token of ' +
        'this account needs.',
      params: idsInPath('id'),
      body: { kind: 'json', schema: NewFederation },
      answer: { description: 'The federation', schema: Federation },
      problems: ['not_a_service_account', 'beyond_own_permissions'],
      async change(trx, { caller, params, body }) {
        if (!issuers.includes(body.issuer))
          throw invalidField(
            '/issuer',
            'HAWSER_FEDERATION_ISSUERS does not name this issuer',
            'unknown_issuer',
          );
        return toFederation(await createFederation(trx, caller, params.id, body));
      },
    }),
    users.list(PATH, {
      ...operation('listFederations', 'List whose tokens may become tokens of a service account'),
      params: idsInPath('id'),
      answer: { description: 'The federations, oldest first', schema: Federation },
      problems: ['not_a_service_account'],
      async rows({ params, query }) {
        const { userId } = await requireServiceAccount(database.read, params.id);
        return pageOf(federationsOf(database.read, userId).selectAll(), query);
      },
      show: toFederation,
    }),
    users.delete(`${PATH}/{federationId}`, {
      ...operation('deleteFederation', 'Take no more tokens of an issuer for a service account'),
      params: idsInPath('id', 'federationId'),
      answer: { description: 'Deleted; the tokens that came by it are revoked' },
      problems: ['not_a_service_account'],
      change: (trx, { caller, params }) => deleteFederation(trx, caller, params),
    }),
  ];
}

/** Oldest first. */
export function federationsOf(db: Db, userId: string) {
  return db.selectFrom('federations').where('user_id', '=', userId).orderBy('created_at').orderBy('id');
}

async function createFederation(
  trx: Db,
  { principal, actor }: Caller,
  accountId: string,
  { issuer, claims, scopes, lifetimeMinutes }: z.output<typeof NewFederation>,
): Promise<Selectable<FederationsTable>> {
  const account = await requireServiceAccount(trx, accountId);
  await requireOwnToken(trx, principal, { accountId, scopes });
  const row = {
    ...{ id: newId(), user_id: accountId, issuer, lifetime_minutes: lifetimeMinutes, created_at: actor.at },
    ...{ claims: JSON.stringify(claims), scopes: JSON.stringify(scopes) },
  };
  await trx.insertInto('federations').values(row).execute();
  const details = { ...account.audited, federationId: row.id, issuer, claims, scopes, lifetimeMinutes };
  await recordAudit(trx, actor, { action: 'federation.created', resourceId: accountId, details });
  return row;
}

async function deleteFederation(
  trx: Db,
  { actor }: Caller,
  { id: accountId, federationId }: { id: string; federationId: string },
): Promise<void> {
  const account = await requireServiceAccount(trx, accountId);
  const row = await federationsOf(trx, accountId)
    .select(['issuer', 'claims'])
    .where('id', '=', federationId)
    .executeTakeFirst();
  if (row === undefined) throw notFound('No such federation');
  await trx
    .updateTable('access_tokens')
    .set({ revoked_at: actor.at })
    .where('federation_id', '=', federationId)
    .where('revoked_at', 'is', null)
    .execute();
  await trx.deleteFrom('federations').where('id', '=', federationId).execute();
  const details = { ...account.audited, federationId, issuer: row.issuer, claims: JSON.parse(row.claims) };
  await recordAudit(trx, actor, { action: 'federation.deleted', resourceId: accountId, details });
}

function toFederation(row: Selectable<FederationsTable>) {
  const { id, issuer, claims, scopes, lifetime_minutes: lifetimeMinutes, created_at: createdAt } = row;
  return {
    ...{ id, issuer, claims: JSON.parse(claims), scopes: JSON.parse(scopes), lifetimeMinutes },
    createdAt: toTimestamp(createdAt),
  };
}
