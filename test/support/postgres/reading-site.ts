/** The same small fleet in a database of each engine, for tests of what is read of it. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, PostgresDialect } from 'kysely';
import { migrate } from '../../../src/db/migrate.ts';
import { EVIDENCE, type Evidence } from '../../../src/db/node-tables.ts';
import { openForReading } from '../../../src/db/open-reading.ts';
import { Connections } from '../../../src/db/postgres/connections.ts';
import { MIGRATIONS } from '../../../src/db/postgres/migrations.ts';
import type { ReadingDatabase } from '../../../src/db/reading.ts';
import type { Schema } from '../../../src/db/schema.ts';
import { openSqlite } from '../../../src/db/sqlite/open.ts';
import { newDatabase } from '../postgres.ts';

export interface ReadSite {
  write: Kysely<Schema>;
  reading: ReadingDatabase;
  close(): Promise<void>;
}

export async function siteOnSqlite(): Promise<ReadSite> {
  const dataDir = mkdtempSync(join(tmpdir(), 'hawser-reading-'));
  const database = await openSqlite(dataDir);
  const reading = openForReading({ dataDir, databaseUrl: null });
  return {
    ...{ write: database.write, reading },
    async close() {
      await reading.close();
      await database.close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

export interface PostgresSite extends ReadSite {
  /** The name of the database. */
  name: string;
}

export async function siteOnPostgres(): Promise<PostgresSite> {
  const { url, name, drop } = await newDatabase();
  const pool = (await Connections.load(url)).pool(2);
  const write = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  await migrate(write, MIGRATIONS);
  const reading = openForReading({ dataDir: '/nonexistent', databaseUrl: url });
  return {
    ...{ write, reading, name },
    async close() {
      await reading.close();
      await write.destroy();
      await drop();
    },
  };
}

const AT = 1_700_000_000_000;
const MADE = { created_at: AT, updated_at: AT };
/** PostgreSQL takes so many rows of nodes in one statement. */
const ROWS = 1_000;
const CHECKSUMS = ['a', 'b', 'c'].map((digit) => digit.repeat(64));

/** The configuration `web` and the composite `stack` are what most nodes have. */
export async function fill(write: Kysely<Schema>, nodeCount: number): Promise<void> {
  await fillRegistry(write);
  const numbers = Array.from({ length: nodeCount }, (_, number) => number);
  for (let from = 0; from < nodeCount; from += ROWS) await addNodes(write, numbers.slice(from, from + ROWS));
  const manifest = (checksum: string | undefined, name: string, version: string) => ({
    ...{ checksum: checksum as string, configuration_name: name, version, is_composite: 0 },
    content: JSON.stringify({ parts: [{ configurationName: name, version }] }),
    ...{ bundle_digest: null, first_served_at: null },
  });
  await write
    .insertInto('manifests')
    .values([manifest(CHECKSUMS[0], 'web', '1.0.0'), manifest(CHECKSUMS[1], 'db', '2.0.0')])
    .execute();
}

async function fillRegistry(write: Kysely<Schema>): Promise<void> {
  const named = (name: string) => ({ id: name, name, name_key: name, description: null, ...MADE });
  await write
    .insertInto('configurations')
    .values([
      { ...named('web'), use_server_managed_parameters: 1, has_parameters: 1 },
      { ...named('db'), use_server_managed_parameters: 0, has_parameters: 0 },
    ])
    .execute();
  await write
    .insertInto('composites')
    .values({ ...named('stack'), entry_point: 'main.dsc.yaml' })
    .execute();
  const type = { is_system: 0, value_mode: 'Restricted' } as const;
  await write
    .insertInto('scope_types')
    .values([
      { ...named('region'), ...type, precedence: 3, is_enabled: 1 },
      { ...named('ring'), ...type, precedence: 2, is_enabled: 1 },
      { ...named('off'), ...type, precedence: 4, is_enabled: 0 },
    ])
    .execute();
  for (const [typeId, value] of VALUES)
    await write
      .insertInto('scope_values')
      .values({
        ...{ id: `${typeId}-${value}`, scope_type_id: typeId, value, value_key: value.toLowerCase() },
        ...{ description: null, ...MADE },
      })
      .execute();
}

const VALUES = [
  ['region', 'north'],
  ['region', 'Süd'],
  ['ring', '1'],
  ['off', 'x'],
] as const;

/** What a node has depends on its number alone. */
export async function addNodes(write: Kysely<Schema>, numbers: readonly number[]): Promise<void> {
  const node = { status: 'Unknown', lcm_status: 'Unknown', created_at: AT, configuration_source: null };
  const unset = {
    ...{ configuration_mode: null, configuration_mode_interval: null, configuration_mode_interval_ms: null },
    ...{ report_compliance: null, desired_configuration_mode: null, desired_report_compliance: null },
    desired_configuration_mode_interval: null,
  };
  const nodes = numbers.map((number) => ({ ...node, ...unset, id: `n${number}`, fqdn: fqdnOf(number) }));
  await write.insertInto('nodes').values(nodes).execute();
  await write.insertInto('assignments').values(numbers.flatMap(assignmentsOf)).execute();
  await write.insertInto('node_tags').values(numbers.flatMap(tagsOf)).execute();
  await write
    .insertInto('node_running')
    .values(numbers.filter((number) => number % 7 > 0).map(runningOf))
    .execute();
  const outcomes = numbers
    .filter((number) => number % 7 > 3 && number % 4 < 3)
    .map((number) => ({
      ...{ node_id: `n${number}`, checksum: runningOf(number).checksum as string },
      ...{ had_errors: number % 2, lcm_failed: Number(number % 11 === 0) },
    }));
  await write.insertInto('node_outcomes').values(outcomes).execute();
}

/** Names whose order differs from that of their numbers, and by the rules of most languages. */
const fqdnOf = (number: number) => `${number % 2 ? 'web' : 'w-e.b'}-${number}.example.org`;

function assignmentsOf(number: number) {
  if (number % 5 === 0) return [];
  const isComposite = number % 5 === 1;
  const isPinned = number % 5 === 2;
  return {
    ...{ node_id: `n${number}`, assigned_at: AT },
    configuration_id: isComposite ? null : number % 5 === 3 ? 'db' : 'web',
    composite_id: isComposite ? 'stack' : null,
    major_version: number % 5 === 4 ? number % 3 : null,
    prerelease_channel: number % 5 === 3 ? 'beta' : null,
    version: isPinned ? '1.0.0' : null,
  };
}

function tagsOf(number: number) {
  const valueIds = VALUES.map(([typeId, value]) => [typeId, `${typeId}-${value}`] as const);
  const own = [
    valueIds[number % 2],
    ...(number % 3 ? [valueIds[2]] : []),
    ...(number % 4 ? [valueIds[3]] : []),
  ];
  return own.flatMap((tag) =>
    tag ? { node_id: `n${number}`, scope_type_id: tag[0], scope_value_id: tag[1], assigned_at: AT } : [],
  );
}

function runningOf(number: number) {
  const checksum = CHECKSUMS[number % 4];
  const told = { node_id: `n${number}`, answered_checksum: CHECKSUMS[0] as string, served_checksum: null };
  if (checksum === undefined) return { ...told, checksum: null, evidence: null, since: null };
  return { ...told, checksum, evidence: EVIDENCE[number % 3] as Evidence, since: AT + number };
}
