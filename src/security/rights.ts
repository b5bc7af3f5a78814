/** What a user holds: permissions, and grant levels on configurations, composites and parameters. */

import type { SelectQueryBuilder } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Visible } from '../db/activity.ts';
import type { Db } from '../db/database.ts';
import type { GrantsTable } from '../db/schema.ts';
import type { ScopeGrantsTable } from '../db/scope-grant-tables.ts';
import { keyOfScope, restrictedScopes, type ScopeId, toScopeId } from '../db/scope-grants.ts';
import {
  GRANT_RULES,
  type GrantKind,
  type GrantLevel,
  highestLevel,
  lowerLevel,
  type Permission,
} from '../domain/permissions.ts';
import type { UserPrincipal } from './principal.ts';

const MAX_USERS = 10_000;

/**
 * Caches the permissions of users until the access generation rises. The generation is read by the statement that finds
 * the session or token, so a permission that was revoked before that statement is not used.
 */
export class PermissionCache {
  private readonly db: Db;
  private readonly users = new LRUCache<string, { generation: number; permissions: ReadonlySet<Permission> }>(
    { max: MAX_USERS },
  );

  constructor(db: Db) {
    this.db = db;
  }

  async of(userId: string, generation: number): Promise<ReadonlySet<Permission>> {
    const known = this.users.get(userId);
    if (known?.generation === generation) return known.permissions;
    const permissions = await heldPermissions(this.db, userId);
    // These are at least as new as the generation. If it has risen meanwhile, the next request reads them again.
    this.users.set(userId, { generation, permissions });
    return permissions;
  }
}

/** The permissions of the user's own roles and of the roles of the user's groups. */
export async function heldPermissions(db: Db, userId: string): Promise<ReadonlySet<Permission>> {
  const groupRoles = db
    .selectFrom('group_roles')
    .innerJoin('group_memberships', 'group_memberships.group_id', 'group_roles.group_id')
    .select('group_roles.role_id')
    .where('group_memberships.user_id', '=', userId);
  const rows = await db
    .selectFrom('role_permissions')
    .select('permission')
    .where((where) =>
      where.or([
        where('role_id', 'in', db.selectFrom('user_roles').select('role_id').where('user_id', '=', userId)),
        where('role_id', 'in', groupRoles),
      ]),
    )
    .orderBy('permission')
    .execute();
  return new Set(rows.map((row) => row.permission as Permission));
}

/** The permissions that the group gives to each of its members. */
export async function permissionsOfGroup(db: Db, groupId: string): Promise<ReadonlySet<Permission>> {
  const rows = await db
    .selectFrom('role_permissions')
    .innerJoin('group_roles', 'group_roles.role_id', 'role_permissions.role_id')
    .select('role_permissions.permission')
    .where('group_roles.group_id', '=', groupId)
    .orderBy('permission')
    .execute();
  return new Set(rows.map((row) => row.permission as Permission));
}

/** What decides, together with the grants, which level a user has. */
export type Rights = Pick<UserPrincipal, 'permissions' | 'scopes'>;

/**
 * The granted levels by the ids of the resources, and those on the parameters of scopes by their keys (`keyOfScope`). Of
 * several grants on one thing the highest counts.
 */
export type GrantedLevels = Readonly<Record<GrantKind | 'scopes', ReadonlyMap<string, GrantLevel>>>;

/**
 * The highest level of the user's own grants and those of the user's groups, and Manage with the override permission.
 * The scopes of a token limit it. Parameters without a grant have the configuration's level.
 * @returns null when the user holds no level
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

/** The same as `heldLevel`, from grants that were read already. */
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
  // A grant that the token may not use still limits its owner, and so it limits the token.
  return own === null ? fallback : lowerLevel(own, fallback);
}

/**
 * The level on the parameters of one scope: the highest of that on all of them, that on all values of the type, and that on
 * the value. A scope that is restricted opens to a grant on it alone, and to the override.
 */
