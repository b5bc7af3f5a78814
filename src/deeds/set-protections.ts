/** What protects a change set, and whose approvals count for that. */

import type { ChangeSetApprovalRow } from '../db/change-sets.ts';
import type { Db } from '../db/database.ts';
import type { ProtectedThing } from '../db/protections.ts';
import { reaches } from '../domain/permissions.ts';
import type { FileContent } from '../git/types.ts';
import { toTimestamp } from '../lib/clock.ts';
import { groupBy } from '../lib/group-by.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { heldLevel } from '../security/rights.ts';
import { SeriesRights } from '../security/series-rights.ts';
import { rightsOfUser } from '../security/user-rights.ts';
import { type Change, type NamedFile, type ProtectedName, toShownName } from './changes.ts';
import type { Needed, Protections } from './protection.ts';

/** A protection with what it covers in a set. */
export interface SetCover {
  thing: ProtectedThing;
  /** The places of the deeds. */
  deeds: readonly number[];
  needed: readonly Needed[];
}

/** The same as it is shown, and kept of a set that is applied. */
export interface ShownProtection {
  by: ProtectedName;
  /** The configuration or composite; null for a scope value. */
  resource: { on: 'configuration' | 'composite'; id: string } | null;
  deeds: readonly number[];
  approvals: number;
  /** The name of the group. */
  group: string | null;
  missing: number;
}

export async function coverOfSet(
  protections: Protections,
  changes: readonly Change[],
): Promise<readonly SetCover[]> {
  const covers: { deed: number; thing: ProtectedThing; needed: Needed }[] = [];
  for (const [deed, change] of changes.entries())
    for (const cover of await protections.coverOf(change)) covers.push({ deed, ...cover });
  return [...groupBy(covers, ({ thing }) => `${thing.on} ${thing.id}`).values()].map((own) => ({
    thing: (own[0] as (typeof own)[number]).thing,
    deeds: [...new Set(own.map(({ deed }) => deed))],
    needed: [...new Map(own.map(({ needed }) => [JSON.stringify(needed), needed])).values()],
  }));
}

/**
 * Tells whether an approval of this person counts for a protection now.
 * @param setId of the set, before which the person must have been in the group
 */
export async function countsFor(
  db: Db,
  principal: UserPrincipal,
  setId: number,
  { thing, needed }: SetCover,
): Promise<boolean> {
  if (principal.accountType !== 'User' || !principal.permissions.has('nodes.read')) return false;
  const { groupId } = thing.protection;
  if (groupId !== null && !(await wasInGroup(db, principal, { groupId, setId }))) return false;
  for (const each of needed) if (!(await holds(db, principal, thing, each))) return false;
  return true;
}

async function wasInGroup(
  db: Db,
  { userId }: UserPrincipal,
  { groupId, setId }: { groupId: string; setId: number },
): Promise<boolean> {
  const membership = await db
    .selectFrom('group_memberships')
    .select('since_set')
    .where('group_id', '=', groupId)
    .where('user_id', '=', userId)
    .where('since_set', '<', setId)
    .limit(1)
    .executeTakeFirst();
  return membership !== undefined;
}

async function holds(db: Db, principal: UserPrincipal, { on, id }: ProtectedThing, needed: Needed) {
  if (needed === 'thing')
    return on !== 'scopeValue' && reaches(await heldLevel(db, principal, on, id), 'Modify');
  if ('permission' in needed) return principal.permissions.has(needed.permission);
  return mayModifyFile(db, principal, needed.file);
}

async function mayModifyFile(
  db: Db,
  principal: UserPrincipal,
  { configurationName, scopeTypeName: scopeType, scopeValue }: NamedFile,
): Promise<boolean> {
  const named = db.selectFrom('configurations').select('id').where('name', '=', configurationName);
  const row = await named.executeTakeFirst();
  if (row === undefined) return false;
  const rights = await SeriesRights.of(db, principal, row.id);
  return reaches(rights.levelOn({ scopeType, value: scopeValue ?? null }), 'Modify');
}

/** How many approvals each protection lacks. @param approvals those of the digest that the set has */
export async function withMissing(
  db: Db,
  setId: number,
  covers: readonly SetCover[],
  approvals: readonly Pick<ChangeSetApprovalRow, 'user_id'>[],
): Promise<ShownProtection[]> {
  if (covers.length === 0) return [];
  const approvers: UserPrincipal[] = [];
  for (const { user_id } of approvals) {
    const approver = await rightsOfUser(db, user_id);
    if (approver !== null) approvers.push(approver);
  }
  const shown: ShownProtection[] = [];
  for (const cover of covers) {
    let counted = 0;
    for (const approver of approvers) if (await countsFor(db, approver, setId, cover)) counted += 1;
    const { thing, deeds } = cover;
    const { approvals: wanted } = thing.protection;
    const missing = Math.max(0, wanted - counted);
    const resource = thing.on === 'scopeValue' ? null : { on: thing.on, id: thing.id };
    shown.push({
      ...{ by: nameOf(thing), resource, deeds, approvals: wanted, group: thing.groupName, missing },
    });
  }
  return shown;
}

/** Whether it is kept of this thing. */
export const isProtectionOf = ({ by, resource }: ShownProtection, { on, id }: ProtectedThing): boolean =>
  resource === null ? by.scopeValueId === id : resource.on === on && resource.id === id;

const nameOf = ({ on, id, name }: ProtectedThing) =>
  toShownName({
    ...(on === 'configuration' && { configurationName: name }),
    ...(on === 'composite' && { compositeName: name }),
    ...(on === 'scopeValue' && { scopeValueId: id }),
  });

/** The files that tell of approvals in the branch of a set. */
export function approvalFiles(approvals: readonly ChangeSetApprovalRow[]): FileContent[] {
  return approvals.map(({ username, at, digest }) => ({
    path: `approvals/${username}.json`,
    content: Buffer.from(`${JSON.stringify({ at: toTimestamp(at), by: username, digest }, null, 2)}\n`),
  }));
}
