/** Triggers that tests put on the tables of a server's database: to count writes, and to make them fail. */

import { sql } from 'kysely';
import type { DatabasePlace } from '../../src/db/database.ts';
import { changeRows, withDatabase } from './database.ts';

/** From now on no row can be added to the table. It stands in for a disk that is full just then. */
export async function refuseRows(place: DatabasePlace, table: string): Promise<void> {
  const statements =
    place.databaseUrl === null
      ? [`create trigger test_refusal before insert on ${table} begin select raise(abort, 'refused'); end`]
      : [
          `create function test_refuse() returns trigger language plpgsql as $$ begin raise exception 'refused'; end $$`,
          `create trigger test_refusal before insert on ${table} execute function test_refuse()`,
        ];
  await changeRows(place, ...statements);
}

/** Ends what `refuseRows` began. */
export async function allowRows(place: DatabasePlace, table: string): Promise<void> {
  const statements =
    place.databaseUrl === null
      ? ['drop trigger test_refusal']
      : [`drop trigger test_refusal on ${table}`, 'drop function test_refuse'];
  await changeRows(place, ...statements);
}

/**
 * Counts from now on each time that a row of the table is written, also where it stays the same.
 * @returns a function that gives the count
 */
export async function countRowWrites(place: DatabasePlace, table: string): Promise<() => Promise<number>> {
  const note = (event: string) => `create trigger test_writes_${event} after ${event} on ${table}`;
  const statements =
    place.databaseUrl === null
      ? [
          'create table if not exists test_writes (n integer)',
          'delete from test_writes',
          ...['insert', 'update'].flatMap((event) => [
            `drop trigger if exists test_writes_${event}`,
            `${note(event)} begin insert into test_writes values (1); end`,
          ]),
        ]
      : [
          'create table if not exists test_writes (n integer)',
          'grant all on test_writes to hawser',
          'delete from test_writes',
          `create or replace function test_note() returns trigger language plpgsql as
            $$ begin insert into test_writes values (1); return null; end $$`,
          ...['insert', 'update'].flatMap((event) => [
            `drop trigger if exists test_writes_${event} on ${table}`,
            `${note(event)} for each row execute function test_note()`,
          ]),
        ];
  await changeRows(place, ...statements);
  return () =>
    withDatabase(place, async ({ read }) => {
      const { rows } = await sql`select n from test_writes`.execute(read);
      return rows.length;
    });
}
