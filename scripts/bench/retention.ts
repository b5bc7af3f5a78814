/**
 * Measures the cleanup of a million reports: how long it holds the writer at a time, and how long a few new reports
 * take on the same disk, because both wait for the same flushes and checkpoints.
 *
 * `node scripts/run.js scripts/bench/retention.ts [FOLDER] [REPORTS]`; the folder must be on the measured disk.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Db } from '../../src/db/database.ts';
import { insertNode } from '../../src/db/nodes.ts';
import { openSqlite } from '../../src/db/sqlite/open.ts';
import { cleanRecords } from '../../src/deeds/clean-records.ts';
import { HOUR, SECOND } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import { Outcome } from '../../src/versions/cleanup-run.ts';

const NODES = 1_000;
const RESULT = JSON.stringify({ hadErrors: false, results: [], messages: ['x'.repeat(1_024)] });
const TARGET = 50;
const FEW = 10;
const ROUNDS = 500;

const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'hawser-bench-retention-'));
const perNode = Math.ceil(Number(process.argv[3] ?? 1_000_000) / NODES);
const now = Date.now();
const database = await openSqlite(folder);
try {
  const nodeIds = await fill(database);
  const held = watchTransactions(database);
  for (let round = 0; round < ROUNDS; round += 1) {
    const some = Array.from({ length: FEW }, (_, index) => nodeIds[(round * FEW + index) % NODES] ?? '');
    await database.write.transaction().execute((trx) => insertReports(trx, some, now));
    await sleep(5);
  }
  print(`${FEW} new reports`, held.splice(0));
  const [outcome, start] = [new Outcome(), performance.now()];
  const rule = { keepCount: Math.ceil(perNode / 10), keepDays: 0 };
  const { signal } = new AbortController();
  await cleanRecords(database, 'reports', rule, { now, isDryRun: false, runId: newId(), outcome, signal });
  const seconds = (performance.now() - start) / SECOND;
  console.log(
    `${outcome.deletedCount} reports of ${outcome.deletedCount + outcome.keptCount} deleted in ${seconds.toFixed(0)} s`,
  );
  print('the cleanup', held);
  console.log(`worst at most ${TARGET} ms: ${Math.max(...held) <= TARGET ? 'met' : 'missed'}`);
} finally {
  await database.close();
  rmSync(folder, { recursive: true });
}

/** Writes the reports node by node in turn, as they arrive in reality, so that the reports of a node are far apart. */
async function fill({ write }: Database): Promise<string[]> {
  const nodes = Array.from({ length: NODES }, (_, index) => ({ id: newId(), fqdn: `node-${index}` }));
  for (const node of nodes) await insertNode(write, { ...node, now, settings: {} });
  const nodeIds = nodes.map(({ id }) => id);
  for (let round = 0; round < perNode; round += 1) {
    const timestamp = now - (perNode - round) * HOUR;
    await write.transaction().execute(async (trx) => {
      for (let at = 0; at < NODES; at += 100)
        await insertReports(trx, nodeIds.slice(at, at + 100), timestamp);
    });
  }
  return nodeIds;
}

async function insertReports(trx: Db, nodeIds: readonly string[], timestamp: number): Promise<void> {
  const outcome = { operation: 'Test', in_desired_state: 1, had_errors: 0, result: RESULT } as const;
  const rows = nodeIds.map((node_id) => ({ id: newId(), node_id, timestamp, ...outcome }));
  await trx.insertInto('reports').values(rows).execute();
}

/** Milliseconds from the begin of each transaction to the end of its commit. */
function watchTransactions({ write, writeUnflushed }: Database): number[] {
  const held: number[] = [];
  for (const watched of [write, writeUnflushed]) {
    const transaction = watched.transaction.bind(watched);
    watched.transaction = () => {
      const builder = transaction();
      const execute = builder.execute.bind(builder);
      builder.execute = async (work) => {
        let start = 0;
        const done = await execute((trx) => {
          start = performance.now();
          return work(trx);
        });
        held.push(performance.now() - start);
        return done;
      };
      return builder;
    };
  }
  return held;
}

function print(what: string, held: readonly number[]): void {
  const sorted = [...held].sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1);
  console.log(
    `${what}: ${held.length} transactions, median ${at(0.5)} ms, 99 of 100 ${at(0.99)} ms, worst ${at(1)} ms`,
  );
}
