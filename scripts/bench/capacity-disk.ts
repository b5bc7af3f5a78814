/** Measures how many bytes nodes, reports and status events take on the disk, in SQLite and in PostgreSQL. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import { engineOf } from '../../src/db/engine-of.ts';
import { openDatabase } from '../../src/db/open.ts';
import { openReportWriter, type ReceivedReport } from '../../src/deeds/take-report.ts';
import { NO_FAULTS } from '../../src/domain/report-faults.ts';
import { newOrderedId } from '../../src/lib/ids.ts';
import type { CapacityAmounts } from './capacity.ts';
import { inBatches, makeFleet } from './fleet.ts';
import { BenchCluster } from './postgres-cluster.ts';

const NODES = 1_000;
const REPORTS_AT_ONCE = 64;
/** How many resources a report tells of: some 1, 5 and 20 KB. */
const RESOURCES = [4, 25, 104] as const;

/** How much the database grows by one row of a kind. */
export interface Growth {
  what: string;
  /** The bytes of the result of a report; null for other rows. */
  text: number | null;
  sqlite: number;
  postgres: number | null;
}

/** One kind of rows. */
interface Kind {
  what: string;
  text: number | null;
  count: number;
  write(database: Database, nodeIds: readonly string[]): Promise<void>;
}

export async function measureGrowth(
  folder: string,
  template: string,
  amounts: CapacityAmounts,
  progress: (message: string) => void,
): Promise<Growth[]> {
  mkdirSync(folder);
  progress('measuring: bytes on the disk, in SQLite');
  const kinds = kindsOf(amounts.reports);
  const sqlite = await grow(join(folder, 'sqlite'), template, kinds, null);
  progress('measuring: bytes on the disk, in PostgreSQL');
  const cluster = await BenchCluster.make();
  try {
    const postgres = await grow(join(folder, 'postgres'), template, kinds, await cluster.newUrl());
    const node = { what: 'a node, as registered', text: null };
    const rows = [node, ...kinds].map(({ what, text }, at) => ({
      ...{ what, text, sqlite: sqlite[at] ?? Number.NaN, postgres: postgres[at] ?? null },
    }));
    return rows;
  } finally {
    await cluster.remove();
  }
}

/** @returns bytes for each node, and for each row of each kind */
async function grow(
  folder: string,
  template: string,
  kinds: readonly Kind[],
  databaseUrl: string | null,
): Promise<number[]> {
  mkdirSync(folder);
  const dataDir = join(folder, 'data');
  const empty = await openDatabase({ dataDir, databaseUrl });
  let before = await sizeOf(empty);
  await empty.close();
  // The repositories of PostgreSQL are rows too, so there are none.
  await makeFleet(folder, template, { configurations: 1, nodes: NODES }, [], databaseUrl);
  const database = await openDatabase({ dataDir, databaseUrl });
  try {
    const nodes = await database.read.selectFrom('nodes').select('id').execute();
    const sizes: number[] = [];
    const note = async (count: number) => {
      const after = await sizeOf(database);
      sizes.push((after - before) / count);
      before = after;
    };
    await note(NODES);
    for (const kind of kinds) {
      await kind.write(
        database,
        nodes.map(({ id }) => id),
      );
      await note(kind.count);
    }
    return sizes;
  } finally {
    await database.close();
  }
}

/** The bytes that the tables take with their indexes, without pages that are free. */
async function sizeOf(database: Database): Promise<number> {
  const ofSqlite = sql<{ bytes: number }>`select (page_count - freelist_count) * page_size as bytes
    from pragma_page_count, pragma_freelist_count, pragma_page_size`;
  // Tables of repositories do not count.
  const ofPostgres = sql<{
    bytes: number;
  }>`select cast(sum(pg_total_relation_size(oid)) as bigint) as bytes from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace and relname not like 'git%'`;
  const { rows } = await (engineOf(database.read).isShared ? ofPostgres : ofSqlite).execute(database.read);
  return rows[0]?.bytes ?? Number.NaN;
}

function kindsOf(reports: number): Kind[] {
  const ofReports = RESOURCES.map((resources): Kind => {
    const text = resultOf(resources).length;
    return {
      ...{ what: `a report of ${resources} resources`, text, count: reports },
      write: (database, nodeIds) => writeReports(database, nodeIds, resources, reports),
    };
  });
  const events: Kind = {
    ...{ what: 'a status event', text: null, count: reports },
    write: (database, nodeIds) => writeEvents(database, nodeIds, reports),
  };
  return [...ofReports, events];
}

async function writeReports(
  database: Database,
  nodeIds: readonly string[],
  resources: number,
  count: number,
): Promise<void> {
  const writer = openReportWriter(database);
  for (let at = 0; at < count; at += REPORTS_AT_ONCE) {
    const some = Array.from({ length: Math.min(REPORTS_AT_ONCE, count - at) }, (_, index) =>
      reportOf(nodeIds[(at + index) % nodeIds.length] ?? '', resources, at + index),
    );
    await Promise.all(some.map((report) => writer.submit(report)));
  }
}

function reportOf(nodeId: string, resources: number, number: number): ReceivedReport {
  const now = Date.now();
  return {
    row: {
      ...{ id: newOrderedId(now), node_id: nodeId, timestamp: now, operation: 'Test' },
      ...{ in_desired_state: 1, had_errors: 0, result: resultOf(resources, number) },
    },
    ...{ nodeStatus: 'Compliant', checksum: 'f'.repeat(64), servedChecksum: null, faults: NO_FAULTS },
  };
}

/** What a node tells of its resources, as DSC prints it. Reports differ as real ones do, which matters for compression. */
function resultOf(resources: number, number = 0): string {
  const results = Array.from({ length: resources }, (_, at) => ({
    name: `item ${at} of this configuration`,
    type: 'Microsoft.DSC.Transitional/RunCommandOnSet',
    metadata: { duration: `PT0.${String((number * 7_919 + at * 104_729) % 1_000_000).padStart(6, '0')}S` },
    result: { inDesiredState: true, differingProperties: [] },
  }));
  return JSON.stringify({ results, messages: [], hadErrors: false });
}

async function writeEvents({ write }: Database, nodeIds: readonly string[], count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, at) => ({
    ...{ node_id: nodeIds[at % nodeIds.length] ?? '', lcm_status: 'Idle', status: null },
    timestamp: Date.now(),
  }));
  for (const batch of inBatches(rows)) await write.insertInto('status_events').values(batch).execute();
}
