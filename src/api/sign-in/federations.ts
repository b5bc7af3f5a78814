/** `/api/v1/users/{id}/federations`: whose tokens may become tokens of a service account. */

import type { Selectable } from 'kysely';
import type { Database } from '../../db/database.ts';
import { pageOf } from '../../db/rows.ts';
import type { FederationsTable } from '../../db/sign-in-tables.ts';
import { createFederation, deleteFederation, federationsOf } from '../../deeds/federate.ts';
import { requireServiceAccount } from '../../deeds/tokens.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { operation, permitted } from '../shared/routes.ts';
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
      change: async (trx, { caller, params, body }) =>
        toFederation(await createFederation(trx, caller, { accountId: params.id, issuers }, body)),
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

function toFederation(row: Selectable<FederationsTable>) {
  const { id, issuer, claims, scopes, lifetime_minutes: lifetimeMinutes, created_at: createdAt } = row;
  return {
    ...{ id, issuer, claims: JSON.parse(claims), scopes: JSON.parse(scopes), lifetimeMinutes },
    createdAt: toTimestamp(createdAt),
  };
}
