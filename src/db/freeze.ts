/**
 * A freeze: until its end nothing may change what nodes get. It is one row of the settings of the server, with its end, so
 * nobody has to lift it. Whoever changes what nodes get looks at the row in the transaction of the change. One write
 * transaction follows the other, on every server, so each change is committed before the freeze or refused. Nobody waits
 * for a lock.
 */

import { toTimestamp } from '../lib/clock.ts';
import { HawserError } from '../lib/errors.ts';
import type { Db } from './schema.ts';

/** The name of its row. */
const SETTING = 'freeze';

export interface Freeze {
  reason: string;
  /** Epoch milliseconds, as `frozenAt`. */
  until: number;
  /** The name of who set it. */
  frozenBy: string;
  frozenAt: number;
}

/** The freeze that lasts at a time, in epoch milliseconds; null if there is none. */
export async function readFreeze(db: Db, now: number): Promise<Freeze | null> {
  const row = await db
    .selectFrom('server_settings')
    .select('value')
    .where('name', '=', SETTING)
    .executeTakeFirst();
  const freeze = row === undefined ? null : (JSON.parse(row.value) as Freeze | null);
  return freeze !== null && freeze.until > now ? freeze : null;
}

/** Saves a freeze in place of the one before, or with null that there is none. */
export async function saveFreeze(trx: Db, freeze: Freeze | null): Promise<void> {
  const row = { value: JSON.stringify(freeze) };
  await trx
    .insertInto('server_settings')
    .values({ name: SETTING, ...row })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
    .execute();
}

/** What is answered to whoever would change what nodes get: locked `frozen` while a freeze lasts, else null. */
export async function freezeBlocker(db: Db, now: number): Promise<HawserError | null> {
  const freeze = await readFreeze(db, now);
  if (freeze === null) return null;
  const { reason, frozenBy } = freeze;
  const until = toTimestamp(freeze.until);
  const message = `What nodes get may not be changed until ${until}, because ${frozenBy} has frozen it: ${reason}`;
  return new HawserError('locked', 'frozen', message, { data: { reason, until, frozenBy } });
}

/**
 * The look at the freeze that goes with a deed, to be called wherever the deed takes effect.
 * @param now gives epoch milliseconds
 * @returns a function that throws HawserError locked `frozen` while a freeze lasts
 */
export function freezeLook(now: () => number): (db: Db) => Promise<void> {
  const looked = new WeakSet<Db>();
  return async (db) => {
    // Write transactions follow each other, so what one has found holds until its end, for however many nodes it changes.
    if (looked.has(db)) return;
    const blocker = await freezeBlocker(db, now());
    if (blocker !== null) throw blocker;
    if (db.isTransaction) looked.add(db);
  };
}
