/**
 * Writes rows of 400 KB into a database without a pause, until it is killed. Such rows make a checkpoint due every ten
 * commits. Prints the number of each row once its write has returned.
 */

import { writeSync } from 'node:fs';
import { sql } from 'kysely';
import { openSqlite } from '../../src/db/sqlite/open.ts';

const [folder = '', first = '0'] = process.argv.slice(2);
const { write } = await openSqlite(folder);
await sql`create table if not exists things (n integer primary key, content blob)`.execute(write);
for (let n = Number(first); ; n += 1) {
  await sql`insert into things values (${n}, randomblob(400000))`.execute(write);
  // The rows that are overwritten later make checkpoints write to old pages too.
  await sql`delete from things where n <= ${n - 30}`.execute(write);
  writeSync(1, `${n}\n`);
}
