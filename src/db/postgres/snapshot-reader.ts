/** Reads what a PostgreSQL database held at one moment, over one connection. Nothing can be written. */

import { Kysely, PostgresDialect } from 'kysely';
import type { Client } from 'pg';
import type { GitReader } from '../git-tables.ts';
import type { Schema } from '../schema.ts';
import { connect } from './connections.ts';
import { PostgresGitReader } from './git-reader.ts';
import { withoutTimeLimits } from './time-limits.ts';

const BEGIN = `begin isolation level repeatable read read only; ${withoutTimeLimits}`;

export interface SnapshotReader {
  read: Kysely<Schema>;
  repositories: GitReader;
  close(): Promise<void>;
}

/**
 * The moment is that of the first query. Until then no transaction is open, for which a pooler would keep a connection from
 * others.
 * @throws the driver's error
 */
export async function openSnapshot(databaseUrl: string): Promise<SnapshotReader> {
  const client = await connect(databaseUrl);
  const attempt = attemptsOn(client);
  return {
    read: readerOf(client, attempt),
    repositories: new PostgresGitReader((text, values) =>
      attempt(async () => (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows),
    ),
    close: () => client.end(),
  };
}

/** Queries over one connection, which takes them one after the other. */
function readerOf(client: Client, attempt: Attempt): Kysely<Schema> {
  const connection = {
    query: (text: string, parameters: unknown[]) => attempt(() => client.query(text, parameters)),
    release: () => undefined,
  };
  const pool = { connect: async () => connection, end: async () => undefined };
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool: pool as never }) });
}

type Attempt = <T>(work: () => Promise<T>) => Promise<T>;

/** A query that fails ends the transaction, so what is read after it is of a later moment. */
function attemptsOn(client: Client): Attempt {
  let isBegun = false;
  return async (work) => {
    try {
      // The driver carries out one query after the other, so this one goes first.
      const begun = isBegun ? undefined : client.query(BEGIN);
      isBegun = true;
      await begun;
      return await work();
    } catch (error) {
      isBegun = false;
      await client.query('rollback').catch(() => undefined);
      throw error;
    }
  };
}
