/** Changes what protects a configuration, a composite or a scope value. By itself a deed makes it stronger; weaker makes it a change set. */

import type { Db } from '../db/database.ts';
import { findProtection, type ProtectedId, saveProtection, weakensProtection } from '../db/protections.ts';
import { SCOPE_TYPES, SCOPE_VALUES } from '../db/scope-types.ts';
import type { AuditAction } from '../domain/audit-actions.ts';
import type { ChangedMembers } from '../domain/changed-members.ts';
import { isWeaker, type Protection } from '../domain/protection.ts';
import { invalidField, notFound } from '../lib/errors.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { ChangeOf, ProtectedName } from './changes.ts';

/** What is to be protected, with its name. */
export type Protectable = ProtectedId & { name: string };

/**
 * Saves a protection, as a whole.
 * @returns what the entry of the audit trail says of it; null where it is the same already
 * @throws HawserError conflict `change_set_required` where it would be weaker and is no part of a set; invalid without the group
 */
export async function changeProtection(
  trx: Db,
  { changeSetId }: Pick<Actor, 'changeSetId'>,
  { name, ...thing }: Protectable,
  protection: Protection,
): Promise<ChangedMembers | null> {
  const { approvals, groupId, byChangeSetOnly } = protection;
  const before = await findProtection(trx, thing);
  const isSame =
    before.approvals === approvals &&
    before.groupId === groupId &&
    before.byChangeSetOnly === byChangeSetOnly;
  if (isSame) return null;
  if (changeSetId === undefined && isWeaker(before, protection)) throw weakensProtection(name);
  await requireGroup(trx, protection);
  await saveProtection(trx, thing, protection);
  return { protection: { from: before, to: protection } };
}

/** @throws HawserError invalid where the group is not there */
async function requireGroup(db: Db, { groupId }: Protection): Promise<void> {
  if (groupId === null) return;
  const group = db.selectFrom('groups').select('id').where('id', '=', groupId);
  if ((await group.executeTakeFirst()) === undefined)
    throw invalidField('/protection/groupId', 'No such group', 'unknown_group');
}

const ACTIONS = {
  configuration: 'configuration.settings_changed',
  composite: 'composite.settings_changed',
  scopeValue: 'scope_value.updated',
} as const satisfies Record<ProtectedId['on'], AuditAction>;

/** Does the same by itself, with its entry in the audit trail. @throws HawserError as `changeProtection` */
export async function setProtection(
  trx: Db,
  actor: Actor,
  { names, ...thing }: Named,
  protection: Protection,
): Promise<void> {
  const changes = await changeProtection(trx, actor, thing, protection);
  if (changes === null) return;
  const details = { ...names, ...changes };
  await recordAudit(trx, actor, { action: ACTIONS[thing.on], resourceId: thing.id, details });
}

interface Named extends Protectable {
  /** How the audit trail calls it. */
  names: Record<string, unknown>;
}

/** What a deed names; null where it is gone. */
export async function findProtectable(
  db: Db,
  { configurationName, compositeName, scopeValueId }: ProtectedName,
): Promise<Named | null> {
  if (typeof scopeValueId === 'string') {
    const found = await SCOPE_VALUES.find(db, scopeValueId);
    if (found === undefined) return null;
    const { id, value, scope_type_id } = found;
    const { name: scopeType } = await SCOPE_TYPES.require(db, scope_type_id);
    return { on: 'scopeValue', id, name: value, names: { scopeType, value } };
  }
  const on = typeof compositeName === 'string' ? 'composite' : 'configuration';
  const name = compositeName ?? configurationName ?? '';
  const row = await db
    .selectFrom(`${on}s` as const)
    .select('id')
    .where('name', '=', name)
    .executeTakeFirst();
  return row === undefined ? null : { on, id: row.id, name, names: { name } };
}

/** What a deed protects. @throws HawserError not_found; invalid without the group */
export async function requireProtectable(
  db: Db,
  { on, protection }: ChangeOf<'SetProtection'>,
): Promise<Named> {
  await requireGroup(db, protection);
  const thing = await findProtectable(db, on);
  if (thing === null) throw notFound('What is to be protected is not there');
  return thing;
}
