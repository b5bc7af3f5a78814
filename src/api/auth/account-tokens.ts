/**
 * `/api/v1/users/{id}/tokens`: the tokens of others. A service account cannot sign in to make its own. Those of people are
 * listed and revoked here, which hands nothing out; making them stays with the person.
 */

import type { Database } from '../../db/database.ts';
import {
  insertToken,
  listTokens,
  ownerOf,
  requireServiceAccount,
  revokeToken,
  toToken,
} from '../../deeds/tokens.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { requireOwnToken } from '../../security/delegation.ts';
import { USERS } from '../../security/users.ts';
import { operation, permitted, ResourceRoutes } from '../shared/routes.ts';
import { CreatedToken, NewToken, Token } from './schemas.ts';

const PATH = '/api/v1/users/{id}/tokens';

export function accountTokenRoutes(database: Database): Route[] {
  const tags = ['Users'];
  const readers = permitted(database, tags, 'users.manage');
  // No token makes or revokes tokens.
  const access = { kind: 'permission', permission: 'users.manage', session: true } as const;
  const sessions = new ResourceRoutes(database, { tags, access });
  return [
    sessions.create(PATH, {
      ...operation('createAccountToken', 'Create a token of a service account'),
      description:
        'The token can do what the account may do and its scopes name. The caller needs every permission and grant that ' +
        'the account holds, every permission among the scopes, and for `configurations.grants`, ' +
        '`composite-configurations.grants` and `parameters.grants` the `admin-override` of that kind. A token of an ' +
        'inactive account has no effect until the account is activated.',
      params: idsInPath('id'),
      body: { kind: 'json', schema: NewToken },
      answer: { description: 'The token, shown this once', schema: CreatedToken },
      problems: ['not_a_service_account', 'beyond_own_permissions'],
      async change(trx, { caller, params, body }) {
        const account = await requireServiceAccount(trx, params.id);
        const { scopes } = body;
        await requireOwnToken(trx, caller.principal, { accountId: account.userId, scopes });
        return insertToken(trx, caller.actor, account, body);
      },
      key: ({ tokenId }) => tokenId,
    }),
    readers.list(PATH, {
      ...operation('listAccountTokens', "List a user's tokens, newest first"),
      params: idsInPath('id'),
      answer: { description: 'Tokens without their secrets', schema: Token },
      async rows({ params, query }) {
        const { userId } = ownerOf(await USERS.require(database.read, params.id));
        return listTokens(database.read, userId, query);
      },
      show: toToken,
    }),
    sessions.delete(`${PATH}/{tokenId}`, {
      ...operation('revokeAccountToken', "Revoke one of a user's tokens"),
      params: idsInPath('id', 'tokenId'),
      answer: { description: 'Revoked; it stays listed' },
      async change(trx, { caller, params }) {
        const owner = ownerOf(await USERS.require(trx, params.id));
        await revokeToken(trx, caller.actor, owner, params.tokenId);
      },
    }),
  ];
}
