/** Writes a row while the disk fails at each flush, and prints the row once its write has returned. */

import { writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import { sql } from 'kysely';
import { openSqlite } from '../../src/db/sqlite/open.ts';

const file = await open(devNull);
const { write } = await openSqlite(process.argv[2] ?? '');
Object.getPrototypeOf(file).datasync = () => Promise.reject(new Error('EIO: made by a test, fdatasync'));
await sql`insert into things values ('seen')`.execute(write);
writeSync(1, 'seen');
