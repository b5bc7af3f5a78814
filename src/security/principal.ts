/** Who makes a request: a person or script (user), or a machine (node). */

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
  /** SHA-256 of the session's secret, or the token's id: which of the user's credentials this is. */
  credentialId: string;
  /** Null for a session: it may use all that its user holds. */
  scopes: ReadonlySet<string> | null;
  /** Epoch milliseconds at which the session or token ends by itself; null for never. */
  credentialEndsAt: number | null;
  /** Effective: held by the user's and groups' roles and, for a token, named by its scopes. */
  permissions: ReadonlySet<Permission>;
  requirePasswordChange: boolean;
  /** Set when this request moved the session's end, so that the cookie is sent again. */
  renewedSession: string | null;
}

export interface NodePrincipal {
  kind: 'node';
  node: KnownNode;
}

export type Principal = UserPrincipal | NodePrincipal;

/** @throws HawserError forbidden when the permission is not among the effective ones */
export function requirePermission(principal: UserPrincipal, permission: Permission): void {
  if (!principal.permissions.has(permission)) throw forbidden(`This needs the permission ${permission}`);
}