export function levelOnScope(
  granted: GrantedLevels,
  rights: Rights,
  scope: ScopeId,
  isRestricted: boolean,
): GrantLevel | null {
  if (mayOverride(rights, 'parameters')) return 'Manage';
  const levels = mayUseGrants(rights, 'parameters') ? granted.scopes : NO_LEVELS;
  const own = levels.get(keyOfScope(scope)) ?? null;
  if (isRestricted) return own;
  const ofType = levels.get(keyOfScope({ ...scope, scopeValueId: null })) ?? null;
  const general = levelWith(granted, rights, 'parameters', scope.configurationId);
  return highestLevel([own, ofType, general].flatMap((level) => level ?? []));
}

const NO_LEVELS: ReadonlyMap<string, GrantLevel> = new Map();

/** The highest level on any part of the parameters: on all of them, or on those of some scope. */
export function levelOnAnyScope(
  granted: GrantedLevels,
  rights: Rights,
  configurationId: string,
): GrantLevel | null {
  const general = levelWith(granted, rights, 'parameters', configurationId);
  const levels = mayUseGrants(rights, 'parameters') ? granted.scopes : NO_LEVELS;
  const own = [...levels].filter(([key]) => key.startsWith(`${configurationId}/`)).map(([, level]) => level);
  return highestLevel(general === null ? own : [general, ...own]);
}

/** The levels that the user holds on these resources, of any kind; of parameters the highest on any part of them. */
export async function heldLevels(
  db: Db,
  principal: UserPrincipal,
  ids: readonly string[],
): Promise<(on: GrantKind, resourceId: string) => GrantLevel | null> {
  const granted = await grantedToUser(db, principal.userId, ids);
  return (on, resourceId) =>
    on === 'parameters'
      ? levelOnAnyScope(granted, principal, resourceId)
      : levelWith(granted, principal, on, resourceId);
}

function mayOverride(rights: Rights, on: GrantKind): boolean {
  return rights.permissions.has(GRANT_RULES[on].override);
}

/** A token uses the grants of its owner only if its scopes allow that. */
function mayUseGrants(rights: Rights, on: GrantKind): boolean {
  return rights.scopes === null || rights.scopes.has(GRANT_RULES[on].scope);
}

/**
 * What a list may show: everything, or the ids that a subquery selects (none if the token may not use grants). It does
 * not apply to parameters: they have no list, and they can be readable without a grant on them.
 */
export function readableIds(db: Db, principal: UserPrincipal, on: Exclude<GrantKind, 'parameters'>) {
  if (mayOverride(principal, on)) return 'all';
  // Every grant includes Read.
  const granted = grantsOfUser(db, principal.userId).select('resource_id').where('resource_kind', '=', on);
  return mayUseGrants(principal, on) ? granted : granted.where('resource_id', 'is', null);
}

/** The names of the composites that may be named to a caller in answers about something else. */
export async function readableComposites(db: Db, principal: UserPrincipal): Promise<ReadonlySet<string>> {
  const ids = readableIds(db, principal, 'composite');
  const all = db.selectFrom('composites').select('name');
  const rows = await (ids === 'all' ? all : all.where('id', 'in', ids)).execute();
  return new Set(rows.map(({ name }) => name));
}

/** All resources of a kind, or those with these ids. Parameters have the id of their configuration. */
export type Readable = Readonly<Record<GrantKind, 'all' | readonly string[]>> & {
  /** What parameters of scopes have beside that: all of them, or the keys of those granted and of those restricted. */
  readonly scopes: 'all' | { readonly granted: readonly string[]; readonly restricted: readonly string[] };
};

