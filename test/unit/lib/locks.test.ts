import { expect } from 'chai';
import { LocalLocks } from '../../../src/lib/locks.ts';

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

/** Long enough for whatever is granted. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('a lock', () => {
  it('has work on one key run in order, and on another at once', async () => {
    const locks = new LocalLocks();
    const begun: string[] = [];
    const [a1, a2, b] = [work(begun, 'a1'), work(begun, 'a2'), work(begun, 'b')];
    const first = locks.run('a', a1.run);
    await settle();
    const others = [locks.run('a', a2.run), locks.run('b', b.run)];
    await settle();
    expect(begun).to.deep.equal(['a1', 'b']);
    a1.end();
    await settle();
    expect(begun).to.deep.equal(['a1', 'b', 'a2']);
    for (const each of [a2, b]) each.end();
    await Promise.all([first, ...others]);
  });

  it('is free after work that failed, and tells its caller alone', async () => {
    const locks = new LocalLocks();
    const failing = locks.run('a', () => Promise.reject(new Error('no')));
    const next = locks.run('a', async () => 'yes');
    expect(await failing.catch((error: Error) => error.message)).to.equal('no');
    expect(await next).to.equal('yes');
  });

  it('is shared by many, and had alone after them and before the next', async () => {
    const locks = new LocalLocks();
    const begun: string[] = [];
    const [a, b, alone, later] = [
      work(begun, 'a'),
      work(begun, 'b'),
      work(begun, 'alone'),
      work(begun, 'later'),
    ];
    const all = [locks.share('k', a.run), locks.share('k', b.run)];
    await settle();
    all.push(locks.run('k', alone.run));
    await settle();
    all.push(locks.share('k', later.run));
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
    const locks = new LocalLocks();
    const begun: string[] = [];
    const [held, refused, taken] = [work(begun, 'held'), work(begun, 'refused'), work(begun, 'taken')];
    const first = locks.run('a', held.run);
    await settle();
    await locks.runIfFree('a', refused.run);
    held.end();
    await first;
    await settle();
    taken.end();
    await locks.runIfFree('a', taken.run);
    expect(begun).to.deep.equal(['held', 'taken']);
  });
});
