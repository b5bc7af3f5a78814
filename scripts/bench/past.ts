/**
 * Measures what the past of a fleet takes, and how long `GET /fleet/running?at=` reads it, in SQLite and in PostgreSQL:
 * `node scripts/run.js scripts/bench/past.ts [NODES] [DAYS]`. Each node changes four times a day, to what many others run.
 */

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { openForReading } from '../../src/db/open-reading.ts';
import { readingPastPage, readingPastSlice } from '../../src/db/read-past.ts';
import { DAY } from '../../src/lib/clock.ts';
import { BenchCluster } from './postgres-cluster.ts';

const CHANGES_A_DAY = 4;
const NOW = Date.UTC(2026, 11, 1);

const [nodes = 1_000, days = 40] = process.argv.slice(2).map(Number);

async function measure(engine: string, databaseUrl: string | null): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hawser-past-'));
  const place = { dataDir, databaseUrl };
  const database = await openDatabase(place);
  try {
    await fillNodes(database);
    const before = await sizeOf(database, dataDir);
    const began = performance.now();
    await fillPast(database);
    const rows = nodes * days * CHANGES_A_DAY;
    const perRow = ((await sizeOf(database, dataDir)) - before) / rows;
    const took = performance.now() - began;
    const reading = openForReading(place);
    const at = NOW - (days / 2) * DAY;
    const time = async (work: () => unknown) => {
      const times: number[] = [];
      for (let turn = 0; turn < 5; turn += 1) {
        const start = performance.now();
        await work();
        times.push(performance.now() - start);
      }
      return Math.round(times.sort((a, b) => a - b)[2] ?? 0);
    };
    const page = await time(() => reading.read(readingPastPage({ at }, { take: 100, skip: 0 })));
    const one = await time(() =>
      reading.read(readingPastPage({ at, configurationName: 'c', version: '1.0.7' }, { take: 100, skip: 0 })),
    );
    const slice = await time(() => reading.read(readingPastSlice({ at }, { after: null, nodes: 2_000 })));
    await reading.close();
    process.stdout.write(
      `${engine}: ${rows} rows, ${perRow.toFixed(0)} bytes a row, ${Math.round((took / rows) * 1_000)} us to write one, ` +
        `a page with the total ${page} ms, of one version ${one} ms, a slice of 2,000 nodes as CSV ${slice} ms\n`,
    );
  } finally {
    await database.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function fillNodes({ write }: Database): Promise<void> {
  await write.transaction().execute(async (trx) => {
    await sql`insert into past_nodes (number, node_id, fqdn)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${nodes})
      select i, 'node-' || i, 'node-' || i || '.example.org' from n`.execute(trx);
  });
}

/** Day by day, so that the rows of one node lie as far apart in time as they do in a fleet. */
async function fillPast({ write }: Database): Promise<void> {
  const step = DAY / CHANGES_A_DAY;
  for (let change = 0; change < days * CHANGES_A_DAY; change += 1) {
    const at = NOW - days * DAY + change * step;
    const checksum = String(change).padStart(64, '0');
    const isLast = change === days * CHANGES_A_DAY - 1;
    await write.transaction().execute(async (trx) => {
      await sql`insert into node_past (node_number, started, ended, checksum, told_at, served_at, declared_at)
        select number, ${at} + number, ${isLast ? null : sql`${at + step} + number`}, ${checksum},
          ${at} + number, ${at + 1_000} + number, ${at + 60_000} + number from past_nodes`.execute(trx);
      await sql`insert into manifests (checksum, configuration_name, is_composite, version, content)
        values (${checksum}, 'c', 0, ${`1.0.${change}`}, '{"parts":[]}')`.execute(trx);
    });
  }
}

async function sizeOf(database: Database, dataDir: string): Promise<number> {
  const { rows } = await sql<{ size: number }>`select 1 as size`.execute(database.read);
  if (database.repositories === null) {
    await sql`pragma wal_checkpoint(truncate)`.execute(database.write).catch(() => rows);
    return statSync(join(dataDir, 'hawser.db')).size;
  }
  const found = await sql<{ size: string }>`select pg_total_relation_size('node_past') as size`.execute(
    database.read,
  );
  return Number(found.rows[0]?.size ?? 0);
}

await measure('SQLite', null);
const cluster = await BenchCluster.make();
try {
  await measure('PostgreSQL', await cluster.newUrl());
} finally {
  await cluster.remove();
}
