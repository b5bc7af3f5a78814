/** Reads another program's PostgreSQL database, over one connection and in one transaction. */

import type { QueryArrayResult } from 'pg';
import { type DatabaseUrl, describeDatabaseUrl } from '../../lib/database-url.ts';
import { HawserError } from '../../lib/errors.ts';
import { columnsByTable, type ForeignTables, type ForeignValue, quoteName } from '../foreign-tables.ts';
import { connect } from './connections.ts';
import { withoutTimeLimits } from './time-limits.ts';

/** The database, the user and the cluster may each have a time zone and styles of their own, which must not count. */
const BEGIN = `begin isolation level repeatable read read only; ${withoutTimeLimits};
  set local timezone = 'UTC'; set local datestyle = 'ISO, YMD'; set local intervalstyle = 'postgres';
  set local extra_float_digits = 1`;

const COLUMNS = `
  select relname::text, attname::text from pg_class join pg_attribute on attrelid = pg_class.oid
  where relkind in ('r', 'p', 'v', 'm', 'f') and pg_table_is_visible(pg_class.oid)
    and attnum > 0 and not attisdropped
    and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`;

/** @throws HawserError `source_unreadable`, or what `work` throws */
export async function readForeignPostgres<T>(
  { url, address }: { url: string; address: DatabaseUrl },
  work: (tables: ForeignTables) => Promise<T>,
): Promise<T> {
  const fail = (how: string) => (error: NodeJS.ErrnoException) => {
    // The error of a name with several addresses has no message.
    const why = error.message || error.code;
    throw new HawserError(
      'unavailable',
      'source_unreadable',
      `The ${describeDatabaseUrl(address)} ${how} (${why})`,
    );
  };
  const client = await connect(url).catch(fail('cannot be opened'));
  try {
    const query = async (text: string): Promise<ForeignValue[][]> => {
      const result: QueryArrayResult<ForeignValue[]> = await client
        .query<ForeignValue[]>({ text, rowMode: 'array' })
        .catch(fail('cannot be read'));
      return result.rows;
    };
    await client.query(BEGIN).catch(fail('cannot be read'));
    const pairs = (await query(COLUMNS)).map(([table, column]) => [String(table), String(column)] as const);
    return await work({
      columns: columnsByTable(pairs),
      rows: (table, columns) =>
        query(
          `select ${columns.map((name) => `${quoteName(name)}::text`).join(', ')} from ${quoteName(table)}`,
        ),
      count: async (table) => Number((await query(`select count(*) from ${quoteName(table)}`))[0]?.[0]),
    });
  } finally {
    await client.end().catch(() => undefined);
  }
}
