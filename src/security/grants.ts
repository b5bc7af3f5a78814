/** Which level a user holds on a configuration, a composite or a parameter set. */

import type { SelectQueryBuilder } from 'kysely';
import type { Db } from '../db/open.ts';
import type { GrantsTable } from '../db/schema.ts';
import {
  GRANT_RULES,
  type GrantKind,
  type GrantLevel,
  highestLevel,
  lowerLevel,
} from '../domain/permissions.ts';
import type { UserPrincipal } from './principal.ts';

/** What decides, beside the grants themselves, which level somebody has. */
export type Rights = Pick<UserPrincipal, 'permissions' | 'scopes'>;

/** Granted levels by the ids of the resources: the highest where several grants meet. */
export type GrantedLevels = Readonly<Record<GrantKind, ReadonlyMap<string, GrantLevel>>>;

/**
 * The highest of own and groups' grants, Manage with the override permission, null for none; of a token what its scopes
 * allow of that. Parameters without a grant of their own fall back to the configuration's level (api.md section 2).
 */
export async function heldLevel(
  db: Db,
  principal: UserPrincipal,
  on: GrantKind,
  resourceId: string,
): Promise<GrantLevel | null> {
  if (mayOverride(principal, on)) return 'Manage';
  return levelWith(await grantedToUser(db, principal.userId, [resourceId]), principal, on, resourceId);
}

/** The same, from grants that have been read already. */
export function levelWith(
  granted: GrantedLevels,
  rights: Rights,
  on: GrantKind,
  resourceId: string,
): GrantLevel | null {
  if (mayOverride(rights, on)) return 'Manage';
  const own = granted[on].get(resourceId) ?? null;
  if (own !== null && mayUseGrants(rights, on)) return own;
  if (on !== 'parameters') return null;
  const fallback = levelWith(granted, rights, 'configuration', resourceId);
  // A grant that a token may not use still bounds its owner, so it bounds the token (rights.md section 3).
  return own === null ? fallback : lowerLevel(own, fallback);
}

function mayOverride(rights: Rights, on: GrantKind): boolean {
  return rights.permissions.has(GRANT_RULES[on].override);
}

/** A token uses its owner's grants only where its scopes say so. */
function mayUseGrants(rights: Rights, on: GrantKind): boolean {
  return rights.scopes === null || rights.scopes.has(GRANT_RULES[on].scope);
}

/**
 * What a list may show: everything, or the ids of a subquery (none where the token may not use grants). Not of
 * parameters, which have no list, and of which more can be read than there are grants on.
 */
export function readableIds(db: Db, principal: UserPrincipal, on: Exclude<GrantKind, 'parameters'>) {
  if (mayOverride(principal, on)) return 'all';
  // Every grant includes Read.
  const granted = grantsOfUser(db, principal.userId).select('resource_id').where('resource_kind', '=', on);
  return mayUseGrants(principal, on) ? granted : granted.where('resource_id', 'is', null);
}

/**
 * What the user is granted, own and by groups.
 * @param resourceIds the resources asked about; default: all
 */
export function grantedToUser(
  db: Db,
  userId: string,
  resourceIds?: readonly string[],
): Promise<GrantedLevels> {
  const grants = grantsOfUser(db, userId);
  if (resourceIds === undefined) return levelsOf(grants);
  return levelsOf(grants.where('resource_kind', 'in', KINDS).where('resource_id', 'in', resourceIds));
}

/** What each member of the group is granted by it. */
export function grantedToGroup(db: Db, groupId: string): Promise<GrantedLevels> {
  return levelsOf(
    db.selectFrom('grants').where('principal_type', '=', 'Group').where('principal_id', '=', groupId),
  );
}

const KINDS = Object.keys(GRANT_RULES) as GrantKind[];

function grantsOfUser(db: Db, userId: string) {
  const groups = db.selectFrom('group_members').select('group_id').where('user_id', '=', userId);
  return db
    .selectFrom('grants')
    .where((where) =>
      where.or([
        where.and([where('principal_type', '=', 'User'), where('principal_id', '=', userId)]),
        where.and([where('principal_type', '=', 'Group'), where('principal_id', 'in', groups)]),
      ]),
    );
}

async function levelsOf(
  grants: SelectQueryBuilder<{ grants: GrantsTable }, 'grants', object>,
): Promise<GrantedLevels> {
  const rows = await grants.select(['resource_kind', 'resource_id', 'level']).execute();
  const levels = {
    configuration: new Map<string, GrantLevel>(),
    composite: new Map<string, GrantLevel>(),
    parameters: new Map<string, GrantLevel>(),
  };
  for (const { resource_kind, resource_id, level } of rows) {
    const ofKind = levels[resource_kind];
    const known = ofKind.get(resource_id);
    ofKind.set(resource_id, (known && highestLevel([known, level])) ?? level);
  }
  return levels;
}

/** Gives the creator Manage. A user who is gone, as when a repository is adopted later, gets nothing. */
export async function grantToCreator(
  db: Db,
  { on, resourceId }: { on: GrantKind; resourceId: string },
  userId: string,
  now: number,
): Promise<void> {
  const user = await db.selectFrom('users').select('id').where('id', '=', userId).executeTakeFirst();
  if (!user) return;
  const holder = { principal_type: 'User', principal_id: userId } as const;
  const change = { level: 'Manage', granted_at: now, granted_by: userId } as const;
  await db
    .insertInto('grants')
    .values({ resource_kind: on, resource_id: resourceId, ...holder, ...change })
    .onConflict((conflict) =>
      conflict
        .columns(['resource_kind', 'resource_id', 'principal_type', 'principal_id'])
        .doUpdateSet(change),
    )
    .execute();
}
