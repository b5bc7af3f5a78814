import { expect } from 'chai';
import { LocalLocks, type Locks } from '../../../src/lib/locks.ts';
import type { FromPrimary, FromWorker } from '../../../src/workers/messages.ts';
import { type Holder, LockKeeper, SharedLocks } from '../../../src/workers/shared-locks.ts';

/** Work that ends when it is told to, and notes that it has begun. */
function work(begun: string[], name: string) {
  let end: (error?: Error) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  const run = async () => {
    begun.push(name);
    await ended;
  };
  return { run, end };
}

/** Long enough for a message there and back. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A worker whose messages go through JSON and a turn of the event loop, as between processes. */
function makeWorker(keeper: LockKeeper): { locks: SharedLocks; holder: Holder } {
  const pass = <M>(message: M, take: (message: M) => void) =>
    setImmediate(() => take(JSON.parse(JSON.stringify(message)) as M));
  const holder: Holder = { send: (message) => pass(message as Verdict, (arrived) => locks.take(arrived)) };
  const locks = new SharedLocks((message) =>
    pass(message as Wish, (arrived) => keeper.take(holder, arrived)),
  );
  return { locks, holder };
}

function twoWorkers(): [Locks, Locks] {
  const keeper = new LockKeeper();
  return [makeWorker(keeper).locks, makeWorker(keeper).locks];
}

const local = new LocalLocks();
const SORTS: Record<string, () => [Locks, Locks]> = {
  'inside a process': () => [local, local],
  'between two workers': twoWorkers,
};

for (const [where, make] of Object.entries(SORTS)) {
  describe(`a lock ${where}`, () => {
    it('has work on one key run in order, and on another at once', async () => {
      const [here, there] = make();
      const begun: string[] = [];
      const [a1, a2, b] = [work(begun, 'a1'), work(begun, 'a2'), work(begun, 'b')];
      const first = here.run('a', a1.run);
      await settle();
      const others = [there.run('a', a2.run), there.run('b', b.run)];
      await settle();
      expect(begun).to.deep.equal(['a1', 'b']);
      a1.end();
      await settle();
      expect(begun).to.deep.equal(['a1', 'b', 'a2']);
      for (const each of [a2, b]) each.end();
      await Promise.all([first, ...others]);
    });

    it('is free after work that failed, and tells its caller alone', async () => {
      const [here, there] = make();
      const failing = here.run('a', () => Promise.reject(new Error('no')));
      const next = there.run('a', async () => 'yes');
      expect(await failing.catch((error: Error) => error.message)).to.equal('no');
      expect(await next).to.equal('yes');
    });

    it('is shared by many, and had alone after them and before the next', async () => {
      const [here, there] = make();
      const begun: string[] = [];
      const [a, b, alone, later] = [
        work(begun, 'a'),
        work(begun, 'b'),
        work(begun, 'alone'),
        work(begun, 'later'),
      ];
      const all = [here.share('k', a.run), there.share('k', b.run)];
      await settle();
      all.push(here.run('k', alone.run));
      await settle();
      all.push(there.share('k', later.run));
      await settle();
      expect(begun).to.deep.equal(['a', 'b']);
      a.end();
      await settle();
      expect(begun).to.deep.equal(['a', 'b']);
      b.end();
      await settle();
      expect(begun).to.deep.equal(['a', 'b', 'alone']);
      alone.end();
      await settle();
      expect(begun).to.deep.equal(['a', 'b', 'alone', 'later']);
      later.end();
      await Promise.all(all);
    });

    it('that is not free is not waited for by who says so', async () => {
      const [here, there] = make();
      const begun: string[] = [];
      const [held, refused, taken] = [work(begun, 'held'), work(begun, 'refused'), work(begun, 'taken')];
      const first = here.run('a', held.run);
      await settle();
      await there.runIfFree('a', refused.run);
      held.end();
      await first;
      await settle();
      taken.end();
      await there.runIfFree('a', taken.run);
      expect(begun).to.deep.equal(['held', 'taken']);
    });
  });
}

type Verdict = FromPrimary & { type: 'granted' | 'refused' };
type Wish = FromWorker & { type: 'acquire' | 'release' };

describe('the locks of a worker that ends', () => {
  it('are free for the others, and its places in the queue are gone', async () => {
    const keeper = new LockKeeper();
    const [dying, living] = [makeWorker(keeper), makeWorker(keeper)];
    const begun: string[] = [];
    void dying.locks.run('a', work(begun, 'held').run);
    await settle();
    void dying.locks.run('a', work(begun, 'queued').run);
    await settle();
    const next = living.locks.run('a', async () => void begun.push('next'));
    await settle();
    expect(begun).to.deep.equal(['held']);
    keeper.forget(dying.holder);
    await next;
    expect(begun).to.deep.equal(['held', 'next']);
  });
});
