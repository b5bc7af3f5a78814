import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import { openDatabase } from '../../../src/db/open.ts';

describe('migrations', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-migrate-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** On a handle of its own, which leaves no trace. */
  function inDatabase<T>(work: (handle: SqliteDatabase.Database) => T): T {
    const handle = new SqliteDatabase(join(folder, 'hawser.db'));
    try {
      return work(handle);
    } finally {
      handle.close();
    }
  }
  const tables = () =>
    inDatabase((handle) =>
      handle
        .prepare(`select name from sqlite_master where type = 'table' and name not like '%migration%'`)
        .pluck()
        .all(),
    );
  const open = () => openDatabase(folder).then((database) => database.close());

  it('that fail leave the database as it was, so that the former release goes on with it', async () => {
    inDatabase((handle) => handle.exec('create table report_counts (in_the_way integer)'));
    const failure = await open().catch((error) => error);
    expect(failure).to.include({ code: 'migration_failed' });
    expect(tables()).to.deep.equal(['report_counts']);
    inDatabase((handle) => handle.exec('drop table report_counts'));
    await open();
    expect(tables()).to.include.members(['users', 'reports', 'report_counts']);
  });

  it('of a newer release are not passed over by an older one', async () => {
    await open();
    inDatabase((handle) =>
      handle.prepare(`insert into kysely_migration (name, timestamp) values ('9999-of-tomorrow', '')`).run(),
    );
    const failure = await open().catch((error) => error);
    expect(failure).to.include({ code: 'migration_failed' });
  });
});
