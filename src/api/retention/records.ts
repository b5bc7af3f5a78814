/**
 * The cleanup of reports and status events: per node those go that are beyond the newest `keepCount` and older than
 * `keepDays`. In transactions so short that nobody who writes has to wait for long, with time for others in between.
 */

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../db/open.ts';
import { DAY } from '../../lib/clock.ts';
import type { CleanupCircumstances, RecordRule } from './cleanup.ts';
import {
  type Bound,
  countByNode,
  countUpTo,
  deleteUpTo,
  newestBeyond,
  nodesAfter,
  type RecordTable,
} from './record-queries.ts';

/** Nodes looked at in one turn. */
const NODES_AT_ONCE = 100;
/** Records per statement: a report may be megabytes, so the time is looked at after a few. */
const RECORDS_AT_ONCE = 10;
/** Milliseconds after which a transaction takes up no more; its commit comes on top. */
const BUDGET = 2;
/** Milliseconds between two transactions. */
const PAUSE = 5;

export async function cleanRecords(
  database: Database,
  table: RecordTable,
  rule: RecordRule,
  circumstances: CleanupCircumstances,
): Promise<void> {
  const { outcome, isDryRun, signal } = circumstances;
  const { read } = database;
  let nodeIds = await nodesAfter(read, '', NODES_AT_ONCE);
  while (nodeIds.length > 0) {
    const due: Bound[] = [];
    for (const { nodeId, count } of await countByNode(read, table, nodeIds)) {
      outcome.keptCount += count;
      if (count > rule.keepCount) due.push(...(await boundOf(database, table, nodeId, rule, circumstances)));
    }
    for (const bound of isDryRun ? due : []) move(circumstances, await countUpTo(read, table, bound));
    if (!isDryRun) await deleteAll(database, table, due, circumstances);
    await nextTurn();
    signal.throwIfAborted();
    nodeIds = await nodesAfter(read, nodeIds.at(-1) ?? '', NODES_AT_ONCE);
  }
}

/** The newest that goes: what is old enough is beyond the others, or what is beyond is old enough. */
async function boundOf(
  { read }: Database,
  table: RecordTable,
  nodeId: string,
  { keepCount, keepDays }: RecordRule,
  { now }: CleanupCircumstances,
): Promise<Bound[]> {
  const beyond = await newestBeyond(read, table, nodeId, keepCount);
  if (beyond === undefined) return [];
  const oldest = now - keepDays * DAY;
  return [beyond.timestamp <= oldest ? beyond : { nodeId, timestamp: oldest, key: Number.MAX_SAFE_INTEGER }];
}

async function deleteAll(
  { write }: Database,
  table: RecordTable,
  due: Bound[],
  circumstances: CleanupCircumstances,
): Promise<void> {
  while (due.length > 0) {
    circumstances.signal.throwIfAborted();
    const deleted = await write.transaction().execute(async (trx) => {
      const end = performance.now() + BUDGET;
      let sum = 0;
      while (due[0] !== undefined && performance.now() < end) {
        const count = await deleteUpTo(trx, table, due[0], RECORDS_AT_ONCE);
        sum += count;
        if (count < RECORDS_AT_ONCE) due.shift();
      }
      return sum;
    });
    move(circumstances, deleted);
    if (deleted > 0) await sleep(PAUSE);
  }
}

function move({ outcome }: CleanupCircumstances, count: number): void {
  outcome.deletedCount += count;
  outcome.keptCount -= count;
}
