/** Which level a user holds on a configuration, a composite or a parameter set. */

import type { Db } from '../db/open.ts';
import { GRANT_RULES, type GrantKind, type GrantLevel, highestLevel } from '../domain/permissions.ts';
import type { UserPrincipal } from './principal.ts';

/**
 * The highest of own and groups' grants, Manage with the override permission, null for none. Parameters
 * without a grant of their own fall back to the configuration's level (api.md section 2).
 */
export async function heldLevel(
  db: Db,
  principal: UserPrincipal,
  on: GrantKind,
  resourceId: string,
): Promise<GrantLevel | null> {
  if (mayOverride(principal, on)) return 'Manage';
  const own = mayUseGrants(principal, on) ? await grantedLevel(db, principal, on, resourceId) : null;
  if (own !== null || on !== 'parameters') return own;
  return heldLevel(db, principal, 'configuration', resourceId);
}

export function mayOverride(principal: UserPrincipal, on: GrantKind): boolean {
  return principal.permissions.has(GRANT_RULES[on].override);
}

/** A token uses its owner's grants only where its scopes say so. */
export function mayUseGrants(principal: UserPrincipal, on: GrantKind): boolean {
  return principal.scopes === null || principal.scopes.has(GRANT_RULES[on].scope);
}

/** A subquery of the ids that the user or one of the groups holds any grant on; every grant includes Read. */
export function grantedIds(db: Db, principal: UserPrincipal, on: GrantKind) {
  return db
    .selectFrom('grants')
    .select('resource_id')
    .where('resource_kind', '=', on)
    .where((where) =>
      where.or([
        where.and([where('principal_type', '=', 'User'), where('principal_id', '=', principal.userId)]),
        where.and([
          where('principal_type', '=', 'Group'),
          where('principal_id', 'in', [...principal.groupIds]),
        ]),
      ]),
    );
}

async function grantedLevel(
  db: Db,
  principal: UserPrincipal,
  on: GrantKind,
  resourceId: string,
): Promise<GrantLevel | null> {
  const rows = await grantedIds(db, principal, on)
    .select('level')
    .where('resource_id', '=', resourceId)
    .execute();
  return highestLevel(rows.map((row) => row.level));
}
