/** Other names and descriptions of scope types and values, and their deletion, with the parameter files if that is asked. */

import type { Db } from '../db/database.ts';
import { type ProtectedThing, requireUnprotected } from '../db/protections.ts';
import { countRows } from '../db/rows.ts';
import {
  findScopeTypeByName,
  findScopeValue,
  isTagged,
  requireUnmoved,
  SCOPE_TYPES,
  SCOPE_VALUES,
  type ScopeTypeRow,
  type ScopeValueRow,
  shiftPrecedences,
  valuesOf,
} from '../db/scope-types.ts';
import { changedMembers } from '../domain/changed-members.ts';
import type { Protection } from '../domain/protection.ts';
import { scopeKey } from '../domain/scopes.ts';
import { conflict, forbidden } from '../lib/errors.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { SeriesRights } from '../security/series-rights.ts';
import { scopesIn } from '../versions/parameter-files.ts';
import { type MovedScope, moveScope, repositoriesOf, whileScopesRest } from '../versions/scope-moves.ts';
import type { ParameterScope } from '../versions/store.ts';
import {
  inUse,
  requireCustomType,
  requireFreeName,
  requireScopeValue,
  type ScopeTools,
  type ScopeValueTarget,
} from './change-scope-type.ts';
import { changeProtection } from './set-protection.ts';

/** An absent name stays. */
export interface ScopeChange {
  name?: string | undefined;
  description: string | null;
}

/** What is to be changed of a value. A protection that is absent stays as it is. */
export interface ScopeValueChange extends ScopeChange {
  protection?: Protection | undefined;
}

/** Who deletes a scope, and whether its parameter files go too. */
export interface ScopeDeletion {
  principal: UserPrincipal;
  actor: Actor;
  withParameters: boolean;
}

const nameTaken = (message: string) => conflict('name_taken', message);

/** @throws HawserError not_found, invalid `reserved_name`, conflict `system_scope_type`, `name_taken` or `in_use` */
export function updateScopeType(
  tools: ScopeTools,
  actor: Actor,
  id: string,
  { name, description }: ScopeChange,
): Promise<ScopeTypeRow> {
  const { database, isRing, locks } = tools;
  const change = async (trx: Db, to: string): Promise<ScopeTypeRow> => {
    const type = await requireCustomType(trx, id);
    const changes = changedMembers(type, { description });
    const renaming = type.name === to ? {} : { renamed: { from: type.name, to } };
    if (changes === null && type.name === to) return type;
    const details = { name: type.name, ...renaming, ...changes };
    await recordAudit(trx, actor, { action: 'scope_type.updated', resourceId: id, details });
    if (type.name !== to) await renameInSettings(trx, type.name, to);
    return SCOPE_TYPES.update(trx, id, {
      ...{ name: to, name_key: scopeKey(to), description, updated_at: actor.at },
    });
  };
  return whileScopesRest(locks, async () => {
    const type = await requireCustomType(database.read, id);
    const to = name ?? type.name;
    if (to === type.name) return database.write.transaction().execute((trx) => change(trx, to));
    requireFreeName(to);
    const other = await findScopeTypeByName(database.read, to);
    if (other !== undefined && other.id !== id) throw nameTaken('A scope type has this name already');
    await requireUnmoved(database.read, null, to);
    if (await isRing({ scopeTypeId: id, value: null })) throw inUse('A version rolls out by it');
    const scope = { scopeType: type.name, value: null };
    await requireNoFiles(tools, { scopeType: to, value: null });
    const moved = { scopeTypeId: id, scopeValueId: null, scope };
    return moveScope(tools, moved, { to, actor, change: (trx) => change(trx, to) });
  });
}

/** The setting `rolloutScopeType` names the type. */
async function renameInSettings(trx: Db, from: string, to: string): Promise<void> {
  const setting = trx.updateTable('server_settings').where('name', '=', 'rolloutScopeType');
  for (const row of await trx
    .selectFrom('server_settings')
    .selectAll()
    .where('name', '=', 'rolloutScopeType')
    .execute())
    if (scopeKey(String(JSON.parse(row.value))) === scopeKey(from))
      await setting.set({ value: JSON.stringify(to) }).execute();
}

/** @throws HawserError not_found, conflict `name_taken` or `in_use`; as `changeProtection` */
export function updateScopeValue(
  tools: ScopeTools,
  actor: Actor,
  target: ScopeValueTarget,
  { name, description, protection }: ScopeValueChange,
): Promise<ScopeValueRow> {
  const { database, isRing, locks } = tools;
  const { scopeTypeId } = target;
  const change = async (trx: Db, to: string): Promise<ScopeValueRow> => {
    const { value, names } = await requireScopeValue(trx, target);
    const thing = { on: 'scopeValue', id: value.id, name: value.value } as const;
    const changes = {
      ...changedMembers(value, { description }),
      ...(protection && (await changeProtection(trx, actor, thing, protection))),
    };
    const renaming = value.value === to ? {} : { renamed: { from: value.value, to } };
    if (Object.keys(changes).length === 0 && value.value === to) return value;
    const details = { ...names, ...renaming, ...changes };
    await recordAudit(trx, actor, { action: 'scope_value.updated', resourceId: value.id, details });
    return SCOPE_VALUES.update(trx, value.id, {
      ...{ value: to, value_key: scopeKey(to), description, updated_at: actor.at },
    });
  };
  return whileScopesRest(locks, async () => {
    const { value, names } = await requireScopeValue(database.read, target);
    const to = name ?? value.value;
    if (to === value.value) return database.write.transaction().execute((trx) => change(trx, to));
    const other = await findScopeValue(database.read, scopeTypeId, to);
    if (other !== undefined && other.id !== value.id)
      throw nameTaken('The scope type has this value already');
    await requireUnmoved(database.read, scopeTypeId, to);
    if (await isRing({ scopeTypeId, value: value.value }))
      throw inUse('A version rolls out, and a step of it is for this value');
    await requireNoFiles(tools, { scopeType: names.scopeType, value: to });
    const moved = movedValue(target, names);
    return moveScope(tools, moved, { to, actor, change: (trx) => change(trx, to) });
  });
}