/** What of each kind the user may read now. Whoever may read all of a kind may read what is written of deleted ones too. */
export async function readableResources(db: Db, principal: UserPrincipal): Promise<Readable> {
  const granted = await grantedToUser(db, principal.userId);
  const readable = (on: GrantKind, ids: Iterable<string>) =>
    [...ids].filter((id) => levelWith(granted, principal, on, id) !== null);
  const { configuration, composite, parameters } = granted;
  const canReadAll = (on: GrantKind) => mayOverride(principal, on);
  // A grant on parameters bounds a token, but every grant includes Read.
  const hasAllParameters = canReadAll('parameters') || canReadAll('configuration');
  const scopes = canReadAll('parameters')
    ? 'all'
    : {
        granted: mayUseGrants(principal, 'parameters') ? [...granted.scopes.keys()] : [],
        restricted: (await restrictedScopes(db)).map(keyOfScope),
      };
  return {
    scopes,
    configuration: canReadAll('configuration') ? 'all' : readable('configuration', configuration.keys()),
    composite: canReadAll('composite') ? 'all' : readable('composite', composite.keys()),
    parameters: hasAllParameters
      ? 'all'
      : readable('parameters', new Set([...configuration.keys(), ...parameters.keys()])),
  };
}

/** The entries of the audit trail about what the user may read now. */
export async function visibleTo(db: Db, principal: UserPrincipal): Promise<Visible> {
  const { configuration, composite, parameters } = await readableResources(db, principal);
  return {
    Node: principal.permissions.has('nodes.read') ? 'all' : [],
    Configuration: configuration,
    Parameters: parameters,
    CompositeConfiguration: composite,
  };
}

/** The configurations and composites of which something is made, by ids. Null stands for one that is not known any more. */
export interface Content {
  configurations: readonly (string | null)[];
  composites: readonly (string | null)[];
  /** The keys of the scopes whose parameter files are merged. What was kept by an earlier release does not say. */
  scopes?: readonly string[];
}

/** The key of a scope of which nothing is known but the configuration. */
export const keyOfUnknownScope = (configurationId: string) => `${configurationId}/?`;

/**
 * Tells of content whether all of it may be read: each composite, each configuration, its parameters, and those of each scope
 * that are merged. It is the one gate for what is shown as it is now and for what was kept.
 * @param readable what the caller may read, with this token and now
 */
export function readerOf(readable: Readable): (content: Content) => boolean {
  const isReadable = scopeReaderOf(readable);
  const gateOf = (on: GrantKind) => {
    const ids = readable[on];
    if (ids === 'all') return () => true;
    const known = new Set<string | null>(ids);
    return (id: string | null) => id !== null && known.has(id);
  };
  const [configuration, parameters, composite] = [
    gateOf('configuration'),
    gateOf('parameters'),
    gateOf('composite'),
  ];
  return ({ configurations, composites, scopes }) =>
    composites.every(composite) &&
    configurations.every((id) => configuration(id) && parameters(id)) &&
    (scopes ?? configurations.map((id) => keyOfUnknownScope(id ?? ''))).every(isReadable);
}

/** Tells of the key of a scope whether its parameters may be read, as `levelOnScope`. */
export function scopeReaderOf({ scopes, parameters }: Readable): (key: string) => boolean {
  if (scopes === 'all') return () => true;
  const [granted, restricted] = [new Set(scopes.granted), new Set(scopes.restricted)];
  const general = parameters === 'all' ? null : new Set(parameters);
  return (key) => {
    const [configurationId = '', typeId] = key.split('/');
    if (restricted.has(key)) return granted.has(key);
    const isGeneral = general?.has(configurationId) ?? true;
    // It may be any of them.
    if (typeId === '?')
      return (
        isGeneral &&
        scopes.restricted.every((one) => !one.startsWith(`${configurationId}/`) || granted.has(one))
      );
    return isGeneral || granted.has(`${configurationId}/${typeId}`) || granted.has(key);
  };
}

/** Whether the caller may read all of it, with this token and now (`readerOf`). */
export async function mayReadAllOf(db: Db, principal: UserPrincipal, content: Content): Promise<boolean> {
  return readerOf(await readableResources(db, principal))(content);
}

