import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import { DATABASE_FILE, openSqlite } from '../../../src/db/sqlite/open.ts';
import { holdFlushes } from '../../support/held-flushes.ts';
import type { HeldWrites } from '../../support/held-writes.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('the flush of a commit', () => {
  const folder = temporaryFolder();
  let database: Database;
  let held: HeldWrites;
  let ended: string[];

  beforeEach(async () => {
    database = await openSqlite(folder());
    await sql`create table things (name text primary key)`.execute(database.write);
    ended = [];
    held = holdFlushes();
  });
  afterEach(async () => {
    held.letGo();
    await database.close();
  });

  const insert = (name: string, db = database.write) => sql`insert into things values (${name})`.execute(db);
  /** Notes when a write has returned. */
  const noted = async (name: string, write: Promise<unknown> = insert(name)) => {
    await write;
    ended.push(name);
  };
  const names = async () =>
    (await sql<{ name: string }>`select name from things order by name`.execute(database.read)).rows.map(
      ({ name }) => name,
    );

  it('ends before whoever made the commit goes on, and holds up no other write and no read', async () => {
    const first = noted('first');
    await held.isHeld;
    const second = noted(
      'second',
      database.write.transaction().execute((trx) => insert('second', trx)),
    );
    await noted('note', insert('note', database.noteUnflushed));
    expect(await names()).to.deep.equal(['first', 'note', 'second']);
    expect(ended).to.deep.equal(['note']);
    held.letGo();
    await Promise.all([first, second]);
  });

  it('is not waited for by a commit that may be lost, by one that was undone, and by a read', async () => {
    await insert('unflushed', database.writeUnflushed);
    const undone = database.write.transaction().execute(async (trx) => {
      await insert('undone', trx);
      throw new Error('on purpose');
    });
    expect(await undone.catch(({ message }: Error) => message)).to.equal('on purpose');
    await sql`select name from things`.execute(database.write);
    expect(await names()).to.deep.equal(['unflushed']);
    // One that is asked for waits.
    const flushed = noted('flushed', database.flush());
    await held.isHeld;
    expect(ended).to.deep.equal([]);
    held.letGo();
    await flushed;
  });

  it('counts only for what was committed before it began', async () => {
    const first = noted('first');
    await held.isHeld;
    const letFirstGo = held.letGo;
    const second = noted('second');
    // The first flush waits for its own gate, and the second one will meet this.
    held = holdFlushes();
    letFirstGo();
    await first;
    await held.isHeld;
    expect(ended).to.deep.equal(['first']);
    held.letGo();
    await second;
  });

  it('ends the process if the disk fails, and the next start flushes what the log holds', async () => {
    held.letGo();
    await database.close();
    const program = join(import.meta.dirname, '../../support/failing-flush.js');
    const child = spawn(process.execPath, [program, folder()]);
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    expect([out, code]).to.deep.equal(['', 1]);
    expect(err).to.contain('hawser.db-wal could not be flushed; look at the disk, and start again');
    database = await openSqlite(folder());
    // The file must hold it without its log.
    copyFileSync(folder(DATABASE_FILE), folder('copy.db'));
    const file = new SqliteDatabase(folder('copy.db'));
    expect(file.prepare('select name from things').pluck().all()).to.deep.equal(['seen']);
    file.close();
  });
});
