/**
 * Guards the interval of certificate rotation. The OpenDSC agent replaces its certificate unannounced as soon as it has
 * less than a quarter of the interval left. A longer interval can so lock out nodes whose certificates are old.
 */

import type { z } from 'zod';
import type { Db } from '../../db/database.ts';
import { readServerSettings } from '../../db/settings.ts';
import { parseDuration } from '../../domain/duration.ts';
import { conflict } from '../../lib/errors.ts';
import type { ServerSettingsChange } from './schemas.ts';

/** What is left of a certificate for which its agent keeps it, as a share of the interval. */
const KEPT_SHARE = 1 / 4;

/** What of a change is to be saved, and what the audit trail says beside the members that change. */
export interface Admitted {
  members: object;
  details: object;
}

/**
 * Lets a change of the server's settings pass unless it locks nodes out.
 * @throws HawserError conflict `certificates_too_old`, unless the change accepts that very number of nodes
 */
export async function admitServerSettings(
  trx: Db,
  { acceptNodes, ...members }: z.output<typeof ServerSettingsChange>,
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
