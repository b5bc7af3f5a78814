/** Opens a PostgreSQL database: the handles of its lanes, its locks, its change feed and the reads of polls. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { ConfigError } from '../../config.ts';
import { SECOND } from '../../lib/clock.ts';
import { HawserError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { READ_WATCH } from '../../lib/request-parts.ts';
import type { Database } from '../database.ts';
import { migrate } from '../migrate.ts';
import { NodeLookup } from '../node-lookup.ts';
import { NodeNames } from '../node-names.ts';
import type { Schema } from '../schema.ts';
import { raiseGeneration, WriteHealth } from '../write-health.ts';
import { UNWATCHED, type WriteWatch } from '../write-watch.ts';
import { Afterwards } from './afterwards.ts';
import { PostgresChangeFeed } from './change-feed.ts';
import { Connections } from './connections.ts';
import { LaneHandle } from './dialect.ts';
import { databaseAway, isLost, isPostgresError } from './errors.ts';
import { PostgresGitTables } from './git-tables.ts';
import { Keeper } from './keeper.ts';
import { LeadLeases } from './lead.ts';
import { Line } from './line.ts';
import { MIGRATIONS } from './migrations.ts';
import { PostgresNodeReader } from './node-reader.ts';
import { askOutcome } from './outcome.ts';
import { Sections } from './sections.ts';
import type { Lane, Taken } from './work.ts';

/** The connections of a server: those for writes, for reads, one for the tick, one for locks, and one of its thread. */
const WRITES = 5;
const READS = 2;
/** So many sections leave connections for check-ins, reports and evidence. */
const SECTIONS = 3;

/** The oldest PostgreSQL that has all that is used here. */
const OLDEST = 15;
/** A server that starts together with its database waits for it for so many milliseconds. */
const PATIENCE = 60 * SECOND;
const PAUSE = 1 * SECOND;
/** Without an answer for so many milliseconds the server is not ready. */
const UNREADY = 2 * SECOND;

const LANES = {
  write: { takesTurns: true, isFlushed: true },
  writeNow: { takesTurns: false, isFlushed: true },
  writeUnflushed: { takesTurns: true, isFlushed: false },
  noteUnflushed: { takesTurns: false, isFlushed: false },
} as const satisfies Record<string, Lane>;

export interface PostgresOptions {
  watch?: WriteWatch;
  log?: Log | null;
}

/**
 * Opens the database and migrates it. While it cannot be reached, it is tried again for 60 s.
 * @throws ConfigError if PostgreSQL refuses the user, the password or the database, or is too old
 * @throws HawserError unavailable after 60 s; what `migrate` throws
 */
export async function openPostgres(
  url: string,
  { watch = UNWATCHED, log = null }: PostgresOptions = {},
): Promise<Database> {
  const connections = await Connections.load(url);
  const first = connections.pool(1);
  try {
    await waitForServer(first, log);
    // A migration of a large table takes longer than other statements may, and so does waiting for that of another server.
    await first.query('set statement_timeout = 0');
    await migrate(new Kysely<Schema>({ dialect: new PostgresDialect({ pool: first }) }), MIGRATIONS);
  } finally {
    await first.end();
  }
  return assemble(connections, { watch, log });
}

