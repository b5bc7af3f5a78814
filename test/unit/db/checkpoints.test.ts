// full: SQLite
import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import { Checkpoints } from '../../../src/db/sqlite/checkpoints.ts';
import { DATABASE_FILE, openSqlite } from '../../../src/db/sqlite/open.ts';
import { LocalLocks } from '../../../src/lib/locks.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const MEGABYTE = 1024 * 1024;

describe('the checkpoints of the database', function () {
  this.timeout(180_000);
  const folder = temporaryFolder();
  let database: Database | undefined;

  afterEach(async () => {
    await database?.close();
    database = undefined;
  });

  const sizeOf = (suffix: string) => statSync(folder(`${DATABASE_FILE}${suffix}`)).size / MEGABYTE;
  async function open(): Promise<Database> {
    database = await openSqlite(folder());
    await sql`create table things (n integer primary key, content blob)`.execute(database.write);
    return database;
  }
  /** The same row again and again, so that the database itself stays small. */
  const put = ({ write }: Database, megabytes: number) =>
    sql`insert or replace into things values (1, randomblob(${megabytes * MEGABYTE}))`.execute(write);

  /** The frames of the log, and how many of them were copied. */
  async function log({ write }: Database): Promise<{ log: number; checkpointed: number }> {
    const { rows } = await sql<Awaited<ReturnType<typeof log>>>`pragma wal_checkpoint(noop)`.execute(write);
    return rows[0] ?? { log: 0, checkpointed: 0 };
  }
  /** The first checkpoint waits for the start of the thread. Once all is copied, the thread begins the log anew. */
  async function startThread(db: Database): Promise<void> {
    await put(db, 2);
    await eventually(async () => expect((await log(db)).log).to.be.lessThan(10));
  }

  it('keep the log short while writes follow each other without a gap', async () => {
    const db = await open();
    await startThread(db);
    for (let megabytes = 0; megabytes < 90; megabytes += 1) await put(db, 1);
    // SQLite itself would let it grow to 63 MB, which is where its own checkpoints begin.
    expect(sizeOf('-wal')).to.be.lessThan(62);
  });

  it('wait for a reader of an old state, who goes on seeing it, and go on after it', async () => {
    const db = await open();
    await startThread(db);
    const reader = new SqliteDatabase(folder(DATABASE_FILE), { readonly: true });
    reader.exec('begin');
    const read = () => reader.prepare('select substr(content, 1, 20) from things').pluck().get();
    const seen = read();
    for (let megabytes = 0; megabytes < 12; megabytes += 1) await put(db, 1);
    expect(read()).to.deep.equal(seen);
    const held = await log(db);
    expect(held.log - held.checkpointed).to.be.greaterThan(2_000);
    reader.exec('commit');
    expect(read()).to.not.deep.equal(seen);
    reader.close();
    await eventually(async () => {
      await sql`insert or replace into things values (2, randomblob(100))`.execute(db.write);
      const now = await log(db);
      expect(now.log - now.checkpointed).to.be.lessThan(1_000);
    });
  });

  it('are made by SQLite itself if the thread cannot make them', async () => {
    const handle = new SqliteDatabase(folder(DATABASE_FILE));
    handle.pragma('journal_mode = WAL');
    handle.pragma('synchronous = OFF');
    const checkpoints = new Checkpoints(folder('absent.db'), handle, new LocalLocks());
    handle.exec('create table things (n integer primary key, content blob)');
    for (let megabytes = 0; megabytes < 160; megabytes += 1) {
      handle.exec(`insert or replace into things values (1, randomblob(${MEGABYTE}))`);
      checkpoints.note();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sizeOf('-wal')).to.be.lessThan(70);
    await checkpoints.close();
    handle.close();
  });

  it('leave one whole file behind when the database is closed in the middle of one', async () => {
    const db = await open();
    for (let megabytes = 0; megabytes < 8; megabytes += 1) await put(db, 1);
    await sql`select count(*) from things`.execute(db.read);
    await db.close();
    database = undefined;
    expect(() => sizeOf('-wal')).to.throw('ENOENT');
    const handle = new SqliteDatabase(folder(DATABASE_FILE));
    expect(handle.pragma('integrity_check', { simple: true })).to.equal('ok');
    expect(handle.prepare('select length(content) from things').pluck().all()).to.deep.equal([MEGABYTE]);
    handle.close();
  });

  it('survive kill -9: the database is whole, and holds all that was acknowledged', async () => {
    let next = 0;
    for (let round = 0; round < 4; round += 1) {
      const last = await writeAndKill(next, 35 + 7 * round);
      const handle = new SqliteDatabase(folder(DATABASE_FILE));
      expect(handle.pragma('integrity_check', { simple: true })).to.equal('ok');
      const rows = handle.prepare<[], number>('select n from things order by n').pluck().all();
      handle.close();
      expect(rows).to.include(last);
      expect(rows.at(-1)).to.be.within(last, last + 1);
      next = (rows.at(-1) ?? 0) + 1;
    }
  });

  /** @returns the number of the last row that was acknowledged before the kill */
  function writeAndKill(first: number, rows: number): Promise<number> {
    const program = join(import.meta.dirname, '../../support/checkpoint-writer.js');
    const child = spawn(process.execPath, [program, folder(), String(first)]);
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk;
      if (stdout.split('\n').length > rows) child.kill('SIGKILL');
    });
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk));
    return new Promise((resolve, reject) => {
      child.once('close', (_, signal) => {
        if (signal === 'SIGKILL') resolve(Number(stdout.trimEnd().split('\n').at(-1)));
        else reject(new Error(stderr));
      });
    });
  }
});
