/** Granting and revoking, each with its entry in the audit trail. */

import type { Database, Db } from '../../db/open.ts';
import type { GrantKind, GrantLevel } from '../../domain/permissions.ts';
import { notFound } from '../../lib/errors.ts';
import type { GrantedResource } from '../../security/access.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import {
  deleteGrant,
  findGrantedLevel,
  type GrantHolder,
  principalExists,
  saveGrant,
  targetExists,
} from './queries.ts';

/** On what somebody changes a grant, and who. */
export interface GrantChange {
  on: GrantKind;
  resource: GrantedResource;
  actor: Actor;
}

/**
 * Grants the level, in place of an earlier one. The same level again stays the grant that it was.
 * @throws HawserError not_found for the principal, or when the resource has been deleted meanwhile
 */
export async function grantLevel(
  database: Database,
  change: GrantChange,
  holder: GrantHolder,
  { level, grantedBy }: { level: GrantLevel; grantedBy: string },
): Promise<void> {
  const { on, resource, actor } = change;
  const target = { on, resourceId: resource.id };
  await database.write.transaction().execute(async (trx) => {
    // It may have been deleted while the body came in; the grant would stay for good.
    if (!(await targetExists(trx, target))) throw notFound(`No ${LABELS[on]} of this name`);
    if (!(await principalExists(trx, holder))) throw notFound('No such user or group');
    const before = (await findGrantedLevel(trx, target, holder)) ?? null;
    if (before === level) return;
    await saveGrant(trx, target, holder, { level, grantedBy, now: actor.at });
    await record(trx, change, 'granted', { ...holder, level, before });
  });
}

/** @throws HawserError not_found where there is no such grant */
export async function revokeGrant(
  database: Database,
  change: GrantChange,
  holder: GrantHolder,
): Promise<void> {
  const target = { on: change.on, resourceId: change.resource.id };
  await database.write.transaction().execute(async (trx) => {
    const before = await deleteGrant(trx, target, holder);
    if (before === undefined) throw noGrant();
    await record(trx, change, 'grant_revoked', { ...holder, level: null, before });
  });
}

export const noGrant = () => notFound('No such grant');

function record(
  trx: Db,
  { on, resource, actor }: GrantChange,
  action: 'granted' | 'grant_revoked',
  details: GrantHolder & { level: GrantLevel | null; before: GrantLevel | null },
): Promise<void> {
  return recordAudit(trx, actor, {
    action: `${on}.${action}`,
    resourceId: resource.id,
    details: { name: resource.name, ...details },
  });
}

/** As the kinds stand in sentences. */
export const LABELS: Record<GrantKind, string> = {
  configuration: 'configuration',
  composite: 'composite configuration',
  parameters: "configuration's parameters",
};