const movedValue = (
  { scopeTypeId, id }: ScopeValueTarget,
  { scopeType, value }: { scopeType: string; value: string },
): MovedScope => ({ scopeTypeId, scopeValueId: id, scope: { scopeType, value } });

/** Files that somebody has put there with stock git belong to no scope, and must not become those of this one. */
async function requireNoFiles({ store }: ScopeTools, scope: ParameterScope): Promise<void> {
  const [first] = await repositoriesOf(store, scope);
  if (first !== undefined)
    throw nameTaken(`The parameters of ${first} have files of this name, which belong to no scope`);
}

/**
 * Deletes the type with its values.
 * @throws HawserError not_found, forbidden, conflict `system_scope_type`, `in_use`, `change_set_required` for a protected value
 */
export function deleteScopeType(tools: ScopeTools, by: ScopeDeletion, id: string): Promise<void> {
  const { database, isRing, locks } = tools;
  const { actor } = by;
  const isOfType = ({ scopeType }: ProtectedThing) => scopeType?.id === id;
  const drop = async (trx: Db) => {
    const { name, precedence } = await requireCustomType(trx, id);
    await requireUnprotected(trx, isOfType);
    if (await isTagged(trx, 'scope_type_id', id)) throw inUse('A node is tagged with a value of it');
    const details = { name, valueCount: await countRows(valuesOf(trx, id)) };
    await SCOPE_TYPES.delete(trx, id);
    await shiftPrecedences(trx, { from: precedence + 1, by: -1, now: actor.at });
    await recordAudit(trx, actor, { action: 'scope_type.deleted', resourceId: id, details });
  };
  return whileScopesRest(locks, async () => {
    const { name } = await requireCustomType(database.read, id);
    await requireUnprotected(database.read, isOfType);
    if (await isRing({ scopeTypeId: id, value: null })) throw inUse('A version rolls out by it');
    if (await isTagged(database.read, 'scope_type_id', id))
      throw inUse('A node is tagged with a value of it');
    const scope = { scopeType: name, value: null };
    await removeScope(tools, by, { scopeTypeId: id, scopeValueId: null, scope }, drop);
  });
}

/** @throws HawserError not_found, forbidden, conflict `in_use`, `change_set_required` */
export function deleteScopeValue(
  tools: ScopeTools,
  by: ScopeDeletion,
  target: ScopeValueTarget,
): Promise<void> {
  const { database, isRing, locks } = tools;
  const { actor } = by;
  const isMeant = ({ on, id }: ProtectedThing) => on === 'scopeValue' && id === target.id;
  const drop = async (trx: Db) => {
    await requireUnprotected(trx, isMeant);
    const { value, names: details } = await requireScopeValue(trx, target);
    if (await isTagged(trx, 'scope_value_id', value.id)) throw inUse('A node is tagged with it');
    await SCOPE_VALUES.delete(trx, value.id);
    await recordAudit(trx, actor, { action: 'scope_value.deleted', resourceId: value.id, details });
  };
  return whileScopesRest(locks, async () => {
    const { names } = await requireScopeValue(database.read, target);
    await requireUnprotected(database.read, isMeant);
    const { scopeTypeId, id } = target;
    if (await isRing({ scopeTypeId, value: names.value }))
      throw inUse('A version rolls out, and a step of it is for this value');
    if (await isTagged(database.read, 'scope_value_id', id)) throw inUse('A node is tagged with it');
    await removeScope(tools, by, movedValue(target, names), drop);
  });
}

/** Deletes the row, which no node is tagged with, and its files if that is asked. */
async function removeScope(
  tools: ScopeTools,
  { principal, actor, withParameters }: ScopeDeletion,
  moved: MovedScope,
  drop: (trx: Db) => Promise<void>,
): Promise<void> {
  const { database, store } = tools;
  const names = await repositoriesOf(store, moved.scope);
  if (names.length === 0) return database.write.transaction().execute(drop);
  if (!withParameters) throw inUse('It has parameter files; ?withParameters=true removes them too');
  await requireManage(tools, principal, moved.scope, names);
  await moveScope(tools, moved, { to: null, actor, change: drop });
}

/** @throws HawserError forbidden unless the caller may manage the scope's parameters of all these configurations */
async function requireManage(
  { database: { read }, store }: ScopeTools,
  principal: UserPrincipal,
  { scopeType, value }: ParameterScope,
  names: readonly string[],
): Promise<void> {
  const rows = await read.selectFrom('configurations').select(['id', 'name']).execute();
  const ids = new Map(rows.map(({ id, name }) => [name, id]));
  for (const name of names) {
    const scopes = scopesIn(await store.parameters.index(name), scopeType);
    const rights = await SeriesRights.of(read, principal, ids.get(name) ?? '');
    const gone = value === null ? scopes : [{ scopeType, value }];
    if (!gone.every((scope) => rights.levelOn(scope) === 'Manage'))
      throw forbidden('It has parameter files of configurations whose parameters you may not manage');
  }
}
