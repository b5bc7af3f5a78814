/** Looks at a PostgreSQL database without changing anything, beside a running server or without one. */

import type { Client } from 'pg';
import { SECOND } from '../../lib/clock.ts';
import { type DatabaseUrl, describeDatabaseUrl, isRemote, parseDatabaseUrl } from '../../lib/database-url.ts';
import type { DatabaseFault, InspectedDatabase } from '../inspected-database.ts';
import { compareMigrations } from '../migrate.ts';
import { connect } from './connections.ts';
import { MIGRATIONS } from './migrations.ts';
import { openSnapshot } from './snapshot-reader.ts';

const START = 'see whether HAWSER_DATABASE_URL is that of the server, which makes them at its start';
const MIGRATION_NAMES = Object.keys(MIGRATIONS);
const OLDEST_VERSION = 15;
/** The connections that one server takes at most. */
const BUDGET = 10;
/** Milliseconds. A larger difference makes the times of logs hard to compare. */
const CLOCK_TOLERANCE = 5 * SECOND;

const MIGRATED = `select to_regclass('kysely_migration') is not null as "isMigrated",
  to_regclass('servers') is not null as "isShared"`;
/** The releases of the servers that are there. */
const SERVERS = `select version, count(*)::integer as count from servers
  where seen_at >= now() - interval '1 minute' group by version order by version`;
const SETTINGS = `
  select current_setting('server_version_num')::integer / 10000 as version,
    current_setting('server_encoding') as encoding,
    current_setting('synchronous_commit') as "synchronousCommit",
    pg_is_in_recovery() as "isStandby"`;
/** What PostgreSQL, the database and the role allow, and how many connections others than this user's have there. */
const CONNECTIONS = `
  select current_setting('max_connections')::integer
      - current_setting('superuser_reserved_connections')::integer as max,
    (select count(*) from pg_stat_activity where backend_type = 'client backend'
      and (datname, usename) is distinct from (current_database(), current_user)) as others,
    (select datconnlimit from pg_database where datname = current_database()) as "ofDatabase",
    (select rolconnlimit from pg_roles where rolname = current_user) as "ofRole"`;

/** @throws Error if PostgreSQL cannot be reached, or does not let this program in */
export async function inspectPostgres(databaseUrl: string): Promise<InspectedDatabase> {
  const url = parseDatabaseUrl(databaseUrl);
  const name = describeDatabaseUrl(url);
  const client = await connect(databaseUrl).catch((error: NodeJS.ErrnoException) => {
    // The error of a name with several addresses has no message.
    const why = error.message || error.code;
    throw new Error(`HAWSER_DATABASE_URL: PostgreSQL cannot be reached (${why})`, { cause: error });
  });
  try {
    const { isMigrated, isShared } = await readRow<{ isMigrated: boolean; isShared: boolean }>(
      client,
      MIGRATED,
    );
    await client.query('set default_transaction_read_only = on');
    const { read, repositories, close } = await openSnapshot(databaseUrl);
    return {
      name,
      read: isMigrated ? read : null,
      repositories: isShared ? repositories : null,
      absence: `HAWSER_DATABASE_URL: there are no tables of Hawser in ${name}`,
      scope: '',
      looks: [
        async () => judgeTransport(url),
        () => findSettings(client),
        () => findConnections(client, isShared),
        () => findVersions(client, isShared),
        () => findClock(client),
        () => findPooler(client, databaseUrl),
        async () => (isMigrated ? [] : [fault('it holds no tables of Hawser', START)]),
      ],
      remedy: 'see the log of PostgreSQL',
      migrations: async () =>
        isMigrated
          ? compareMigrations(read, MIGRATION_NAMES)
          : { pending: MIGRATION_NAMES, unknown: [], neededRelease: null, hindrance: null },
      close: async () => {
        await close();
        await client.end();
      },
    };
  } catch (error) {
    await client.end();
    throw error;
  }
}

function judgeTransport(url: DatabaseUrl): DatabaseFault[] {
  if (!isRemote(url) || url.sslMode !== 'disable') return [];
  const what = 'the connection goes to another machine in the clear, with the password and everything kept';
  return [warning(what, 'add sslmode=verify-full to HAWSER_DATABASE_URL')];
}

