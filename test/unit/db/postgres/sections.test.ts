import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { databaseAway } from '../../../../src/db/postgres/errors.ts';
import { HawserError } from '../../../../src/lib/errors.ts';
import { type Handles, openHandles } from '../../../support/postgres/handles.ts';
import { newDatabase, type TestDatabase } from '../../../support/postgres.ts';

describe('a section of PostgreSQL', () => {
  let database: TestDatabase;
  /** Two servers on one database. */
  let one: Handles;
  let other: Handles;

  before(async () => {
    database = await newDatabase();
    one = await openHandles(database.url);
    other = await openHandles(database.url);
    await sql`create table items (id bigint primary key, text text not null)`.execute(one.write);
  });
  after(async () => {
    await one.close();
    await other.close();
    await database.drop();
  });
  beforeEach(() => sql`delete from items`.execute(one.write));

  /** The connections to this database that hold advisory locks. Other tests use the cluster meanwhile. */
  const holders = sql<{ pid: number }>`select pid from pg_locks join pg_database d on d.oid = database
    where locktype = 'advisory' and d.datname = current_database()`;

  const ids = async () =>
    (await one.write.selectFrom('items').select('id').orderBy('id').execute()).map(({ id }) => id);
  const add = (handles: Handles, id: number) =>
    handles.write.insertInto('items').values({ id, text: 'x' }).execute();

  /** Runs work of both servers under one lock, and says how many of them were in it at once. */
  async function most(run: (handles: Handles, work: () => Promise<void>) => Promise<void>): Promise<number> {
    let inside = 0;
    let highest = 0;
    const work = async () => {
      inside += 1;
      highest = Math.max(highest, inside);
      await sleep(5);
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 12 }, (_, at) => run(at % 2 === 0 ? one : other, work)));
    return highest;
  }

  it('is alone among all servers', async () => {
    expect(await most((handles, work) => handles.locks.run('a lock', work))).to.equal(1);
  });

  it('is beside others that share the lock, and not beside one that holds it alone', async () => {
    expect(await most((handles, work) => handles.locks.share('a lock', work))).to.be.greaterThan(1);
    let isShared = false;
    const sharing = one.locks.share('a lock', async () => {
      isShared = true;
      await sleep(100);
      isShared = false;
    });
    await sleep(30);
    await other.locks.run('a lock', async () => expect(isShared).to.equal(false));
    await sharing;
  });

  it('keeps work apart that it begins itself under one more lock', async () => {
    const nested = (handles: Handles, work: () => Promise<void>) =>
      handles.locks.run('outer', async () => {
        await Promise.all([handles.locks.run('inner', work), handles.locks.run('inner', work)]);
      });
    expect(await most(nested)).to.equal(1);
  });

  it('comes to its end however many locks are wanted at once', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    await Promise.all(
      Array.from({ length: 60 }, (_, at) =>
        one.locks.run(`first ${names[at % 6]}`, () =>
          one.locks.run(`second ${names[(at * 5) % 6]}`, () => add(one, at).then(() => undefined)),
        ),
      ),
    );
    expect(await ids()).to.have.lengthOf(60);
  });

  it('is not begun where the lock must be free and is not', async () => {
    let runs = 0;
    const count = async () => {
      runs += 1;
    };
    await one.locks.run('a lock', async () => {
      await other.locks.runIfFree('a lock', count);
      expect(runs).to.equal(0);
    });
    await other.locks.runIfFree('a lock', count);
    expect(runs).to.equal(1);
  });

  it('writes nothing more once its connection is lost, and others get its lock', async () => {
    const error = await one.locks
      .run('a lock', async () => {
        await add(one, 1);
        await sql`select pg_terminate_backend(pid) from (${holders}) as holders`.execute(other.note);
        await other.locks.run('a lock', () => add(other, 2).then(() => undefined));
        await add(one, 3);
      })
      .catch((fault: unknown) => fault);
    expect(error).to.be.instanceOf(HawserError).with.property('code', databaseAway().code);
    expect(await ids()).to.deep.equal([1, 2]);
    await one.locks.run('a lock', () => add(one, 4).then(() => undefined));
    expect(await ids()).to.deep.equal([1, 2, 4]);
  });

  it('leaves no lock behind, whatever its work throws', async () => {
    const fault = new Error('this work fails');
    const fails = one.locks.run('a lock', async () => {
      await one.locks.share('another', () => Promise.reject(fault));
    });
    expect(await fails.catch((error: unknown) => error)).to.equal(fault);
    const { rows } = await holders.execute(other.note);
    expect(rows).to.deep.equal([]);
  });

  it('is not needed for a lock that is held for long', async () => {
    const release = await one.keeper.acquire('for life', 'alone');
    expect(await other.keeper.acquireIfFree('for life')).to.equal(null);
    expect(await one.keeper.acquireIfFree('for life')).to.equal(null);
    release();
    const next = await other.keeper.acquire('for life', 'alone');
    next();
  });
});
