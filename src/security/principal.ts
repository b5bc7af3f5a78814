/** Who makes a request: a user (a person or script) or a node (a machine). */

import type { KnownNode } from '../db/node-lookup.ts';
import type { Permission } from '../domain/permissions.ts';
import { HawserError } from '../lib/errors.ts';

export interface UserPrincipal {
  kind: 'user';
  userId: string;
  username: string;
  email: string;
  accountType: 'User' | 'ServiceAccount';
  authMethod: 'Session' | 'Token';
  /** Identifies the credential: the SHA-256 of the session's secret, or the id of the token. */
  credentialId: string;
  /** The scopes of a token; null for a session, which has no limits beyond those of its user. */
  scopes: ReadonlySet<string> | null;
  /** When the session or token expires, in epoch milliseconds; null for never. */
  credentialEndsAt: number | null;
  /** The effective permissions: those of the roles of the user and the user's groups, limited by the token's scopes. */
  permissions: ReadonlySet<Permission>;
  /** The same without the limits of the token. They only explain a refusal, and allow nothing. */
  ownPermissions: ReadonlySet<Permission>;
  requirePasswordChange: boolean;
  /** The identity provider by which the session was begun; `Local` for a password, and for a token. */
  authProvider: string;
  /** The secret of a session that this request has prolonged, so that the cookie is sent again; else null. */
  renewedSession: string | null;
}

export interface NodePrincipal {
  kind: 'node';
  node: KnownNode;
}

export type Principal = UserPrincipal | NodePrincipal;

/**
 * Checks that the caller holds one of the permissions; none means that none is needed.
 * @throws HawserError forbidden, in which `missing` names the permission and says whether the user lacks it or only the
 *   token. Of several it is the first that the user holds, else the first.
 */
export function requirePermission(
  { permissions, ownPermissions }: UserPrincipal,
  ...needed: readonly Permission[]
): void {
  const [first] = needed;
  if (first === undefined || needed.some((permission) => permissions.has(permission))) return;
  const permission = needed.find((name) => ownPermissions.has(name)) ?? first;
  const by = ownPermissions.has(permission) ? 'Token' : 'User';
  throw new HawserError('forbidden', 'forbidden', `This needs the permission ${permission}, ${LACKS[by]}`, {
    data: { missing: { permission, by } },
  });
}

const LACKS = {
  User: 'which the user does not hold',
  Token: 'which is not among the scopes of this token',
};
