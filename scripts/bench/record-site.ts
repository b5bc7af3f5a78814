/** A server whose database holds many nodes, reports and status events, which are written directly into it. */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase, { type Database as SqliteHandle } from 'better-sqlite3';
import { DAY } from '../../src/lib/clock.ts';
import { newId, newOrderedId } from '../../src/lib/ids.ts';
import type { Client } from '../../test/support/client.ts';
import { type ConnectingNode, makeFleet, makeIdentities } from './fleet.ts';
import type { Endpoint } from './messages.ts';
import { signIn } from './probe.ts';
import type { Processes, ServerProcess } from './processes.ts';

const CONFIGURATIONS = 10;
const EVENTS_PER_NODE = 2;
/** The records are spread over this time; the last one is from now. */
const PERIOD = 90 * DAY;
const RESULT = JSON.stringify({ hadErrors: false, results: [], messages: ['x'.repeat(1_024)] });

/** The same number on both sides, so that a list finds the same wherever possible. */
export const RARE_NODES = 20;
export const RECORDS_OF_ONE = 100;

/** What the reports say; each outcome is equally frequent. */
const OUTCOMES = [
  ['Test', 1, 0],
  ['Test', 0, 0],
  ['Set', 1, 0],
  ['Test', null, 1],
  ['Set', 0, 1],
  ['Test', 1, 0],
  ['Get', null, 0],
  ['Test', 1, 0],
] as const;

export interface RecordSize {
  nodes: number;
  reports: number;
  /** How many of these reports belong to the busy node, which also has the same number of events. */
  reportsOfBusy: number;
}

export interface RecordSite {
  server: ServerProcess;
  endpoint: Endpoint;
  client: Client;
  /** A node that can connect. */
  polling: ConnectingNode;
  /** The id of the scope value with which a third of the nodes are tagged. */
  tag: string;
  size: RecordSize;
  /** The node with `RECORDS_OF_ONE` reports and the same number of events. */
  oneNode: string;
  /** The node with `reportsOfBusy` of each. */
  busyNode: string;
  /** The time of the newest record, in epoch milliseconds. */
  end: number;
}

export async function makeRecordSite(
  folder: string,
  template: string,
  processes: Processes,
  size: RecordSize,
): Promise<RecordSite> {
  mkdirSync(folder);
  const { nodes } = size;
  const fleet = await makeFleet(
    folder,
    template,
    { configurations: CONFIGURATIONS, nodes },
    await makeIdentities(1),
  );
  const [polling] = fleet.connecting;
  if (polling === undefined) throw new Error('no node of the site can connect');
  const [oneNode = '', busyNode = ''] = fleet.oneNodeEach;
  const end = Date.now();
  const tag = newId();
  fill(join(folder, 'data/hawser.db'), size, [oneNode, busyNode], end, tag);
  const server = await processes.startHawser(folder);
  const { endpoint } = server;
  return { server, endpoint, client: await signIn(endpoint), polling, tag, size, oneNode, busyNode, end };
}

