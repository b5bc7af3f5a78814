/**
 * The cleanup of what nodes ran: stretches that had ended when the bound came are deleted, so that the one that held at the
 * bound stays. A manifest goes with the last that names it. A deleted node is forgotten with its last stretch.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { movePastBegin, pastBound } from '../db/past.ts';
import { endOfSlice } from '../db/slices.ts';
import type { CleanupRun } from '../versions/cleanup-run.ts';

/** Nodes whose stretches are looked for by one statement. */
const NODES_AT_ONCE = 100;
/** Stretches per statement, after which the clock is read. */
const STRETCHES_AT_ONCE = 50;
/** The pause between two transactions, in milliseconds. */
const PAUSE = 5;

/** @throws the signal's reason, or a fault of the database; what was deleted until then is gone */
export async function cleanPast(database: Database, keepDays: number, run: CleanupRun): Promise<void> {
  const bound = pastBound(run.now, keepDays);
  if (!run.isDryRun) await movePastBegin(database.write, bound);
  for (let last = 0; ; ) {
    const { rows } = await sql<{ number: number }>`select number from past_nodes where number > ${last}
      order by number limit ${NODES_AT_ONCE}`.execute(database.read);
    const end = rows.at(-1)?.number;
    if (end === undefined) return;
    await cleanNodes(database, { after: last, end, bound }, run);
    last = end;
    run.signal.throwIfAborted();
    await sleep(PAUSE);
  }
}

interface Some {
  /** The number of the last node before them, and of the last of them. */
  after: number;
  end: number;
  bound: number;
}

async function cleanNodes(database: Database, some: Some, run: CleanupRun): Promise<void> {
  const count = await countOver(database.read, some);
  run.outcome.deletedCount += run.isDryRun ? count : 0;
  if (run.isDryRun) return;
  for (let left = count; left > 0; await sleep(PAUSE)) {
    const deleted = await database.writeUnflushed.transaction().execute((trx) => deleteSlice(trx, some));
    run.outcome.deletedCount += deleted;
    left = deleted === 0 ? 0 : left - deleted;
    run.signal.throwIfAborted();
  }
  await forgetNodes(database, some);
}

const over = ({ after, end, bound }: Some) => sql`from node_past
  where node_number > ${after} and node_number <= ${end} and started < ${bound} and ended <= ${bound}`;

async function countOver(db: Db, some: Some): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count ${over(some)}`.execute(db);
  return rows[0]?.count ?? 0;
}

async function deleteSlice(trx: Db, some: Some): Promise<number> {
  const until = endOfSlice();
  let deleted = 0;
  do {
    const { numAffectedRows } = await sql`delete from node_past where (node_number, started) in (
      select node_number, started ${over(some)} order by node_number, started limit ${STRETCHES_AT_ONCE})`.execute(
      trx,
    );
    deleted += Number(numAffectedRows ?? 0);
    if (Number(numAffectedRows ?? 0) < STRETCHES_AT_ONCE) break;
  } while (performance.now() < until);
  return deleted;
}

async function forgetNodes({ read, writeUnflushed }: Database, { after, end }: Some): Promise<void> {
  const forgotten = sql`from past_nodes where number > ${after} and number <= ${end} and deleted_at is not null
    and not exists (select 1 from node_past where node_number = past_nodes.number)`;
  const { rows } = await sql`select number ${forgotten} limit 1`.execute(read);
  if (rows.length > 0) await sql`delete ${forgotten}`.execute(writeUnflushed);
}