/** The content that these configurations and composites are, by name, without any scope. */
export async function contentNamed(
  db: Db,
  {
    configurations = [],
    composites = [],
  }: { configurations?: readonly string[]; composites?: readonly string[] },
): Promise<Required<Content>> {
  return {
    configurations: await idsOf(db, 'configurations', configurations),
    composites: await idsOf(db, 'composites', composites),
    scopes: [],
  };
}

/** The ids in the order of the names; null for a name that nothing has. */
async function idsOf(
  db: Db,
  table: 'configurations' | 'composites',
  names: readonly string[],
): Promise<(string | null)[]> {
  if (names.length === 0) return [];
  const rows = await db.selectFrom(table).select(['id', 'name']).where('name', 'in', names).execute();
  const ids = new Map(rows.map(({ id, name }) => [name, id]));
  return names.map((name) => ids.get(name) ?? null);
}

/**
 * The user's own grants and those of the user's groups.
 * @param resourceIds only the grants on these resources; default: all
 */
export function grantedToUser(
  db: Db,
  userId: string,
  resourceIds?: readonly string[],
): Promise<GrantedLevels> {
  const [grants, onScopes] = [grantsOfUser(db, userId), scopeGrantsOfUser(db, userId)];
  if (resourceIds === undefined) return levelsOf(grants, onScopes);
  return levelsOf(
    grants.where('resource_kind', 'in', KINDS).where('resource_id', 'in', resourceIds),
    onScopes.where('configuration_id', 'in', resourceIds),
  );
}

/** What the group grants to each of its members. */
export function grantedToGroup(db: Db, groupId: string): Promise<GrantedLevels> {
  return levelsOf(
    db.selectFrom('grants').where('principal_type', '=', 'Group').where('principal_id', '=', groupId),
    db.selectFrom('scope_grants').where('principal_type', '=', 'Group').where('principal_id', '=', groupId),
  );
}

const KINDS = Object.keys(GRANT_RULES) as GrantKind[];

function grantsOfUser(db: Db, userId: string) {
  const groups = db.selectFrom('group_memberships').select('group_id').where('user_id', '=', userId);
  return db
    .selectFrom('grants')
    .where((where) =>
      where.or([
        where.and([where('principal_type', '=', 'User'), where('principal_id', '=', userId)]),
        where.and([where('principal_type', '=', 'Group'), where('principal_id', 'in', groups)]),
      ]),
    );
}

/** Grants on scopes, as `grantsOfUser` gives the others. It stands apart, because the types of Kysely take one table. */
function scopeGrantsOfUser(db: Db, userId: string) {
  const groups = db.selectFrom('group_memberships').select('group_id').where('user_id', '=', userId);
  return db
    .selectFrom('scope_grants')
    .where((where) =>
      where.or([
        where.and([where('principal_type', '=', 'User'), where('principal_id', '=', userId)]),
        where.and([where('principal_type', '=', 'Group'), where('principal_id', 'in', groups)]),
      ]),
    );
}

async function levelsOf(
  grants: SelectQueryBuilder<{ grants: GrantsTable }, 'grants', object>,
  onScopes: SelectQueryBuilder<{ scope_grants: ScopeGrantsTable }, 'scope_grants', object>,
): Promise<GrantedLevels> {
  const rows = await grants.select(['resource_kind', 'resource_id', 'level']).execute();
  const ofScopes = await onScopes
    .select(['configuration_id', 'scope_type_id', 'scope_value_id', 'level'])
    .execute();
  const levels = {
    scopes: new Map<string, GrantLevel>(),
    configuration: new Map<string, GrantLevel>(),
    composite: new Map<string, GrantLevel>(),
    parameters: new Map<string, GrantLevel>(),
  };
  const add = (to: Map<string, GrantLevel>, key: string, level: GrantLevel) => {
    const known = to.get(key);
    to.set(key, (known && highestLevel([known, level])) ?? level);
  };
  for (const { resource_kind, resource_id, level } of rows) add(levels[resource_kind], resource_id, level);
  for (const { level, ...row } of ofScopes) add(levels.scopes, keyOfScope(toScopeId(row)), level);
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
