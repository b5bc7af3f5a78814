import { expect } from 'chai';
import type { Database } from '../../../src/db/database.ts';
import { emit } from '../../../src/db/events.ts';
import { openSqlite } from '../../../src/db/sqlite/open.ts';
import { numberEvents } from '../../../src/events/numbering.ts';
import { EventWaiting } from '../../../src/events/waiting.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('those who wait for events', () => {
  const folder = temporaryFolder();
  let database: Database;
  /** The same database as another process has it. */
  let other: Database;

  beforeEach(async () => {
    database = await openSqlite(folder());
    other = await openSqlite(folder());
  });
  afterEach(async () => {
    await database.close();
    await other.close();
  });

  const wait = (waiting: EventWaiting, user: string, given = new AbortController().signal) =>
    waiting.forEvent(0, { user, milliseconds: 600_000, signal: given });

  it('are woken by an event that another process has made', async () => {
    const waiting = wait(new EventWaiting(database), 'ann');
    await emit(other.write, [{ type: 'node.registered', subject: 'nodes/a', at: 0, data: {} }]);
    await numberEvents(other, 0);
    await waiting;
  });

  it('leave when their call ends, and give their place back', async () => {
    const all = new EventWaiting(database);
    const call = new AbortController();
    const waiting = Array.from({ length: 10 }, () => wait(all, 'ann', call.signal));
    expect(await wait(all, 'ann').catch((error) => error.code)).to.equal('rate_limited');
    call.abort();
    await Promise.all(waiting);
    const later = wait(all, 'ann');
    all.close();
    await later;
  });

  it('are 200 at most in one process, whoever they are', async () => {
    const all = new EventWaiting(database);
    const waiting = Array.from({ length: 200 }, (_, index) => wait(all, `user ${index % 20}`));
    expect(await wait(all, 'ann').catch((error) => error.code)).to.equal('rate_limited');
    all.close();
    await Promise.all(waiting);
    await wait(all, 'ann');
  });

  it('wait on while the database cannot be read', async () => {
    let asked = 0;
    const failing = {
      selectFrom() {
        asked += 1;
        if (asked < 3) throw new Error('away');
        return database.read.selectFrom('events');
      },
    } as unknown as Database['read'];
    const waiting = wait(new EventWaiting({ read: failing }), 'ann');
    await emit(database.write, [{ type: 'node.registered', subject: 'nodes/a', at: 0, data: {} }]);
    await numberEvents(database, 0);
    await waiting;
    expect(asked).to.equal(3);
  });
});