async function findSettings(client: Client): Promise<DatabaseFault[]> {
  const found = await readRow<{
    version: number;
    encoding: string;
    synchronousCommit: string;
    isStandby: boolean;
  }>(client, SETTINGS);
  const faults: DatabaseFault[] = [];
  if (found.version < OLDEST_VERSION)
    faults.push(
      fault(`it is PostgreSQL ${found.version}`, `PostgreSQL ${OLDEST_VERSION} or later is needed`),
    );
  if (found.encoding !== 'UTF8')
    faults.push(fault(`its encoding is ${found.encoding}`, "make a database with encoding 'UTF8'"));
  if (found.isStandby)
    faults.push(fault('it is a standby, which cannot be written', 'name the primary in HAWSER_DATABASE_URL'));
  if (found.synchronousCommit === 'off') {
    const what = 'synchronous_commit is off: a crash of PostgreSQL loses changes that were acknowledged';
    faults.push(warning(what, 'set synchronous_commit to on for this database and this user'));
  }
  if (found.synchronousCommit === 'local') {
    const what =
      'synchronous_commit is local: a failover to a standby may lose changes that were acknowledged';
    faults.push(warning(what, 'set synchronous_commit to on for this database and this user'));
  }
  return faults;
}

/** The servers that are there, by release. */
async function listVersions(
  client: Client,
  isShared: boolean,
): Promise<{ version: string; count: number }[]> {
  return isShared ? (await client.query<{ version: string; count: number }>(SERVERS)).rows : [];
}

async function findVersions(client: Client, isShared: boolean): Promise<DatabaseFault[]> {
  const versions = await listVersions(client, isShared);
  if (versions.length < 2) return [];
  const what = `servers of several releases use it: ${versions
    .map(({ version, count }) => `${count} of ${version}`)
    .join(', ')}`;
  return [warning(what, 'bring all of them to the newest of these releases')];
}

async function findConnections(client: Client, isShared: boolean): Promise<DatabaseFault[]> {
  const servers = (await listVersions(client, isShared)).reduce((sum, { count }) => sum + count, 0);
  const budget = BUDGET * Math.max(1, servers);
  const { max, others, ofDatabase, ofRole } = await readRow<{
    max: number;
    others: number;
    ofDatabase: number;
    ofRole: number;
  }>(client, CONNECTIONS);
  // A limit below zero means that there is none.
  const limits = [ofDatabase, ofRole].filter((limit) => limit >= 0);
  const left = Math.min(max - others, ...limits);
  if (left >= budget) return [];
  const takers = servers > 1 ? `${servers} servers take up to ${budget}` : `a server takes up to ${budget}`;
  const what = `there is room for ${left} connections beside those of others; ${takers}`;
  return [warning(what, 'raise max_connections, or the limit of the database or the user')];
}

async function findClock(client: Client): Promise<DatabaseFault[]> {
  const before = Date.now();
  const { now } = await readRow<{ now: number }>(
    client,
    'select extract(epoch from clock_timestamp())::float8 * 1000 as now',
  );
  const behind = before - now;
  const ahead = now - Date.now();
  const difference = Math.max(behind, ahead);
  if (difference <= CLOCK_TOLERANCE) return [];
  const direction = behind > ahead ? 'behind' : 'ahead of';
  const what = `its clock is ${Math.round(difference / SECOND)} s ${direction} the one of this machine`;
  return [warning(what, 'let both machines take the time from the same servers (NTP)')];
}

/**
 * A pooler that gives a connection of PostgreSQL to another client after each transaction would take away locks and settings.
 * Two clients that are both connected then share a process of PostgreSQL, or one client has two.
 */
async function findPooler(client: Client, databaseUrl: string): Promise<DatabaseFault[]> {
  const other = await connect(databaseUrl);
  try {
    const first = await processOf(client);
    await other.query('begin');
    const isShared = (await processOf(other)) === first;
    // A pooler with one connection alone would let this wait for the end of the other's transaction.
    const isKept = isShared || (await processOf(client)) === first;
    await other.query('rollback');
    if (!isShared && isKept) return [];
    const what = 'a pooler in front of it gives connections to others after each transaction';
    return [fault(what, 'use a pooler in session mode (pool_mode = session), or none')];
  } finally {
    await other.end();
  }
}

async function processOf(client: Client): Promise<number> {
  return (await readRow<{ pid: number }>(client, 'select pg_backend_pid() as pid')).pid;
}

async function readRow<R extends object>(client: Client, text: string): Promise<R> {
  const [row] = (await client.query<R>(text)).rows;
  if (row === undefined) throw new Error('PostgreSQL gave no row');
  return row;
}

function fault(what: string, remedy: string): DatabaseFault {
  return { severity: 'error', what, remedy };
}

function warning(what: string, remedy: string): DatabaseFault {
  return { severity: 'warning', what, remedy };
}
