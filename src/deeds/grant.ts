/** Grants a user or a group a level on a configuration, a composite or a parameter set, and takes it away. */

import type { Db } from '../db/database.ts';
import {
  deleteGrant,
  findGrantedLevel,
  type GrantHolder,
  principalExists,
  saveGrant,
  targetExists,
} from '../db/grants.ts';
import type { GrantKind, GrantLevel } from '../domain/permissions.ts';
import { notFound } from '../lib/errors.ts';
import type { GrantedResource } from '../security/access.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';

/** Who is to have which level. */
export interface NewGrant extends GrantHolder {
  level: GrantLevel;
}

/** What sentences call the things that grants are on. */
export const LABELS = {
  configuration: 'configuration',
  composite: 'composite configuration',
  parameters: "configuration's parameters",
} as const satisfies Record<GrantKind, string>;

/** The thing that a grant is on. The access check has found it. */
interface Target {
  on: GrantKind;
  resource: Pick<GrantedResource, 'id' | 'name'>;
}

/** Who grants. No user does it where the id is null. */
interface Granter {
  principal: { userId: string | null };
  actor: Actor;
}

/**
 * Grants the level in place of an earlier one. To grant the same level again changes nothing.
 * @throws HawserError not_found for the principal, or when the resource has been deleted meanwhile
 */
export async function grantLevel(
  trx: Db,
  caller: Granter,
  { on, resource }: Target,
  { level, ...holder }: NewGrant,
): Promise<void> {
  const target = { on, resourceId: resource.id };
  // The resource may have been deleted while the body was read. The grant on it would stay for ever.
  if (!(await targetExists(trx, target))) throw notFound(`No ${LABELS[on]} of this name`);
  if (!(await principalExists(trx, holder))) throw notFound('No such user or group');
  const before = (await findGrantedLevel(trx, target, holder)) ?? null;
  if (before === level) return;
  const { principal, actor } = caller;
  await saveGrant(trx, target, holder, { level, grantedBy: principal.userId, now: actor.at });
  await recordChange(trx, caller, { on, resource }, { ...holder, level, before });
}

/** @throws HawserError not_found where there is no such grant */
export async function revokeGrant(
  trx: Db,
  caller: Caller,
  { on, resource }: Target,
  holder: GrantHolder,
): Promise<void> {
  const target = { on, resourceId: resource.id };
  const before = await findGrantedLevel(trx, target, holder);
  if (before === undefined) throw noGrant();
  await deleteGrant(trx, target, holder);
  await recordChange(trx, caller, { on, resource }, { ...holder, level: null, before });
}

/** The refusal to take away a grant that is not there. */
export const noGrant = () => notFound('No such grant');

function recordChange(
  trx: Db,
  { actor }: Pick<Caller, 'actor'>,
  { on, resource }: Target,
  change: GrantHolder & { level: GrantLevel | null; before: GrantLevel | null },
): Promise<void> {
  const action = change.level === null ? 'grant_revoked' : 'granted';
  const details = { name: resource.name, ...change };
  return recordAudit(trx, actor, { action: `${on}.${action}`, resourceId: resource.id, details });
}
