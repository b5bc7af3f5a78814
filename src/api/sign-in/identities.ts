/** `/api/v1/users/{id}/identities`: by which providers a user signs in. */

import type { Database } from '../../db/database.ts';
import { pageOf } from '../../db/rows.ts';
import { removeIdentity } from '../../deeds/link-identity.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { USERS } from '../../security/users.ts';
import { operation, permitted } from '../shared/routes.ts';
import { Identity } from './schemas.ts';

const PATH = '/api/v1/users/{id}/identities';

export function identityRoutes(database: Database): Route[] {
  const users = permitted(database, ['Users'], 'users.manage');
  return [
    users.list(PATH, {
      ...operation('listIdentities', 'List by which identity providers a user signs in'),
      params: idsInPath('id'),
      answer: { description: 'The identities, by provider', schema: Identity },
      async rows({ params, query }) {
        await USERS.require(database.read, params.id);
        const identities = database.read.selectFrom('identities').selectAll();
        const ofUser = identities.where('user_id', '=', params.id).orderBy('provider').orderBy('id');
        return pageOf(ofUser, query);
      },
      show: ({ id, provider, issuer, subject, last_sign_in_at: lastSignInAt, created_at: createdAt }) => ({
        ...{ id, provider, issuer, subject },
        lastSignInAt: toTimestamp(lastSignInAt),
        createdAt: toTimestamp(createdAt),
      }),
    }),
    users.delete(`${PATH}/{identityId}`, {
      ...operation('removeIdentity', 'Let a user no longer sign in by an identity'),
      params: idsInPath('id', 'identityId'),
      answer: { description: 'Removed; the sessions that were begun by it have ended' },
      change: (trx, { caller, params }) => removeIdentity(trx, caller, params),
    }),
  ];
}
