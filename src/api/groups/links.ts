/** Replaces who is in a group or which roles it holds: two lists of ids under one set of rules. */

import type { Database, Db } from '../../db/open.ts';
import type { AuditAction } from '../../domain/audit-actions.ts';
import { invalid } from '../../lib/errors.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { keepingAnAdministrator, requireOwnGroup, requireOwnRoles } from '../../security/delegation.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { requireGroup } from './change.ts';
import {
  addMembers,
  addRoles,
  heldRoleNames,
  memberNames,
  removeMembers,
  removeRoles,
  roleNames,
  updateGroup,
  userNames,
} from './queries.ts';

interface Caller {
  principal: UserPrincipal;
  actor: Actor;
}

/** Ids with the names that go into the audit trail. */
type Names = ReadonlyMap<string, string>;

interface Links {
  /** The body's member that lists them. */
  member: string;
  unknown: { message: string; code: string };
  action: AuditAction;
  /** Those of the ids that exist. */
  known(trx: Db, ids: readonly string[]): Promise<Names>;
  current(trx: Db, groupId: string): Promise<Names>;
  /** @throws HawserError `beyond_own_permissions` when somebody gets by it what the caller does not hold */
  requireOwn(
    trx: Db,
    principal: UserPrincipal,
    given: { groupId: string; added: readonly string[] },
  ): Promise<void>;
  add(trx: Db, groupId: string, ids: readonly string[]): Promise<void>;
  remove(trx: Db, groupId: string, ids: readonly string[]): Promise<void>;
}

const MEMBERS: Links = {
  member: 'userIds',
  unknown: { message: 'No such user', code: 'unknown_user' },
  action: 'group.members_changed',
  known: userNames,
  current: memberNames,
  // Who joins gets all that the group has.
  requireOwn: (trx, principal, { groupId }) => requireOwnGroup(trx, principal, groupId),
  add: addMembers,
  remove: removeMembers,
};

const ROLES: Links = {
  member: 'roleIds',
  unknown: { message: 'No such role', code: 'unknown_role' },
  action: 'group.roles_changed',
  known: roleNames,
  current: heldRoleNames,
  requireOwn: (trx, principal, { added }) => requireOwnRoles(trx, principal, added),
  add: addRoles,
  remove: removeRoles,
};

/**
 * Makes these users the group's members, and no others.
 * @throws HawserError not_found, validation_failed for an unknown user, `beyond_own_permissions` when somebody new
 *   would get what the caller does not hold, `last_administrator`
 */
export function replaceMembers(
  database: Database,
  caller: Caller,
  groupId: string,
  userIds: readonly string[],
): Promise<void> {
  return replaceLinks(database, caller, { links: MEMBERS, groupId, ids: userIds });
}

/** The same for the roles that the group holds, where a new role must not hold more than the caller does. */
export function replaceRoles(
  database: Database,
  caller: Caller,
  groupId: string,
  roleIds: readonly string[],
): Promise<void> {
  return replaceLinks(database, caller, { links: ROLES, groupId, ids: roleIds });
}

async function replaceLinks(
  database: Database,
  { principal, actor }: Caller,
  { links, groupId, ids }: { links: Links; groupId: string; ids: readonly string[] },
): Promise<void> {
  await database.write.transaction().execute(async (trx) => {
    const { name } = await requireGroup(trx, groupId);
    const wanted = await requireKnown(trx, links, ids);
    const current = await links.current(trx, groupId);
    const added = without(wanted, current);
    const removed = without(current, wanted);
    if (added.size + removed.size === 0) return;
    const addedIds = [...added.keys()];
    if (added.size > 0) await links.requireOwn(trx, principal, { groupId, added: addedIds });
    await keepingAnAdministrator(trx, async () => {
      if (removed.size > 0) await links.remove(trx, groupId, [...removed.keys()]);
      if (added.size > 0) await links.add(trx, groupId, addedIds);
    });
    await updateGroup(trx, groupId, { modified_at: actor.at });
    const details = { name, added: [...added.values()], removed: [...removed.values()] };
    await recordAudit(trx, actor, { action: links.action, resourceId: groupId, details });
  });
}

const MAX_FAULTS = 100;

async function requireKnown(trx: Db, links: Links, ids: readonly string[]): Promise<Names> {
  if (ids.length === 0) return new Map();
  const known = await links.known(trx, ids);
  const faults = ids
    .map((id, index) => ({ id, path: `/${links.member}/${index}` }))
    .filter(({ id }) => !known.has(id))
    .map(({ path }) => ({ path, ...links.unknown }));
  if (faults.length > 0)
    throw invalid('validation_failed', links.unknown.message, faults.slice(0, MAX_FAULTS));
  return known;
}

function without(names: Names, others: Names): Names {
  return new Map([...names].filter(([id]) => !others.has(id)));
}
