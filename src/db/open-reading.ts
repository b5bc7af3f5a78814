/** Opens the database for a thread that only reads, beside the server that writes it. */

import { join } from 'node:path';
import { Kysely, SqliteDialect } from 'kysely';
import type { ChangeFeed } from './change-feed.ts';
import type { FleetSnapshot } from './fleet-snapshot.ts';
import { readFleet } from './read-fleet.ts';
import { RunningReader } from './read-running.ts';
import type { Schema } from './schema.ts';
import { SqliteChangeFeed } from './sqlite/change-feed.ts';
import { DATABASE_FILE, openReader } from './sqlite/open.ts';
import { PreparedStatements } from './sqlite/prepared-statements.ts';

export interface ReadingDatabase {
  /** A statement sees all that was committed before it began. */
  read: Kysely<Schema>;
  /** Tells of changes when `catchUp` is called. */
  changes: ChangeFeed;
  /** Reads all nodes in a transaction of their own. */
  readFleet(): FleetSnapshot;
  /** Reads what nodes run. */
  running: RunningReader;
  close(): void;
}

/** @throws the driver's error if the file cannot be opened */
export function openForReading(dataDir: string): ReadingDatabase {
  const handle = openReader(join(dataDir, DATABASE_FILE));
  return {
    read: new Kysely<Schema>({ dialect: new SqliteDialect({ database: new PreparedStatements(handle) }) }),
    changes: new SqliteChangeFeed(handle),
    readFleet: () => readFleet(handle),
    running: new RunningReader(handle),
    close: () => void handle.close(),
  };
}
