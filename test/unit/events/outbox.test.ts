import { expect } from 'chai';
import type { Database } from '../../../src/db/database.ts';
import { emit } from '../../../src/db/events.ts';
import { removeOldEvents } from '../../../src/events/expiry.ts';
import { eventsAfter } from '../../../src/events/feed.ts';
import { numberEvents } from '../../../src/events/numbering.ts';
import { dueDeliveries, noteOutcome, redeliver } from '../../../src/events/outbox.ts';
import { DAY, SECOND } from '../../../src/lib/clock.ts';
import { ENGINES, temporaryEngine } from '../../support/engines/open.ts';

const HOOK = '00000000-0000-4000-8000-000000000001';
const REFUSED = { isDelivered: false, status: 500, error: 'status_500' };
const DELIVERED = { isDelivered: true, status: 204, error: null };
const BEGIN = 1_000 * DAY;

for (const engine of ENGINES)
  describe(`the outbox of webhooks on ${engine}`, () => {
    const opened = temporaryEngine(engine);
    let database: Database;

    beforeEach(async () => {
      ({ database } = opened());
      const hook = { id: HOOK, url: 'https://localhost/', events: '["node.*"]', secret: '', is_active: 1 };
      await database.write
        .insertInto('webhooks')
        .values({ ...hook, created_at: 0, modified_at: 0 })
        .execute();
    });

    const happen = (node: string, at = BEGIN) =>
      emit(database.write, [{ type: 'node.status_changed', subject: `nodes/${node}`, at, data: {} }]);
    const due = (now: number, most = 100) => dueDeliveries(database.read, HOOK, now, most);
    const subjects = async (now: number) => (await due(now)).map(({ subject }) => subject);
    const positions = async (now: number) => (await due(now)).map(({ position }) => position);
    /** Ends the one attempt that is due. */
    const end = async (outcome: typeof REFUSED | typeof DELIVERED, now: number) => {
      const [delivery, ...others] = await due(now);
      if (delivery === undefined || others.length > 0) throw new Error('not one is due');
      return noteOutcome(database, delivery, outcome, now);
    };

    it('misses no event that is committed after one with a higher number', async () => {
      let commitFirst: () => void = () => undefined;
      const until = new Promise<void>((resolve) => {
        commitFirst = resolve;
      });
      // SQLite has one writer at a time, so nothing can come between there.
      const isOpen = engine === 'PostgreSQL';
      let noteWritten: () => void = () => undefined;
      const written = new Promise<void>((resolve) => {
        noteWritten = resolve;
      });
      const first = database.writeNow.transaction().execute(async (trx) => {
        await emit(trx, [{ type: 'node.registered', subject: 'nodes/a', at: BEGIN, data: {} }]);
        noteWritten();
        if (isOpen) await until;
      });
      await written;
      await happen('b');
      await numberEvents(database, BEGIN);
      const before = await eventsAfter(database.read, 0);
      commitFirst();
      await first;
      await numberEvents(database, BEGIN);
      const after = await eventsAfter(database.read, before.at(-1)?.position ?? 0);
      expect([...before, ...after].map(({ subject }) => subject)).to.have.members(['nodes/a', 'nodes/b']);
    });

    it('gives each event one number, even if two are at it', async () => {
      for (let count = 0; count < 300; count += 1) await happen(String(count % 7));
      await Promise.all([1, 2, 3, 4].map(() => numberEvents(database, BEGIN)));
      await numberEvents(database, BEGIN);
      const rows = await database.read.selectFrom('events').select('position').orderBy('position').execute();
      expect(rows.map(({ position }) => position)).to.deep.equal(rows.map((_row, index) => index + 1));
      const { length } = await database.read.selectFrom('webhook_deliveries').select('id').execute();
      expect(length).to.equal(300);
      expect(await due(BEGIN)).to.have.length(7);
    });

    it('is looked at without a transaction while nothing happens', async () => {
      let begun = 0;
      const counted = (db: Database['write']) => {
        const transaction = () => {
          begun += 1;
          return db.transaction();
        };
        return { transaction } as Database['write'];
      };
      const { write, writeUnflushed } = database;
      const watched = { ...database, write: counted(write), writeUnflushed: counted(writeUnflushed) };
      expect(await numberEvents(watched, BEGIN)).to.equal(false);
      expect(await removeOldEvents(watched, BEGIN)).to.equal(false);
      expect(begun).to.equal(0);
      await happen('a', BEGIN - 31 * DAY);
      await happen('b');
      await numberEvents(watched, BEGIN);
      await removeOldEvents(watched, BEGIN);
      expect(begun, 'and else with one').to.equal(2);
    });

    it('sends the events of a subject one after the other', async () => {
      for (const node of ['a', 'a', 'b', 'a']) await happen(node);
      await numberEvents(database, BEGIN);
      expect(await subjects(BEGIN)).to.deep.equal(['nodes/a', 'nodes/b']);
      const [first, other] = await due(BEGIN);
      if (first === undefined || other === undefined) throw new Error('nothing is due');
      await noteOutcome(database, first, REFUSED, BEGIN);
      expect(await subjects(BEGIN)).to.deep.equal(['nodes/b']);
      await happen('a');
      await numberEvents(database, BEGIN);
      await noteOutcome(database, other, DELIVERED, BEGIN);
      const order: number[] = [];
      for (let now = BEGIN + 10 * SECOND; (await due(now)).length > 0; ) {
        order.push((await due(now))[0]?.position ?? 0);
        await end(DELIVERED, now);
      }
      expect(order).to.deep.equal([1, 2, 4, 5]);
    });

    it('tries again within ten seconds, then after twice the time, and gives up after a day', async () => {
      await happen('a');
      await numberEvents(database, BEGIN);
      const times: number[] = [];
      let state: string | null = 'Pending';
      while (state === 'Pending') {
        const row = await database.read.selectFrom('webhook_deliveries').select('due_at').executeTakeFirst();
        const now = row?.due_at ?? 0;
        times.push((now - BEGIN) / SECOND);
        expect(await due(now - 1)).to.deep.equal([]);
        state = await end(REFUSED, now);
      }
      expect(times.slice(0, 5)).to.deep.equal([0, 5, 15, 35, 75]);
      expect(times.at(-1)).to.equal(DAY / SECOND);
      expect(state).to.equal('Failed');
      expect(await due(BEGIN + 100 * DAY)).to.deep.equal([]);
    });

    it('lets the next event of a subject go when one was given up', async () => {
      await happen('a');
      await happen('a');
      await numberEvents(database, BEGIN);
      expect(await end(REFUSED, BEGIN + DAY)).to.equal('Failed');
      expect(await positions(BEGIN + DAY)).to.deep.equal([2]);
    });

    it('takes the word of one sender only', async () => {
      await happen('a');
      await numberEvents(database, BEGIN);
      const [delivery] = await due(BEGIN);
      if (delivery === undefined) throw new Error('nothing is due');
      expect(await noteOutcome(database, delivery, REFUSED, BEGIN)).to.equal('Pending');
      expect(await noteOutcome(database, delivery, DELIVERED, BEGIN)).to.equal(null);
      expect(await due(BEGIN + 10 * SECOND)).to.have.length(1);
    });

    it('puts what is sent again behind what is on its way', async () => {
      await happen('a');
      await numberEvents(database, BEGIN);
      await end(DELIVERED, BEGIN);
      const [old] = await database.read.selectFrom('webhook_deliveries').select('id').execute();
      await happen('a');
      await numberEvents(database, BEGIN);
      await database.write.transaction().execute((trx) => redeliver(trx, old?.id ?? '', BEGIN));
      expect(await positions(BEGIN)).to.deep.equal([2]);
      await end(DELIVERED, BEGIN);
      expect(await positions(BEGIN)).to.deep.equal([1]);
    });

    it('holds back nothing for an event that was deleted for its age', async () => {
      await happen('a', BEGIN - 31 * DAY);
      await happen('a');
      await happen('b');
      await numberEvents(database, BEGIN);
      expect(await positions(BEGIN)).to.deep.equal([1, 3]);
      await removeOldEvents(database, BEGIN);
      expect(await positions(BEGIN)).to.deep.equal([2, 3]);
      expect((await eventsAfter(database.read, 0)).map(({ position }) => position)).to.deep.equal([2, 3]);
    });
  });
