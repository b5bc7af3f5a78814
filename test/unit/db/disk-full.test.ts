import { expect } from 'chai';
import { sql } from 'kysely';
import { translateDatabaseError } from '../../../src/db/errors.ts';
import { HawserError } from '../../../src/lib/errors.ts';
import { failureOf } from '../../support/failures.ts';
import { temporarySqlite } from '../../support/temporary.ts';

/** SQLite's own limit stands in for the disk's: it fails with the same code at the same place. */
describe('a database without room', () => {
  const database = temporarySqlite('all tests');

  before(() => sql`create table things (name text primary key, content blob)`.execute(database().write));

  const allow = (pages: number) => sql.raw(`pragma max_page_count = ${pages}`).execute(database().write);
  const add = (name: string, bytes: number) =>
    database()
      .write.transaction()
      .execute(async (trx) => {
        await sql`insert into things values (${`${name} before`}, null)`.execute(trx);
        await sql`insert into things values (${name}, ${Buffer.alloc(bytes)})`.execute(trx);
      });
  const names = async () => {
    const { read } = database();
    const { rows } = await sql<{ name: string }>`select name from things order by name`.execute(read);
    return rows.map(({ name }) => name);
  };

  it('says that the disk is full, keeps nothing of the transaction, and goes on when there is room', async () => {
    await allow(1);
    const failure = translateDatabaseError(await failureOf(add('large', 1_000_000))) as HawserError;
    expect(failure).to.be.instanceOf(HawserError);
    expect(failure).to.include({ kind: 'storage_full', code: 'insufficient_storage' });
    expect(failure.message).to.not.match(/[/\\]|things/);
    expect(await names()).to.deep.equal([]);
    await allow(1_000_000);
    await add('large', 1_000_000);
    expect(await names()).to.deep.equal(['large', 'large before']);
  });

  it('tells faults of its own making from those of the disk', async () => {
    const failure = translateDatabaseError(await failureOf(add('large', 1)));
    expect(failure).to.not.be.instanceOf(HawserError);
    expect(failure).to.include({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
  });
});
