/** The audit trail: who changed what, when and from where. Entries are written with the change and never modified. */

import type { Db } from '../db/database.ts';
import { emit } from '../db/events.ts';
import { insertAll } from '../db/rows.ts';
import { AUDIT_ACTIONS, type AuditAction, SYSTEM_NAMES } from '../domain/audit-actions.ts';
import { subjectOf } from '../domain/event-types.ts';
import { newId } from '../lib/ids.ts';
import type { Principal } from './principal.ts';

/** Who acts, from where and when: the part of an entry that is about the request. */
export interface Actor {
  type: 'User' | 'Node' | 'System' | 'Anonymous';
  id: string | null;
  name: string | null;
  /** The id of the token that was used; null with a session. */
  tokenId: string | null;
  /** The id of the registration key by which a machine acts that is no node yet. */
  registrationKeyId?: string;
  address: string | null;
  requestId: string | null;
  /** Epoch milliseconds. */
  at: number;
  /** The change set of which the deed is a part. */
  changeSetId?: number | undefined;
  /** Set where the deed changes what nodes get: throws HawserError locked `frozen` while a freeze lasts. */
  requireUnfrozen?: ((db: Db) => Promise<void>) | undefined;
}

/** The caller of a request. It is `Anonymous` on routes without authentication, such as sign-in and registration. */
export function actorOf(
  principal: Principal | null,
  request: { address: string; requestId: string; now: number },
): Actor {
  const { address, requestId, now: at } = request;
  const circumstances = { tokenId: null, address, requestId, at };
  if (principal === null) return { type: 'Anonymous', id: null, name: null, ...circumstances };
  if (principal.kind === 'node') {
    return { type: 'Node', id: principal.node.nodeId, name: null, ...circumstances };
  }
  const { userId: id, username: name, authMethod, credentialId } = principal;
  const tokenId = authMethod === 'Token' ? credentialId : null;
  return { type: 'User', id, name, ...circumstances, tokenId };
}

/** The actor of changes that the server makes without a request. */
export function systemActor(at: number): Actor {
  return {
    type: 'System',
    id: null,
    name: SYSTEM_NAMES.server,
    tokenId: null,
    address: null,
    requestId: null,
    at,
  };
}

export interface AuditEntry {
  action: AuditAction;
  /** The id of the resource that changed; null for a resource without an id. */
  resourceId: string | null;
  /** What a reader wants to know beside the id, such as names, old and new values. It never contains a secret. */
  details?: Record<string, unknown>;
}

/**
 * Adds an entry, in the transaction of the change, and the event for others that some entries are. For a change in Git it is
 * added right after the ref has moved, under the lock of the repository. If the entry cannot be written then, as on a full
 * disk, the caller moves the ref back. Here a deed that changes what nodes get looks at the freeze for the last time.
 * @throws HawserError locked `frozen`
 */
export async function recordAudit(trx: Db, actor: Actor, entry: AuditEntry): Promise<void> {
  await recordAudits(trx, actor, [entry]);
}

/** The same for a deed that was done to many, with few statements for all. @throws as `recordAudit` */
export async function recordAudits(trx: Db, actor: Actor, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length === 0) return;
  await actor.requireUnfrozen?.(trx);
  const changeSet = actor.changeSetId === undefined ? {} : { changeSetId: actor.changeSetId };
  const told = entries.map((entry) => ({ ...entry, details: { ...entry.details, ...changeSet } }));
  await insertAll(
    trx,
    'audit_entries',
    told.map((entry) => rowOf(actor, entry)),
  );
  await emit(
    trx,
    told.flatMap((entry) => eventOf(actor, entry) ?? []),
  );
}

type ToldEntry = AuditEntry & { details: Record<string, unknown> };

function rowOf(actor: Actor, { action, resourceId, details: told }: ToldEntry) {
  const { tokenId, registrationKeyId } = actor;
  const details = {
    ...told,
    ...(tokenId !== null && { tokenId }),
    ...(registrationKeyId !== undefined && { registrationKeyId }),
  };
  return {
    id: newId(),
    timestamp: actor.at,
    actor_type: actor.type,
    actor_id: actor.id,
    actor_name: actor.name,
    action,
    resource_type: AUDIT_ACTIONS[action].on,
    resource_id: resourceId,
    details: Object.keys(details).length === 0 ? null : JSON.stringify(details),
    ip_address: actor.address,
    request_id: actor.requestId,
  };
}

/** Others are told what was done and by whom, and not from where. */
function eventOf(
  { type: actorType, name: actorName, at }: Actor,
  { action, resourceId, details }: ToldEntry,
) {
  const event = subjectOf(action, details, resourceId);
  return event && { ...event, at, data: { ...details, actorType, actorName } };
}
