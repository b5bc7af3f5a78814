/**
 * Grants a user or a group a level on the parameters of a configuration, on all of them or on those of a scope, takes it away,
 * and marks scopes as restricted. It needs Manage on the very thing.
 */

import type { Db } from '../db/database.ts';
import { type GrantHolder, principalExists, targetExists } from '../db/grants.ts';
import {
  deleteScopeGrant,
  findScopeGrant,
  isRestricted,
  markScope,
  type ScopeId,
  saveScopeGrant,
  scopeExists,
} from '../db/scope-grants.ts';
import { SCOPE_TYPES, SCOPE_VALUES } from '../db/scope-types.ts';
import { keepOlderOut, listKeyHolders } from '../db/secret-keys.ts';
import { type GrantLevel, reaches } from '../domain/permissions.ts';
import { DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import { forbidden, invalidField, notFound } from '../lib/errors.ts';
import type { GrantedResource } from '../security/access.ts';
import { recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';
import { grantedToUser, levelOnScope, levelWith } from '../security/rights.ts';
import { refuseOlder } from '../security/secrets/secret-store.ts';
import { grantLevel, LABELS, type NewGrant, noGrant, revokeGrant } from './grant.ts';

/** A scope type and a value of it, or a node; without a value all of the type, and without both all parameters. */
export interface GrantedScope {
  scopeTypeId?: string | null | undefined;
  scopeValueId?: string | null | undefined;
}

export interface NewParameterGrant extends NewGrant, GrantedScope {
  /** Sets the mark of the scope, or takes it away. Absent or null leaves it. */
  restricted?: boolean | null | undefined;
}

type Configuration = Pick<GrantedResource, 'id' | 'name'>;

/**
 * Grants the level in place of an earlier one on the same scope.
 * @throws HawserError not_found for the principal, the type or the value; invalid for a value without a type, of another type
 *   or of Default, and for `restricted` without a value; forbidden without Manage; unavailable `upgrade_incomplete` for a mark
 *   while a server is seen whose release knows none
 */
export async function grantOnParameters(
  trx: Db,
  caller: Caller,
  resource: Configuration,
  { scopeTypeId, scopeValueId, restricted, ...grant }: NewParameterGrant,
): Promise<void> {
  // The configuration may have been deleted while the body was read.
  if (!(await targetExists(trx, { on: 'parameters', resourceId: resource.id })))
    throw notFound(`No ${LABELS.parameters} of this name`);
  const scope = await requireScope(trx, resource, { scopeTypeId, scopeValueId });
  const hasMark =
    scope !== null && (scope.scopeValueId !== null || scope.scopeTypeId === DEFAULT_SCOPE_TYPE_ID);
  if (restricted === true && !hasMark)
    throw invalidField('/restricted', 'Only a value can be restricted, or Default: name it', 'not_allowed');
  await requireManage(trx, caller, resource, scope);
  if (scope === null) return grantLevel(trx, caller, { on: 'parameters', resource }, grant);
  const { level, ...holder } = grant;
  if (!(await principalExists(trx, holder))) throw notFound('No such user or group');
  const before = (await findScopeGrant(trx, scope, holder)) ?? null;
  const isMarked = hasMark && (await isRestricted(trx, scope));
  const mark = hasMark && typeof restricted === 'boolean' && restricted !== isMarked ? { restricted } : null;
  if (before === level && mark === null) return;
  const { principal, actor } = caller;
  if (before !== level)
    await saveScopeGrant(trx, scope, holder, { level, grantedBy: principal.userId, now: actor.at });
  if (mark?.restricted) {
    refuseOlder(await listKeyHolders(trx), 'knows no marks and would show the value to others');
    await keepOlderOut(trx);
  }
  if (mark !== null) await markScope(trx, scope, mark.restricted);
  await recordChange(trx, caller, resource, scope, { ...holder, level, before, ...mark });
}

/** @throws HawserError not_found where there is no such grant, as `grantOnParameters` for the rest */
export async function revokeOnParameters(
  trx: Db,
  caller: Caller,
  resource: Configuration,
  { scopeTypeId, scopeValueId, ...holder }: GrantHolder & GrantedScope,
): Promise<void> {
  const scope = await requireScope(trx, resource, { scopeTypeId, scopeValueId });
  await requireManage(trx, caller, resource, scope);
  if (scope === null) return revokeGrant(trx, caller, { on: 'parameters', resource }, holder);
  const before = await findScopeGrant(trx, scope, holder);
  if (before === undefined) throw noGrant();
  await deleteScopeGrant(trx, scope, holder);
  await recordChange(trx, caller, resource, scope, { ...holder, level: null, before });
}

/** The scope by its ids; null for all parameters. */
async function requireScope(
  trx: Db,
  { id: configurationId }: Configuration,
  { scopeTypeId, scopeValueId }: GrantedScope,
): Promise<ScopeId | null> {
  const [typeId, valueId] = [scopeTypeId ?? null, scopeValueId ?? null];
  if (typeId === null) {
    if (valueId === null) return null;
    throw invalidField('/scopeTypeId', 'A value needs its scope type beside it', 'required');
  }
  if ((await SCOPE_TYPES.find(trx, typeId)) === undefined) throw notFound('No such scope type');
  const scope = { configurationId, scopeTypeId: typeId, scopeValueId: valueId };
  if (valueId === null || (await scopeExists(trx, scope))) return scope;
  if (typeId === DEFAULT_SCOPE_TYPE_ID)
    throw invalidField('/scopeValueId', 'The scope type Default has no values', 'not_allowed');
  // A value or node that is gone is named to take its mark away.
  if (await isRestricted(trx, scope)) return scope;
  const isOther =
    (await SCOPE_VALUES.find(trx, valueId)) !== undefined ||
    (await scopeExists(trx, { ...scope, scopeTypeId: NODE_SCOPE_TYPE_ID }));
  if (isOther) throw invalidField('/scopeValueId', 'This is no value of the scope type', 'not_allowed');
  throw notFound('No such scope value');
}

/** @throws HawserError forbidden; `beyond_own_permissions` for who manages all parameters but those */
async function requireManage(
  trx: Db,
  { principal }: Caller,
  { id }: Configuration,
  scope: ScopeId | null,
): Promise<void> {
  const granted = await grantedToUser(trx, principal.userId, [id]);
  const general = levelWith(granted, principal, 'parameters', id);
  const level = scope ? levelOnScope(granted, principal, scope, await isRestricted(trx, scope)) : general;
  if (reaches(level, 'Manage')) return;
  if (scope === null) throw forbidden('This needs Manage on all parameters of the configuration');
  const message = 'This needs Manage on the parameters of this scope';
  throw reaches(general, 'Manage') ? forbidden(message, 'beyond_own_permissions') : forbidden(message);
}

async function recordChange(
  trx: Db,
  { actor }: Caller,
  { id, name }: Configuration,
  { scopeTypeId, scopeValueId }: ScopeId,
  change: GrantHolder & { level: GrantLevel | null; before: GrantLevel | null; restricted?: boolean },
): Promise<void> {
  const type = await SCOPE_TYPES.find(trx, scopeTypeId);
  const action = change.level === null ? 'parameters.grant_revoked' : 'parameters.granted';
  const scope = { scopeType: type?.name ?? null, scopeTypeId, scopeValueId };
  await recordAudit(trx, actor, { action, resourceId: id, details: { name, ...scope, ...change } });
}
