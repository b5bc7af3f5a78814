import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Database } from '../../../../src/db/database.ts';
import type { Lease } from '../../../../src/db/lease.ts';
import { openDatabase } from '../../../../src/db/open.ts';
import { readLead } from '../../../../src/db/servers.ts';
import { LEADER } from '../../../../src/domain/lock-names.ts';
import { newId } from '../../../../src/lib/ids.ts';
import { eventually } from '../../../support/eventually.ts';
import { failureOf } from '../../../support/failures.ts';
import { breakLock } from '../../../support/postgres/advisory-locks.ts';
import { newDatabase, querySharedCluster, type TestDatabase } from '../../../support/postgres.ts';

const IDS = [newId(), newId()] as const;

describe('the lease of the lead', () => {
  let place: TestDatabase;
  let one: Database;
  let other: Database;
  let held: Lease[];

  beforeEach(async () => {
    place = await newDatabase('migrated');
    const open = () => openDatabase({ dataDir: '', databaseUrl: place.url });
    [one, other] = await Promise.all([open(), open()]);
    held = [];
  });
  afterEach(async () => {
    await Promise.all(held.map((lease) => lease.giveBack()));
    await Promise.all([one.close(), other.close()]);
    await place.drop();
  });

  async function claim(database: Database): Promise<Lease> {
    const lease = await eventually(async () => {
      const got = await database.claimLead(IDS[database === one ? 0 : 1]);
      expect(got).not.to.equal(null);
      return got as Lease;
    });
    held.push(lease);
    return lease;
  }

  const add = (database: Database, name: string, lane: 'write' | 'writeNow' | 'writeUnflushed') =>
    database[lane]
      .insertInto('secrets')
      .values({ name, value: Buffer.of(1) })
      .execute();
  const names = async () => {
    const rows = await other.read.selectFrom('secrets').select('name').orderBy('name').execute();
    return rows.map(({ name }) => name);
  };

  /** Resolves once a statement waits for a row of the lease. */
  const untilBlocked = () =>
    eventually(async () => {
      const waiting = await querySharedCluster(`select pid from pg_stat_activity
        where datname = '${place.name}' and wait_event_type = 'Lock' and query like 'update lead_lease%'`);
      expect(waiting).to.have.length(1);
    });

  it('is with one server at a time, and goes to the other as soon as it is given back', async () => {
    const lease = await claim(one);
    expect(await other.claimLead(IDS[1])).to.equal(null);
    expect(await readLead(other.read)).to.include({ leader: IDS[0], number: lease.number, isLocked: true });
    await held.pop()?.giveBack();
    expect(lease.lost.aborted).to.equal(false);
    expect(await readLead(other.read)).to.include({ leader: null, number: lease.number });
    expect((await claim(other)).number).to.equal((lease.number ?? 0) + 1);
  });

  it('makes the database refuse what a former leader still writes, and nothing else', async () => {
    const former = await claim(one);
    await former.run(() => add(one, 'as the leader', 'writeNow'));
    await breakLock(place.url, LEADER);
    const lease = await claim(other);
    for (const lane of ['write', 'writeNow', 'writeUnflushed'] as const) {
      const fault = await failureOf(former.run(() => add(one, `late by ${lane}`, lane)));
      expect(fault, lane)
        .to.have.property('message')
        .that.matches(/another server leads/i);
      const transaction = former.run(() => one[lane].transaction().execute(async () => undefined));
      expect(await failureOf(transaction), lane).to.have.property('code', 'unavailable');
    }
    await former.run(() => one.read.selectFrom('secrets').select('name').execute());
    await add(one, 'for a caller', 'write');
    await lease.run(() => add(other, 'by the next', 'write'));
    expect(await names()).to.deep.equal(['as the leader', 'by the next', 'for a caller']);
  });

  it('also refuses what is written within a lock, and by timers that the leader has started', async () => {
    const former = await claim(one);
    const late = former.run(() =>
      one.locks.run('a lock', async () => {
        await breakLock(place.url, LEADER);
        await claim(other);
        await sleep(1);
        await add(one, 'late', 'write');
      }),
    );
    expect(await failureOf(late))
      .to.have.property('message')
      .that.matches(/another server leads/i);
    expect(await names()).to.deep.equal([]);
  });

  it('goes on only when a transaction of the former leader has ended, which holds up no renewal', async () => {
    const former = await claim(one);
    let next: Promise<Lease> = Promise.reject(new Error('nobody claims yet'));
    next.catch(() => undefined);
    await former.run(() =>
      one.writeNow.transaction().execute(async (trx) => {
        await trx
          .insertInto('secrets')
          .values({ name: 'in time', value: Buffer.of(1) })
          .execute();
        await other.writeNow.updateTable('lead_lease').set({ renewed_at: new Date() }).execute();
        await breakLock(place.url, LEADER);
        next = claim(other);
        await untilBlocked();
        expect((await readLead(one.read)).number).to.equal(former.number);
      }),
    );
    expect((await next).number).to.equal((former.number ?? 0) + 1);
    expect(await names()).to.deep.equal(['in time']);
  });

  it('is kept from a server while one of the release before leads by the lock alone', async () => {
    const release = await one.locks.acquireIfFree(LEADER);
    expect(await other.claimLead(IDS[1])).to.equal(null);
    expect(await readLead(other.read)).to.include({ leader: null, isLocked: true });
    release?.();
    await claim(other);
  });
});