/** Uses statements of the SQLite library itself, because the query builder would take minutes for a million rows. */
function fill(
  file: string,
  size: RecordSize,
  [oneNode, busyNode]: [string, string],
  end: number,
  tag: string,
): void {
  const db = new SqliteDatabase(file);
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -262144');
  db.transaction(() => {
    setStatuses(db);
    spread(db, end);
    tagThird(db, tag, end);
    const ids = db.prepare<[], string>('select id from nodes order by id').pluck().all();
    const others = ids.filter((id) => id !== oneNode && id !== busyNode);
    const { reports, reportsOfBusy } = size;
    insertReports(db, ownersOf(reports, others, [oneNode, busyNode], reportsOfBusy), end);
    const events = Math.max(EVENTS_PER_NODE * size.nodes, reportsOfBusy + RECORDS_OF_ONE);
    insertEvents(db, ownersOf(events, others, [oneNode, busyNode], reportsOfBusy), end);
  })();
  // This leaves the database as on a server that has run for a while.
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

/** Half of the nodes are Compliant, a few have an error, and the rest stays Unknown. */
function setStatuses(db: SqliteHandle): void {
  db.exec("update nodes set status = 'Compliant' where rowid % 2 = 0");
  db.exec(`update nodes set status = 'Error', lcm_status = 'Error'
    where id in (select id from nodes order by id limit ${RARE_NODES})`);
}

/**
 * Spreads what a real fleet has spread. One node of 25 has not called for a day, one certificate of 30 ends soon, and of
 * half of the nodes it is known what they were told.
 */
function spread(db: SqliteHandle, end: number): void {
  db.exec(`update nodes set created_at = created_at - number * 7;
    update node_check_ins set last_check_in = ${end} - rowid * 37 % 600000 - iif(rowid % 25 = 0, ${DAY}, 0);
    update node_certificates set not_after = ${end} + ${10 * DAY} + rowid where rowid % 30 = 0;
    insert into node_running (node_id, checksum, evidence, since)
      select id, number % 100, 'Told', ${end} from nodes where number % 2 = 0;`);
}

function tagThird(db: SqliteHandle, tag: string, now: number): void {
  const type = newId();
  db.prepare(`insert into scope_types
    (id, name, name_key, precedence, is_system, is_enabled, value_mode, created_at, updated_at)
    values (?, 'Site', 'site', 9, 0, 1, 'Unrestricted', ?, ?)`).run(type, now, now);
  db.prepare(`insert into scope_values (id, scope_type_id, value, value_key, created_at, updated_at)
    values (?, ?, 'berlin', 'berlin', ?, ?)`).run(tag, type, now, now);
  db.prepare(`insert into node_tags (node_id, scope_type_id, scope_value_id, assigned_at)
    select id, ?, ?, ? from nodes where number % 3 = 0`).run(type, tag, now);
}

/**
 * The node of each record, and its place in the time. The records of the two special nodes are spread evenly among
 * all others.
 */
function* ownersOf(
  count: number,
  others: readonly string[],
  [oneNode, busyNode]: [string, string],
  ofBusy: number,
): Generator<{ nodeId: string; at: number }> {
  let [one, busy, other] = [0, 0, 0];
  for (let index = 0; index < count; index += 1) {
    const at = (index + 1) / count;
    if (one < Math.floor(at * RECORDS_OF_ONE)) {
      one += 1;
      yield { nodeId: oneNode, at };
    } else if (busy < Math.floor(at * ofBusy)) {
      busy += 1;
      yield { nodeId: busyNode, at };
    } else {
      yield { nodeId: others[other % others.length] ?? '', at };
      other += 1;
    }
  }
}

type Owners = Iterable<{ nodeId: string; at: number }>;

function insertReports(db: SqliteHandle, owners: Owners, end: number): void {
  const insert = db.prepare(`insert into reports
    (id, node_id, timestamp, operation, in_desired_state, had_errors, result) values (?, ?, ?, ?, ?, ?, ?)`);
  let index = 0;
  for (const { nodeId, at } of owners) {
    const timestamp = timeOf(at, end);
    const outcome = OUTCOMES[scattered(index) % OUTCOMES.length] ?? OUTCOMES[0];
    insert.run(newOrderedId(timestamp), nodeId, timestamp, ...outcome, RESULT);
    index += 1;
  }
}

/**
 * Always gives the same order, which is independent of the order of the nodes (multiplicative hashing, Knuth, TAOCP
 * 6.4).
 */
function scattered(index: number): number {
  return Math.imul(index, 0x9e3779b1) >>> 16;
}

function insertEvents(db: SqliteHandle, owners: Owners, end: number): void {
  const insert = db.prepare('insert into status_events (node_id, status, timestamp) values (?, ?, ?)');
  for (const { nodeId, at } of owners) insert.run(nodeId, 'Compliant', timeOf(at, end));
}

function timeOf(at: number, end: number): number {
  return Math.round(end - (1 - at) * PERIOD);
}
