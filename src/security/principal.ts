/** Who makes a request: a user (a person or script) or a node (a machine). */

import type { KnownNode } from '../db/node-lookup.ts';
import type { Permission } from '../domain/permissions.ts';
import { forbidden } from '../lib/errors.ts';

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
  requirePasswordChange: boolean;
  /** The secret of a session that this request has prolonged, so that the cookie is sent again; else null. */
  renewedSession: string | null;
}

export interface NodePrincipal {
  kind: 'node';
  node: KnownNode;
}

export type Principal = UserPrincipal | NodePrincipal;

/** @throws HawserError forbidden when the permission is not among the effective ones */
export function requirePermission(principal: UserPrincipal, permission: Permission): void {
  const { permissions, scopes } = principal;
  if (permissions.has(permission)) return;
  const reason =
    scopes === null || scopes.has(permission) ? '' : ', which is not among the scopes of this token';
  throw forbidden(`This needs the permission ${permission}${reason}`);
}
