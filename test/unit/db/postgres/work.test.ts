// full: SQLite
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { breaksReference, orConflict, translateDatabaseError } from '../../../../src/db/errors.ts';
import { FEED_KEY } from '../../../../src/db/postgres/advisory-keys.ts';
import { conflict, HawserError } from '../../../../src/lib/errors.ts';
import { failureOf } from '../../../support/failures.ts';
import { type Handles, openHandles } from '../../../support/postgres/handles.ts';
import { otherProgram } from '../../../support/postgres/other-program.ts';
import {
  newDatabase,
  type OwnCluster,
  ownCluster,
  querySharedCluster,
  type TestDatabase,
} from '../../../support/postgres.ts';

describe('work on PostgreSQL', () => {
  let database: TestDatabase;
  let handles: Handles;

  before(async () => {
    database = await newDatabase();
    // So long a test has to close a circle of those who wait for each other.
    await querySharedCluster(`alter database ${database.name} set deadlock_timeout = '3s'`);
    handles = await openHandles(database.url);
    await sql`create table items (id bigint primary key, text text not null)`.execute(handles.write);
  });
  after(async () => {
    await handles.close();
    await database.drop();
  });
  beforeEach(() => sql`delete from items`.execute(handles.write));

  const add = (id: number, text = 'x') => handles.write.insertInto('items').values({ id, text }).execute();
  const all = () => handles.write.selectFrom('items').selectAll().orderBy('id').execute();

  it('gives numbers as numbers', async () => {
    await add(1);
    const { rows } = await sql`select id, count(*) as many, sum(id) as total from items group by id`.execute(
      handles.note,
    );
    expect(rows).to.deep.equal([{ id: 1, many: 1, total: 1 }]);
  });

  it('takes its turn: whoever comes second sees what the first has written, and commits after it', async () => {
    const first = handles.write.transaction().execute(async (trx) => {
      await trx.insertInto('items').values({ id: 1, text: 'first' }).execute();
      await sleep(50);
    });
    await sleep(10);
    const seen = await handles.write
      .transaction()
      .execute((trx) => trx.selectFrom('items').select('id').execute());
    await first;
    expect(seen).to.deep.equal([{ id: 1 }]);
  });

  it('does not wait for others where it takes no turns', async () => {
    const events: string[] = [];
    const first = handles.write.transaction().execute(async (trx) => {
      await trx.insertInto('items').values({ id: 1, text: 'first' }).execute();
      await handles.note.insertInto('items').values({ id: 2, text: 'note' }).execute();
      events.push('note');
    });
    await first.then(() => events.push('first'));
    expect(events).to.deep.equal(['note', 'first']);
  });

  it('that waits for other work, which waits for it, is done again once', async () => {
    await add(1);
    await add(2);
    let attempts = 0;
    let held = 0;
    let meet = () => {};
    const met = new Promise<void>((resolve) => (meet = resolve));
    const beside = await openHandles(database.url);
    const both = (note: Handles['note'], one: number, two: number) =>
      note.transaction().execute(async (trx) => {
        attempts += 1;
        const set = (id: number) =>
          trx.updateTable('items').set({ text: 'set' }).where('id', '=', id).execute();
        await set(one);
        // Each has one of the two when both go on.
        held += 1;
        if (held === 2) meet();
        await met;
        await set(two);
      });
    // Those of one process wait for each other, and so cannot meet.
    await Promise.all([both(handles.note, 1, 2), both(beside.note, 2, 1)]).finally(() => beside.close());
    expect(attempts).to.equal(3);
    expect((await all()).map(({ text }) => text)).to.deep.equal(['set', 'set']);
  });

  it('of one statement is done again likewise', async () => {
    await add(1);
    const other = await otherProgram(database.url);
    try {
      // PostgreSQL ends the statement, because the other program looks for a circle much later.
      await other.query(`set deadlock_timeout = '20s'; begin; select pg_advisory_xact_lock(2)`);
      const alone = sql`with one as materialized (select pg_advisory_xact_lock(1)),
          locks as materialized (select pg_advisory_xact_lock(2) from one)
        update items set text = 'alone' from locks`.execute(handles.note);
      await other.waitedFor();
      // Who waits for such a lock has it before those who come later, so the second try meets no circle.
      await other.query(`select pg_advisory_xact_lock(1); commit`);
      await alone;
    } finally {
      await other.end();
    }
    expect((await all()).map(({ text }) => text)).to.deep.equal(['alone']);
  });

  it('that does not get its turn leaves nothing open on its connection', async () => {
    const other = await otherProgram(database.url);
    try {
      await other.query(`select pg_advisory_lock(${FEED_KEY})`);
      const refused = add(1).catch((fault: unknown) => fault);
      await other.waitedFor();
      await other.query(`select pg_cancel_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event = 'advisory'`);
      expect(await refused).to.be.instanceOf(Error);
    } finally {
      await other.end();
    }
    expect(await all()).to.deep.equal([]);
    await add(1);
    expect(await all()).to.have.length(1);
  });

  it('waits for its turn over one connection, however much of one process waits', async () => {
    const other = await otherProgram(database.url);
    const beside = await openHandles(database.url);
    try {
      await other.query(`select pg_advisory_lock(${FEED_KEY})`);
      const writes = [1, 2, 3, 4].map((id) => add(id));
      await other.waitedFor();
      const besides = beside.write.insertInto('items').values({ id: 5, text: 'x' }).execute();
      // All have a connection, and this one goes from one end of its wait to the next.
      await other.waitedFor(2);
      const waiting = await querySharedCluster(`select pid from pg_stat_activity
        where datname = '${database.name}' and wait_event = 'advisory'`);
      expect(waiting).to.have.length(2);
      await other.query(`select pg_advisory_unlock(${FEED_KEY})`);
      await Promise.all([...writes, besides]);
    } finally {
      await beside.close();
      await other.end();
    }
    expect(await all()).to.have.length(5);
  });

  it('is ended by PostgreSQL when it says nothing, so that others of another process have their turn', async () => {
    const beside = await openHandles(database.url);
    let wake = (): void => undefined;
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let isInside = (): void => undefined;
    const inside = new Promise<void>((resolve) => {
      isInside = resolve;
    });
    try {
      const frozen = failureOf(
        handles.write.transaction().execute(async (trx) => {
          await trx.insertInto('items').values({ id: 1, text: 'frozen' }).execute();
          isInside();
          await asleep;
        }),
      );
      await inside;
      const behind = add(2);
      const since = performance.now();
      await beside.write.insertInto('items').values({ id: 3, text: 'beside' }).execute();
      expect(performance.now() - since).to.be.below(8000);
      expect((await all()).map(({ id }) => id)).to.deep.equal([3]);
      wake();
      expect(await frozen)
        .to.be.instanceOf(HawserError)
        .with.property('code', 'unavailable');
      await behind;
    } finally {
      wake();
      await beside.close();
    }
    expect((await all()).map(({ id }) => id)).to.deep.equal([2, 3]);
  });

  it('says which column is not unique, and that a row is still named by another', async () => {
    await add(1);
    const taken = conflict('taken', 'It is taken');
    const addAgain = (columns: string | string[]) => failureOf(orConflict(columns, taken, () => add(1)));
    expect(await addAgain('items.id')).to.equal(taken);
    expect(await addAgain(['items.text', 'items.id'])).to.equal(taken);
    expect(await addAgain('items.text')).not.to.equal(taken);
    await sql`create table parts (item bigint references items (id))`.execute(handles.write);
    await sql`insert into parts values (1)`.execute(handles.write);
    const kept = await failureOf(handles.write.deleteFrom('items').execute());
    expect(breaksReference(kept)).to.equal(true);
    await sql`drop table parts`.execute(handles.write);
  });

  it('gives faults that pass a kind of their own, which says nothing of SQL', async () => {
    for (const code of ['57014', '53300', '25006', '55P03', '40P01', '57P01']) {
      const fault =
        await sql`do ${sql.raw(`$$ begin raise exception 'the secret' using errcode = '${code}'; end $$`)}`
          .execute(handles.note)
          .catch(translateDatabaseError);
      expect(fault, code).to.be.instanceOf(HawserError).with.property('code', 'unavailable');
      expect((fault as HawserError).message).not.to.match(/secret|sql/i);
      expect((fault as HawserError).retryAfter).to.equal(5);
    }
    const full = await sql`do $$ begin raise exception 'full' using errcode = '53100'; end $$`
      .execute(handles.note)
      .catch(translateDatabaseError);
    expect(full).to.have.property('code', 'insufficient_storage');
  });

  describe('whose server dies', () => {
    let own: OwnCluster;
    let dying: Handles;
    let place: TestDatabase;

    before(async () => {
      own = await ownCluster();
      place = await own.newDatabase();
      dying = await openHandles(place.url);
      await sql`create table items (id bigint primary key, text text not null)`.execute(dying.write);
    });
    after(async () => {
      await dying.close();
      await own.cluster.remove();
    });

    it('is acknowledged only if it was committed, though the answer to the commit is lost', async () => {
      const outcomes: { id: number; isAcknowledged: boolean }[] = [];
      for (let id = 1; id <= 8; id += 1) {
        let isAtCommit = (): void => undefined;
        const atCommit = new Promise<void>((resolve) => {
          isAtCommit = resolve;
        });
        const write = dying.write.transaction().execute(async (trx) => {
          await trx.insertInto('items').values({ id, text: 'x' }).execute();
          isAtCommit();
        });
        const isAcknowledged = write.then(
          () => true,
          () => false,
        );
        // The commit goes out, and its answer meets a server that is just being killed.
        await atCommit;
        await sleep(id % 4);
        await own.cluster.kill();
        await own.cluster.start();
        outcomes.push({ id, isAcknowledged: await isAcknowledged });
      }
      const rows = await dying.write.selectFrom('items').select('id').orderBy('id').execute();
      const kept = rows.map(({ id }) => id);
      for (const { id, isAcknowledged } of outcomes) if (isAcknowledged) expect(kept).to.include(id);
      // A commit of which nobody knows is told too, so that nothing in memory is believed.
      expect(kept.length).to.equal(outcomes.filter(({ isAcknowledged }) => isAcknowledged).length);
    });
  });
});
