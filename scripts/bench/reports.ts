/**
 * Measures how many durable reports the server accepts when 64 nodes send reports at once, compared with SQLite alone:
 * the same rows in a database with the same tables, indexes and triggers, 64 in each commit. It measures directly at the
 * writer, because over HTTP the load generator would take most of the time.
 */

import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import type { Database } from '../../src/db/database.ts';
import { insertNode } from '../../src/db/nodes.ts';
import { DATABASE_FILE, openSqlite } from '../../src/db/sqlite/open.ts';
import { openReportWriter, type ReceivedReport } from '../../src/deeds/take-report.ts';
import { NO_FAULTS } from '../../src/domain/report-faults.ts';
import { SECOND } from '../../src/lib/clock.ts';
import { newId, newOrderedId } from '../../src/lib/ids.ts';
import { median, middleHalf } from './measure.ts';
import { formatRange, verdict } from './report.ts';
import type { Effort } from './scenarios.ts';

const NODES = 64;
const RESULT_BYTES = 5 * 1024;
/** The least number of reports, as a share of what SQLite alone takes. */
const TARGET = 0.8;

export interface ReportResult {
  nodes: number;
  /** The size of each report's result. */
  bytes: number;
  /** Reports per second, medians of the rounds. */
  hawser: number;
  sqlite: number;
  /** The median of the ratios of the rounds. */
  ratio: number;
  ratioRange: [lower: number, upper: number];
  target: number;
  met: boolean;
}

/** Takes reports of all nodes for some milliseconds. @returns how many it took in a second */
type Side = (milliseconds: number) => Promise<number>;

/** @param folder on the disk that is measured */
export async function measureReports(folder: string, { rounds, records }: Effort): Promise<ReportResult> {
  const database = await openSqlite(join(folder, 'hawser'));
  const other = join(folder, 'sqlite');
  const nodeIds = await makeNodes(database);
  const sqlite = await openBareSqlite(other);
  try {
    const sides = { hawser: throughHawser(database, nodeIds), sqlite: sqlite.side };
    const samples: { hawser: number; sqlite: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const sample = { hawser: 0, sqlite: 0 };
      const turns = round % 2 === 0 ? (['hawser', 'sqlite'] as const) : (['sqlite', 'hawser'] as const);
      for (const turn of turns) sample[turn] = await sides[turn](records.reportRoundMs);
      samples.push(sample);
    }
    return resultOf(samples);
  } finally {
    sqlite.close();
    await database.close();
  }
}

async function makeNodes({ write }: Database): Promise<string[]> {
  const nodes = Array.from({ length: NODES }, (_, index) => ({ id: newId(), fqdn: `node-${index}` }));
  for (const node of nodes) await insertNode(write, { ...node, now: Date.now(), settings: {} });
  return nodes.map(({ id }) => id);
}

/** Each node sends its next report when the last one has been acknowledged. */
function throughHawser(database: Database, nodeIds: readonly string[]): Side {
  const writer = openReportWriter(database);
  return async (milliseconds) => {
    const start = performance.now();
    let acknowledged = 0;
    await Promise.all(
      nodeIds.map(async (nodeId) => {
        while (performance.now() - start < milliseconds) {
          await writer.submit(makeReport(nodeId));
          acknowledged += 1;
          // In a real server, the next request never comes in the same turn of the event loop as the answer.
          await new Promise((resolve) => setImmediate(resolve));
        }
      }),
    );
    return (acknowledged * SECOND) / (performance.now() - start);
  };
}

/** SQLite with the settings of `openDatabase`, its own checkpoints, and a prepared statement. */
async function openBareSqlite(folder: string): Promise<{ side: Side; close(): void }> {
  const made = await openSqlite(folder);
  const nodeIds = await makeNodes(made);
  await made.close();
  const handle = new SqliteDatabase(join(folder, DATABASE_FILE));
  for (const setting of [
    'journal_mode = WAL',
    'synchronous = FULL',
    'foreign_keys = ON',
    'cache_size = -16384',
  ])
    handle.pragma(setting);
  const insert = handle.prepare(`insert into reports
    (id, node_id, timestamp, operation, in_desired_state, had_errors, result)
    values (@id, @node_id, @timestamp, @operation, @in_desired_state, @had_errors, @result)`);
  const commit = handle.transaction(() => {
    for (const nodeId of nodeIds) insert.run(makeReport(nodeId).row);
  });
  const side: Side = async (milliseconds) => {
    const start = performance.now();
    let written = 0;
    for (; performance.now() - start < milliseconds; written += NODES) commit.immediate();
    return (written * SECOND) / (performance.now() - start);
  };
  return { side, close: () => handle.close() };
}

function makeReport(nodeId: string): ReceivedReport {
  const result = JSON.stringify({ hadErrors: false, results: [], messages: ['x'.repeat(RESULT_BYTES)] });
  return {
    row: {
      ...{ id: newOrderedId(Date.now()), node_id: nodeId, timestamp: Date.now(), operation: 'Test', result },
      ...{ in_desired_state: 1, had_errors: 0 },
    },
    nodeStatus: 'Compliant',
    ...{ checksum: null, servedChecksum: null, faults: NO_FAULTS },
  };
}

function resultOf(samples: readonly { hawser: number; sqlite: number }[]): ReportResult {
  const ratios = samples.map(({ hawser, sqlite }) => hawser / sqlite);
  const ratio = median(ratios);
  return {
    ...{ nodes: NODES, bytes: RESULT_BYTES },
    hawser: median(samples.map(({ hawser }) => hawser)),
    sqlite: median(samples.map(({ sqlite }) => sqlite)),
    ...{ ratio, ratioRange: middleHalf(ratios), target: TARGET, met: ratio >= TARGET },
  };
}

export function formatReports({ nodes, bytes, hawser, sqlite, ...result }: ReportResult): string {
  const { ratio, ratioRange, target, met } = result;
  return [
    `durable reports a second, of ${nodes} nodes at once, ${bytes} bytes each`,
    `  Hawser ${hawser.toFixed(0)}, SQLite alone with ${nodes} in each commit ${sqlite.toFixed(0)}`,
    `  ${ratio.toFixed(2)} x, half within ${formatRange(ratioRange)}; at least ${target} x: ${verdict(met)}`,
  ].join('\n');
}