async function assemble(
  connections: Connections,
  { watch, log }: Required<PostgresOptions>,
): Promise<Database> {
  const writes = connections.pool(WRITES);
  const reads = connections.pool(READS);
  const changes = new PostgresChangeFeed(connections, log);
  await changes.catchUp('now');
  const health = new WriteHealth();
  const connectTo = connecting(connections, changes);
  const takeFrom = async (pool: Pool): Promise<Taken> => {
    const client = await connectTo(pool);
    return { client, giveBack: (isLost) => client.release(isLost) };
  };
  const keeper = new Keeper(connections);
  const leases = new LeadLeases(keeper);
  const afterwards = new Afterwards(log);
  const catchUp = async () => changes.catchUp('now');
  const locks = new Sections({ connect: () => connectTo(writes), max: SECTIONS, keeper, catchUp });
  const [turns, notes] = [new Line(), new Line()];
  const sharedBy = (lane: Lane) => ({
    lane,
    line: null,
    askOutcome: askOutcome(connections),
    leaseOf: () => leases.current,
    onCommit: (isKnown: boolean) => {
      // What goes by no turn changes nothing that a node gets, so polls need not wait until it is read.
      if (lane.takesTurns) changes.markStale();
      if (!isKnown) changes.forget();
    },
    health,
  });
  const takeToWrite = async () => (await locks.take()) ?? takeFrom(writes);
  const writing = (lane: Lane, line: Line | null = lane.takesTurns ? turns : notes) =>
    new LaneHandle(writes, { ...sharedBy(lane), line, watch, take: takeToWrite });
  const [write, writeNow] = [writing(LANES.write), writing(LANES.writeNow)];
  const read = new LaneHandle(reads, {
    ...sharedBy(LANES.writeNow),
    watch: READ_WATCH,
    take: () => takeFrom(reads),
  });
  const noteUnflushed = writing(LANES.noteUnflushed);
  // Objects are large, and take no lock of others.
  const objects = writing(LANES.noteUnflushed, null);
  const query = queryOn(() => connectTo(reads));
  const reader = new PostgresNodeReader(query);
  return {
    write,
    transact: (work) => write.transaction().execute(work),
    writeNow,
    writeUnflushed: writing(LANES.writeUnflushed),
    noteUnflushed,
    flush: async () => void (await raiseGeneration(write)),
    read,
    nodeLookup: new NodeLookup(reader, changes, true),
    nodeNames: new NodeNames(reader, changes),
    changes,
    repositories: new PostgresGitTables(query, { write, writeNow, noteUnflushed: objects }),
    locks,
    claimLead: (server) => leases.claim(server),
    requireWritable: async () => changes.requireHere(),
    async requireReadable() {
      if (changes.silence > UNREADY) throw databaseAway();
    },
    // It settles what was written before, whoever leads now.
    onceBack: (work) => leases.outside(() => void afterwards.run(work)),
    writeFault: () => health.faultOf(writeNow),
    async close() {
      afterwards.close();
      await changes.close();
      await keeper.close();
      // A pool may be ended only once, and a database may be closed again.
      await Promise.all([writes, reads].map((pool) => pool.ending || pool.end()));
    },
  };
}

/** @returns takes a connection from a pool. It throws HawserError unavailable while PostgreSQL is away, or lets nobody in */
function connecting(connections: Connections, changes: PostgresChangeFeed) {
  return async (pool: Pool): Promise<PoolClient> => {
    changes.requireHere();
    try {
      return await changes.whileHere(pool.connect(), (client) => client.release());
    } catch (error) {
      if (error instanceof HawserError) throw error;
      connections.noteRefused(error);
      throw databaseAway(error);
    }
  };
}

/** Reads over a connection that is taken for one query. */
function queryOn(connect: () => Promise<PoolClient>) {
  return async (text: string, values: unknown[]): Promise<unknown[][]> => {
    const client = await connect();
    let lost = false;
    try {
      return (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows;
    } catch (error) {
      lost = isLost(error);
      throw lost ? databaseAway(error) : error;
    } finally {
      client.release(lost);
    }
  };
}

/** @throws ConfigError if waiting will not help; HawserError unavailable after 60 s */
async function waitForServer(pool: Pool, log: Log | null): Promise<void> {
  const until = performance.now() + PATIENCE;
  for (let isTold = false; ; isTold = true) {
    try {
      return await checkServer(pool);
    } catch (error) {
      refuseSetting(error);
      if (performance.now() + PAUSE > until) throw databaseAway(error);
      if (!isTold) log?.warn({ err: error }, 'PostgreSQL cannot be reached yet; trying again for 60 s');
    }
    await sleep(PAUSE);
  }
}

async function checkServer(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ version: string }>(
    `select current_setting('server_version') as version`,
  );
  const version = rows[0]?.version ?? '';
  if (Number.parseInt(version, 10) < OLDEST)
    throw new ConfigError(
      'HAWSER_DATABASE_URL',
      `its PostgreSQL is ${version}`,
      `PostgreSQL ${OLDEST} or later`,
    );
}

/** The beginnings of codes that say that the URL is wrong: user or password, database, certificate. */
const REFUSED = /^(?:28|3D|42501)/;
const TLS_FAULT = /^(?:ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/;

function refuseSetting(error: unknown): void {
  if (error instanceof ConfigError) throw error;
  const { code = '', message } = error as NodeJS.ErrnoException;
  const isRefused = isPostgresError(error)
    ? REFUSED.test(code)
    : TLS_FAULT.test(code) || /does not support SSL/.test(message);
  if (!isRefused) return;
  const allowed = 'a user, a password and a database that PostgreSQL takes';
  throw new ConfigError('HAWSER_DATABASE_URL', `PostgreSQL does not let the server in (${message})`, allowed);
}
