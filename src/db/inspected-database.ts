/** What is known of a database that is only looked at, whatever its engine. */

import type { Kysely } from 'kysely';
import type { GitReader } from './git-tables.ts';
import type { Schema } from './schema.ts';

export interface InspectedDatabase {
  /** What people call it. It holds no password. */
  name: string;
  /** For reads alone; null if there are no tables. */
  read: Kysely<Schema> | null;
  /** The repositories in PostgreSQL; null where they are folders, and where there are no tables for them. */
  repositories: GitReader | null;
  /** What an error says where there are no tables, with the setting that names the database. */
  absence: string;
  /** What is looked at beside the tables, in a few words; empty where there is nothing to say. */
  scope: string;
  /** Each looks at one thing. One that cannot be done throws, and does not keep the others from being done. */
  looks: readonly (() => Promise<DatabaseFault[]>)[];
  /** What to do where a look cannot be done. */
  remedy: string;
  migrations(): Promise<MigrationState>;
  close(): Promise<void>;
}

/** Something that is wrong with the database as a whole, for its operator. */
export interface DatabaseFault {
  severity: 'error' | 'warning';
  what: string;
  /** What to do. */
  remedy: string;
}

export interface MigrationState {
  /** The migrations that the next start will run. */
  pending: readonly string[];
  /** Migrations of a newer release than this one. */
  unknown: readonly string[];
  /** The oldest release that may use the database, if this one is older than that. */
  neededRelease: string | null;
  /**
   * Why this release cannot use the database: a newer one has made it, or the list of its migrations has a gap, so that
   * it is damaged. Null where a start can use it.
   */
  hindrance: 'newer release' | 'gap' | null;
}
