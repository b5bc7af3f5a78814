import { expect } from 'chai';
import { Gate } from '../../../src/lib/gate.ts';

/** Work that ends when it is told to, and notes that it has begun. */
function work(log: string[], name: string) {
  let end: (error?: Error) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve());
  });
  const run = async () => {
    log.push(name);
    await ended;
  };
  return { run, end };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a gate', () => {
  it('is shared by many, and had alone after them and before the next', async () => {
    const gate = new Gate();
    const log: string[] = [];
    const [a, b, alone, later, last] = ['a', 'b', 'alone', 'later', 'last'].map((name) => work(log, name));
    if (!a || !b || !alone || !later || !last) throw new Error('five pieces of work');
    const all = [gate.share(a.run), gate.share(b.run), gate.alone(alone.run), gate.share(later.run)];
    all.push(gate.alone(last.run));
    await settled();
    expect(log).to.deep.equal(['a', 'b']);
    a.end();
    await settled();
    expect(log).to.deep.equal(['a', 'b']);
    b.end();
    await settled();
    expect(log).to.deep.equal(['a', 'b', 'alone']);
    alone.end();
    await settled();
    expect(log).to.deep.equal(['a', 'b', 'alone', 'later']);
    later.end();
    await settled();
    expect(log).to.deep.equal(['a', 'b', 'alone', 'later', 'last']);
    last.end();
    await Promise.all(all);
  });

  it('opens again after work that fails, whose caller alone learns of it', async () => {
    const gate = new Gate();
    const fail = async () => {
      throw new Error('no');
    };
    const results = await Promise.allSettled([
      gate.share(fail),
      gate.alone(fail),
      gate.alone(async () => 1),
      gate.share(async () => 2),
    ]);
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))).to.deep.equal([
      ...['failed', 'failed', 1, 2],
    ]);
  });
});
