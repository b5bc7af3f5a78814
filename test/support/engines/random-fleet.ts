/** Fills a database with a random fleet, the same one for the same seed. */

import type { Insertable } from 'kysely';
import type { Db } from '../../../src/db/database.ts';
import type { Schema } from '../../../src/db/schema.ts';
import { DAY, MINUTE } from '../../../src/lib/clock.ts';
import { Random } from '../crash/random.ts';

export const NOW = 1_800_000_000_000;

/** The numbers of things. Some values are so few that many rows have the same. */
const [NODES, REPORTS, ENTRIES] = [120, 900, 600];

export interface RandomFleet {
  nodeIds: string[];
  configurationIds: string[];
  checksums: string[];
}

export async function fillRandomly(db: Db, seed: number): Promise<RandomFleet> {
  const dice = new Dice(seed);
  const configurations = dice.many(6, (at) => ({
    ...named(dice.id(), dice.one(['web', 'Db', 'änd', 'z_%']) + at),
    description: dice.one([null, 'd']),
    use_server_managed_parameters: at % 2,
    ...{ created_at: 1, updated_at: 1 },
  }));
  const composites = dice.many(2, (at) => ({
    ...named(dice.id(), `all${at}`),
    ...{ entry_point: 'main.dsc.yaml', created_at: 1, updated_at: 1 },
  }));
  await insert(db, 'configurations', configurations);
  await insert(db, 'composites', composites);
  const nodes = dice.many(NODES, (at) => ({
    id: dice.id(),
    fqdn: `${dice.one(['web', 'db', 'a_b'])}-${at}.example.${dice.one(['org', 'com'])}`,
    status: dice.one(['Unknown', 'Compliant', 'NonCompliant', 'Error']),
    lcm_status: dice.one(['Unknown', 'Idle', 'Testing']),
    configuration_mode_interval_ms: dice.one([null, MINUTE, 15 * MINUTE, 0.25]),
    created_at: NOW - dice.below(5) * DAY,
  }));
  await insert(db, 'nodes', nodes);
  const [nodeIds, configurationIds] = [nodes.map(({ id }) => id), configurations.map(({ id }) => id)];
  await assign(db, dice, nodeIds, { configurationIds, compositeIds: composites.map(({ id }) => id) });
  await insertRecords(db, dice, nodeIds);
  await insertEntries(db, dice, { nodeIds, configurationIds });
  return { nodeIds, configurationIds, checksums: await run(db, dice, nodeIds) };
}

class Dice extends Random {
  one<T>(items: readonly T[]): T {
    return this.pick(items) as T;
  }

  id(): string {
    const digits = Array.from({ length: 32 }, () => this.below(16).toString(16)).join('');
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  many<T>(count: number, make: (at: number) => T): T[] {
    return Array.from({ length: count }, (_, at) => make(at));
  }
}

const named = (id: string, name: string) => ({ id, name, name_key: name.toLowerCase() });

/** So few rows at once that their values are parameters of one statement on both engines. */
const ROWS_AT_ONCE = 200;

async function insert<T extends keyof Schema & string>(
  db: Db,
  table: T,
  rows: readonly Insertable<Schema[T]>[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
    await db
      .insertInto(table)
      .values(rows.slice(at, at + ROWS_AT_ONCE) as never)
      .execute();
}

async function assign(
  db: Db,
  dice: Dice,
  nodeIds: readonly string[],
  { configurationIds, compositeIds }: { configurationIds: string[]; compositeIds: string[] },
): Promise<void> {
  const some = () => nodeIds.filter(() => dice.below(5) > 0);
  const toAssignment = (node_id: string) => {
    const isComposite = dice.below(4) === 0;
    return {
      node_id,
      configuration_id: isComposite ? null : dice.one(configurationIds),
      composite_id: isComposite ? dice.one(compositeIds) : null,
      major_version: dice.one([null, 1, 2]),
      assigned_at: 1,
    };
  };
  await insert(db, 'assignments', some().map(toAssignment) as never);
  const certificate = { state: 'current', subject: '', not_before: 0, created_at: 0 } as const;
  const toCertificate = (node_id: string) => ({
    ...{ node_id, thumbprint: node_id, sha1_thumbprint: null },
    ...{ ...certificate, not_after: NOW + (dice.below(130) - 10) * DAY },
  });
  await insert(db, 'node_certificates', some().map(toCertificate));
  const ages = [0, 90_000, 20 * MINUTE, 2 * DAY];
  const toCall = (node_id: string) => ({ node_id, last_check_in: NOW - dice.one(ages) });
  await insert(db, 'node_check_ins', some().map(toCall));
}

async function run(db: Db, dice: Dice, nodeIds: readonly string[]): Promise<string[]> {
  const checksums = dice.many(8, () => dice.id());
  const toRunning = (node_id: string) => ({
    ...{ node_id, checksum: dice.one(checksums.slice(2)), evidence: dice.one(['Told', 'Served'] as const) },
    ...{ since: NOW, answered_checksum: dice.one([null, ...checksums]), served_checksum: null },
  });
  await insert(db, 'node_running', nodeIds.slice(20).map(toRunning));
  return checksums;
}

async function insertRecords(db: Db, dice: Dice, nodeIds: readonly string[]): Promise<void> {
  const reports = dice.many(REPORTS, () => ({
    ...{ id: dice.id(), node_id: dice.one(nodeIds), result: '{}' },
    // Many have the same time, and the last ones are not of the last minute.
    timestamp: NOW - 3 * DAY + dice.below(400) * 7 * MINUTE,
    operation: dice.one(['Get', 'Set', 'Test', 'Export'] as const),
    in_desired_state: dice.one([null, 0, 1, 1]),
    had_errors: Number(dice.below(6) === 0),
  }));
  await insert(db, 'reports', reports);
  const toEvent = () => ({
    ...{ node_id: dice.one(nodeIds), lcm_status: null, status: dice.one(['Error', 'Compliant']) },
    timestamp: NOW - dice.below(30) * DAY,
  });
  await insert(db, 'status_events', dice.many(REPORTS, toEvent));
}

async function insertEntries(
  db: Db,
  dice: Dice,
  { nodeIds, configurationIds }: Omit<RandomFleet, 'checksums'>,
): Promise<void> {
  const types = { Node: nodeIds.slice(0, 5), Configuration: configurationIds, Parameters: configurationIds };
  const toEntry = () => {
    const resource_type = dice.one(['Node', 'Configuration', 'Parameters', 'User'] as const);
    const ids: readonly string[] = resource_type === 'User' ? [] : types[resource_type];
    return {
      ...{ id: dice.id(), timestamp: NOW - dice.below(90) * MINUTE, resource_type },
      resource_id: dice.one([null, ...ids, ...ids]),
      ...{ actor_type: 'User' as const, actor_id: dice.one(['a', 'b']), actor_name: null },
      ...{ action: dice.one(['node.tagged', 'node.deleted']), details: null },
      ...{ ip_address: null, request_id: dice.one([null, 'r']) },
    };
  };
  await insert(db, 'audit_entries', dice.many(ENTRIES, toEntry));
}
