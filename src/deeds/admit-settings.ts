/** Looks at changes of settings that others depend on, before they are saved. */

import type { Db } from '../db/database.ts';
import { findScopeTypeByName } from '../db/scope-types.ts';
import { readServerSettings } from '../db/settings.ts';
import { parseDuration } from '../domain/duration.ts';
import { conflict, invalidField } from '../lib/errors.ts';
import type { Admitted } from './change-settings.ts';

/**
 * What is left of a certificate for which its agent keeps it, as a share of the interval. With less than that, the OpenDSC
 * agent replaces it unannounced. A longer interval can so lock out nodes whose certificates are old.
 */
const KEPT_SHARE = 1 / 4;

/**
 * Lets a change of the server's settings pass unless it locks nodes out.
 * @throws HawserError conflict `certificates_too_old`, unless the change accepts that very number of nodes
 */
export async function admitServerSettings(
  trx: Db,
  {
    acceptNodes,
    ...members
  }: {
    certificateRotationInterval?: string | undefined;
    acceptNodes?: number | null | undefined;
    [setting: string]: unknown;
  },
  now: number,
): Promise<Admitted> {
  const { certificateRotationInterval: before } = await readServerSettings(trx);
  const after = millisecondsOf(members.certificateRotationInterval ?? before);
  const nodes = after > millisecondsOf(before) ? await countTooOld(trx, after, now) : 0;
  if (nodes === 0) return { members, details: {} };
  if (acceptNodes === nodes) return { members, details: { acceptedNodes: nodes } };
  const message =
    `Nodes whose certificates are valid for less than a quarter of this interval: ${nodes}. Their agents would replace ` +
    `them before they announce it, and be locked out. Take a shorter interval, or send acceptNodes: ${nodes}`;
  throw conflict('certificates_too_old', message, { nodes });
}

/** Counts nodes that are not locked out yet. An agent keeps a certificate of which more than the share is left. */
async function countTooOld(db: Db, interval: number, now: number): Promise<number> {
  const { nodes } = await db
    .selectFrom('node_certificates')
    .select((of) => of.fn.countAll<number>().as('nodes'))
    .where('state', '=', 'current')
    .where('not_after', '>', now)
    .where('not_after', '<=', Math.floor(now + interval * KEPT_SHARE))
    .executeTakeFirstOrThrow();
  return nodes;
}

const millisecondsOf = (interval: string) => parseDuration(interval)?.milliseconds ?? 0;

/**
 * Lets a scope type give the rings of rollouts that begin from now on, under the name as it is spelled.
 * @throws HawserError invalid unless the name is that of a Restricted scope type
 */
export async function admitRolloutSettings(
  trx: Db,
  { rolloutScopeType: name }: { rolloutScopeType?: string | null | undefined },
): Promise<Admitted> {
  if (name === undefined || name === null) return { members: { rolloutScopeType: name }, details: {} };
  const type = await findScopeTypeByName(trx, name);
  const refuse = (message: string, code: string) => invalidField('/rolloutScopeType', message, code);
  if (type === undefined) throw refuse('There is no scope type of this name', 'unknown_scope_type');
  if (type.value_mode !== 'Restricted' || type.is_system === 1)
    throw refuse('The scope type must be Restricted, so that it has values', 'not_restricted');
  return { members: { rolloutScopeType: type.name }, details: {} };
}
