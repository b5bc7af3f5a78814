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

function mayOverride(principal: UserPrincipal, on: GrantKind): boolean {
  return principal.permissions.has(GRANT_RULES[on].override);
}

/** A token uses its owner's grants only where its scopes say so. */
function mayUseGrants(principal: UserPrincipal, on: GrantKind): boolean {
  return principal.scopes === null || principal.scopes.has(GRANT_RULES[on].scope);
}

/** What a list may show: everything, or the ids of a subquery (none where the token may not use grants). */
export function readableIds(db: Db, principal: UserPrincipal, on: GrantKind) {
  if (mayOverride(principal, on)) return 'all';
  const granted = grantedIds(db, principal, on);
  return mayUseGrants(principal, on) ? granted : granted.where('resource_id', 'is', null);
}

/** A subquery of the ids that the user or one of the groups holds any grant on; every grant includes Read. */
function grantedIds(db: Db, principal: UserPrincipal, on: GrantKind) {
  return db
    .selectFrom('grants')
    .select('resource_id')
    .where('resource_kind', '=', on)
    .where((where) =>
      where.or([
        where.and([where('principal_type', '=', 'User'), where('principal_id', '=', principal.userId)]),
        where.and([
          where('principal_type', '=', 'Group'),
          where('principal_id', 'in', groupsOf(db, principal)),
        ]),
      ]),
    );
}

function groupsOf(db: Db, { userId }: UserPrincipal) {
  return db.selectFrom('group_members').select('group_id').where('user_id', '=', userId);
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
