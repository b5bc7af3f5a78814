/** Reads and writes of grants on the parameters of a scope, and of the marks of scopes that are restricted. */

import { type Selectable, sql } from 'kysely';
import { NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import { type GrantHolder, grantsOn, type NamedGrantRow } from './grants.ts';
import type { RestrictedScopesTable, ScopeGrantsTable, ScopeOfParameters } from './scope-grant-tables.ts';
import { listScopeMoves } from './scope-moves.ts';

/** A scope of a configuration's parameters, by ids. */
export interface ScopeId {
  configurationId: string;
  scopeTypeId: string;
  /** The id of a value, or of a node for the type Node; null for all of the type, and for Default. */
  scopeValueId: string | null;
}

/** One text for each scope. That of a type is the beginning of those of its values. */
export function keyOfScope({ configurationId, scopeTypeId, scopeValueId }: ScopeId): string {
  const type = `${configurationId}/${scopeTypeId}`;
  return scopeValueId === null ? type : `${type}/${scopeValueId}`;
}

export const toScopeId = (row: ScopeOfParameters): ScopeId => ({
  configurationId: row.configuration_id,
  scopeTypeId: row.scope_type_id,
  scopeValueId: row.scope_value_id || null,
});

const columnsOf = ({ configurationId, scopeTypeId, scopeValueId }: ScopeId): ScopeOfParameters => ({
  configuration_id: configurationId,
  scope_type_id: scopeTypeId,
  scope_value_id: scopeValueId ?? '',
});

const keyOfGrant = (scope: ScopeId, { principalType, principalId }: GrantHolder) => ({
  ...columnsOf(scope),
  principal_type: principalType,
  principal_id: principalId,
});

export type ScopeGrantRow = Selectable<ScopeGrantsTable>;

/** The level that is granted to this holder itself, or undefined where there is no such grant. */
export async function findScopeGrant(db: Db, scope: ScopeId, holder: GrantHolder) {
  const grant = db.selectFrom('scope_grants').where((of) => of.and(keyOfGrant(scope, holder)));
  return (await grant.select('level').executeTakeFirst())?.level;
}

/** Grants a level. It replaces a level that the holder has already. */
export async function saveScopeGrant(
  db: Db,
  scope: ScopeId,
  holder: GrantHolder,
  { level, grantedBy, now }: { level: ScopeGrantRow['level']; grantedBy: string | null; now: number },
): Promise<void> {
  const key = keyOfGrant(scope, holder);
  const change = { level, granted_at: now, granted_by: grantedBy };
  await db
    .insertInto('scope_grants')
    .values({ ...key, ...change })
    .onConflict((conflict) => conflict.columns(Object.keys(key) as (keyof typeof key)[]).doUpdateSet(change))
    .execute();
}

export async function deleteScopeGrant(db: Db, scope: ScopeId, holder: GrantHolder): Promise<void> {
  await db
    .deleteFrom('scope_grants')
    .where((of) => of.and(keyOfGrant(scope, holder)))
    .execute();
}

export type RestrictedScope = ScopeId & Pick<RestrictedScopesTable, 'fqdn'>;

/** The scopes of these configurations that are restricted, or those of all. */
export async function restrictedScopes(
  db: Db,
  configurationIds?: readonly string[],
): Promise<RestrictedScope[]> {
  const all = db.selectFrom('restricted_scopes').selectAll();
  const rows = await (configurationIds === undefined
    ? all
    : all.where('configuration_id', 'in', configurationIds)
  ).execute();
  return rows.map((row) => ({ ...toScopeId(row), fqdn: row.fqdn }));
}

export async function isRestricted(db: Db, scope: ScopeId): Promise<boolean> {
  const mark = db.selectFrom('restricted_scopes').where((of) => of.and(columnsOf(scope)));
  return (await mark.select('scope_type_id').executeTakeFirst()) !== undefined;
}

/** Sets the mark, or takes it away. */
export async function markScope(db: Db, scope: ScopeId, isMarked: boolean): Promise<void> {
  const key = columnsOf(scope);
  if (!isMarked) {
    await db
      .deleteFrom('restricted_scopes')
      .where((of) => of.and(key))
      .execute();
    return;
  }
  const isNode = scope.scopeTypeId === NODE_SCOPE_TYPE_ID;
  const node = isNode
    ? await db.selectFrom('nodes').select('fqdn').where('id', '=', key.scope_value_id).executeTakeFirst()
    : undefined;
  await db
    .insertInto('restricted_scopes')
    .values({ ...key, fqdn: node?.fqdn ?? null })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Whether a value of the type has this id, or a node where the type is Node. */
export async function scopeExists(db: Db, { scopeTypeId, scopeValueId }: ScopeId): Promise<boolean> {
  if (scopeValueId === null) return true;
  const found =
    scopeTypeId === NODE_SCOPE_TYPE_ID
      ? db.selectFrom('nodes').select('id').where('id', '=', scopeValueId)
      : db
          .selectFrom('scope_values')
          .select('id')
          .where('id', '=', scopeValueId)
          .where('scope_type_id', '=', scopeTypeId);
  return (await found.executeTakeFirst()) !== undefined;
}

/**
 * The names under which files of some scopes may lie now: the one that each has, and while it is being renamed the other one
 * too. Nothing else gets one of these names meanwhile (`requireUnmoved`).
 */
export class NamesOfScopes {
  private readonly types: ReadonlyMap<string, readonly string[]>;
  private readonly values: ReadonlyMap<string, readonly string[]>;

  private constructor(
    types: ReadonlyMap<string, readonly string[]>,
    values: ReadonlyMap<string, readonly string[]>,
  ) {
    this.types = types;
    this.values = values;
  }

  static async of(db: Db, scopes: readonly RestrictedScope[]): Promise<NamesOfScopes> {
    if (scopes.length === 0) return new NamesOfScopes(new Map(), new Map());
    const valueIds = [...new Set(scopes.flatMap(({ scopeValueId }) => scopeValueId ?? []))];
    const [types, values] = [new Map<string, string[]>(), new Map<string, string[]>()];
    const add = (map: Map<string, string[]>, id: string, names: readonly (string | null)[]) =>
      map.set(id, [...(map.get(id) ?? []), ...names.flatMap((name) => name ?? [])]);
    for (const { id, name } of await db.selectFrom('scope_types').select(['id', 'name']).execute())
      add(types, id, [name]);
    if (valueIds.length > 0) {
      const ofIds = engineOf(db).isOneOf('id', valueIds);
      for (const { id, value } of await db
        .selectFrom('scope_values')
        .select(['id', 'value'])
        .where(ofIds)
        .execute())
        add(values, id, [value]);
      for (const { id, fqdn } of await db.selectFrom('nodes').select(['id', 'fqdn']).where(ofIds).execute())
        add(values, id, [fqdn]);
    }
    for (const { scopeValueId, fqdn } of scopes) if (scopeValueId !== null) add(values, scopeValueId, [fqdn]);
    for (const { scope_type_id, scope_value_id, from_name, to_name, done_at } of await listScopeMoves(db)) {
      if (done_at !== null) continue;
      if (scope_value_id === null) add(types, scope_type_id, [from_name, to_name]);
      else add(values, scope_value_id, [from_name, to_name]);
    }
    return new NamesOfScopes(types, values);
  }

  /** Whether files under these names may be those of the scope. */
  isOf({ scopeTypeId, scopeValueId }: ScopeId, { scopeType, value }: ScopeName): boolean {
    if (!this.isOfType(scopeTypeId, scopeType)) return false;
    if (scopeValueId === null) return value === null;
    return value !== null && (this.values.get(scopeValueId)?.includes(value) ?? false);
  }

  isOfType(scopeTypeId: string, scopeType: string): boolean {
    return this.types.get(scopeTypeId)?.includes(scopeType) ?? false;
  }

  /** All names of the scope, as far as they are known. */
  namesOf({ scopeTypeId, scopeValueId }: ScopeId): ScopeName[] {
    const types = [...new Set(this.types.get(scopeTypeId))];
    const values = scopeValueId === null ? [null] : [...new Set(this.values.get(scopeValueId))];
    return types.flatMap((scopeType) => values.map((value) => ({ scopeType, value })));
  }
}

/** A scope by its names. The value is null for Default. */
export interface ScopeName {
  scopeType: string;
  value: string | null;
}

/** A grant on parameters, of all scopes or of one. */
export type ParameterGrantRow = NamedGrantRow & {
  /** Null for all parameters. */
  scope: ScopeId | null;
  /** Whether the scope is restricted. */
  isRestricted: boolean;
  scopeTypeName: string | null;
  scopeValue: string | null;
};

/** The grants on a configuration's parameters: those on all of them, then scope by scope, by the names of their holders. */
export async function listParameterGrants(db: Db, configurationId: string): Promise<ParameterGrantRow[]> {
  const general = await grantsOn(db, { on: 'parameters', resourceId: configurationId }).execute();
  const onScopes = await db
    .selectFrom('scope_grants')
    .leftJoin('users', (join) =>
      join.onRef('users.id', '=', 'scope_grants.principal_id').on('scope_grants.principal_type', '=', 'User'),
    )
    .leftJoin('groups', (join) =>
      join
        .onRef('groups.id', '=', 'scope_grants.principal_id')
        .on('scope_grants.principal_type', '=', 'Group'),
    )
    .leftJoin('scope_types', 'scope_types.id', 'scope_grants.scope_type_id')
    .leftJoin('scope_values', 'scope_values.id', 'scope_grants.scope_value_id')
    .leftJoin('nodes', 'nodes.id', 'scope_grants.scope_value_id')
    .where('scope_grants.configuration_id', '=', configurationId)
    .select([
      'scope_grants.configuration_id',
      'scope_grants.scope_type_id',
      'scope_grants.scope_value_id',
      'scope_grants.principal_type',
      'scope_grants.principal_id',
      'scope_grants.level',
      'scope_grants.granted_at',
      'scope_grants.granted_by',
      'scope_types.name as scopeTypeName',
      sql<string | null>`coalesce(scope_values.value, nodes.fqdn)`.as('scopeValue'),
      sql<string>`coalesce(users.username, groups.name, '')`.as('principal_name'),
    ])
    .orderBy('scope_types.precedence')
    .orderBy('scopeValue')
    .orderBy('scope_grants.scope_value_id')
    .orderBy('scope_grants.principal_type')
    .orderBy('principal_name')
    .execute();
  const restricted = new Set((await restrictedScopes(db, [configurationId])).map(keyOfScope));
  return [
    ...general.map((row) => ({
      ...row,
      ...{ scope: null, isRestricted: false, scopeTypeName: null, scopeValue: null },
    })),
    ...onScopes.map((row) => {
      const scope = toScopeId(row);
      return { ...row, scope, isRestricted: restricted.has(keyOfScope(scope)) };
    }),
  ];
}
