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

/** @throws the driver's error */
export async function openSnapshot(databaseUrl: string): Promise<SnapshotReader> {
  const client = await connect(databaseUrl);
  await client.query(BEGIN);
  return {
    read: readerOf(client),
    repositories: new PostgresGitReader((text, values) =>
      attempt(client, async () => (await client.query<unknown[]>({ text, values, rowMode: 'array' })).rows),
    ),
    close: () => client.end(),
  };
}

/** Queries over one connection, which takes them one after the other. */
function readerOf(client: Client): Kysely<Schema> {
  const connection = {
    query: (text: string, parameters: unknown[]) => attempt(client, () => client.query(text, parameters)),
    release: () => undefined,
  };
  const pool = { connect: async () => connection, end: async () => undefined };
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool: pool as never }) });
}

/** A query that fails ends the transaction, so what is read after it is of a later moment. */
async function attempt<T>(client: Client, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await client.query(`rollback; ${BEGIN}`).catch(() => undefined);
    throw error;
  }
}
