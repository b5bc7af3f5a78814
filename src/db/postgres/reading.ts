/**
 * Opens PostgreSQL for a thread that only reads. The thread has one connection, which is made when it is needed, closed
 * after a minute without use, and made anew after a fault.
 */

import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { SECOND } from '../../lib/clock.ts';
import { withinTime } from '../../lib/within-time.ts';
import { ChangeFeed } from '../change-feed.ts';
import { queriesFor, type Reading, type ReadingDatabase, type RowQuery } from '../reading.ts';
import { type ChangesRow, SELECT_CHANGES } from './change-feed.ts';
import { Connections } from './connections.ts';
import { databaseAway, isLost, translatePostgresError } from './errors.ts';
import { PostgresGitReader } from './git-reader.ts';

/** Milliseconds in which PostgreSQL must tell what was changed, with a connection that may have to be made first. */
const ANSWER = 4 * SECOND;
/** Milliseconds for a reading of the whole fleet, some thirty times as long as it takes. */
const WHOLE_READING = 60 * SECOND;
/** So many rows are in memory at a time beside what was made of them. */
const ROWS_AT_ONCE = 10_000;

/** All queries see one moment. PostgreSQL must plan for all rows of a cursor, not for the first of them. */
const BEGIN = 'begin isolation level repeatable read read only; set local cursor_tuple_fraction = 1';

export function openPostgresForReading(url: string): ReadingDatabase {
  const connection = new OwnConnection(url);
  return {
    changes: new AskedFeed(connection),
    repositories: new PostgresGitReader(async (text, values) => {
      const query = { text, values, rowMode: 'array' } as const;
      return (await connection.use(WHOLE_READING, (client) => client.query<unknown[]>(query))).rows;
    }),
    queries: queriesFor({
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    }),
    read: (reading) => connection.use(WHOLE_READING, (client) => carryOut(reading, client)),
    close: () => connection.close(),
  };
}

/** Asks once for each catch-up, and never by itself. It begins at the newest change. */
class AskedFeed extends ChangeFeed {
  private readonly connection: OwnConnection;
  private hasBegun = false;

  constructor(connection: OwnConnection) {
    super();
    this.connection = connection;
  }

  async catchUp(): Promise<void> {
    const after = this.hasBegun ? this.lastChange : Number.MAX_SAFE_INTEGER;
    const { rows } = await this.connection.use(ANSWER, (client) =>
      client.query<ChangesRow>({ ...SELECT_CHANGES, values: [after] }),
    );
    const [generation, accessGeneration, oldest, newest, changes] = rows[0] as ChangesRow;
    if (!this.hasBegun) this.startAt(newest);
    this.hasBegun = true;
    if (this.notePosition([generation, accessGeneration, oldest, newest]) !== null)
      this.reportChanges(changes ?? []);
  }

  readonly markStale = (): void => undefined;
}

async function carryOut<T>(reading: Reading<T>, client: PoolClient): Promise<T> {
  await client.query(BEGIN);
  for (let number = 1; ; number += 1) {
    const step = reading.next();
    if (step.done) {
      await client.query('commit');
      return step.value;
    }
    await takeRows(client, `rows_${number}`, step.value);
  }
}

async function takeRows(
  client: PoolClient,
  cursor: string,
  { sql, values = [], take }: RowQuery,
): Promise<void> {
  let parameter = 0;
  const text = sql.replaceAll('?', () => {
    parameter += 1;
    return `$${parameter}`;
  });
  await client.query(`declare ${cursor} no scroll cursor for ${text}`, [...values]);
  const fetch = { text: `fetch ${ROWS_AT_ONCE} from ${cursor}`, rowMode: 'array' } as const;
  for (;;) {
    const { rows } = await client.query<unknown[]>(fetch);
    for (const row of rows) take(row);
    if (rows.length < ROWS_AT_ONCE) return;
  }
}

class OwnConnection {
  private readonly url: string;
  private opened: Promise<{ connections: Connections; pool: Pool }> | null = null;

  constructor(url: string) {
    this.url = url;
  }

  /**
   * Uses the connection, after those who use it already.
   * @throws HawserError unavailable if PostgreSQL does not answer in time
   */
  async use<T>(milliseconds: number, work: (client: PoolClient) => Promise<T>): Promise<T> {
    this.opened ??= this.open();
    const { connections, pool } = await this.opened;
    try {
      return await withinTime(lend(pool, work), milliseconds);
    } catch (error) {
      // Whatever goes on there is of no use any more.
      connections.breakOff();
      throw isLost(error) ? databaseAway(error) : translatePostgresError(error);
    }
  }

  async close(): Promise<void> {
    if (this.opened !== null) await (await this.opened).pool.end();
  }

  private async open() {
    const connections = await Connections.load(this.url);
    return { connections, pool: connections.pool(1) };
  }
}

async function lend<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let isUsable = false;
  try {
    const value = await work(client);
    isUsable = true;
    return value;
  } finally {
    client.release(!isUsable);
  }
}
