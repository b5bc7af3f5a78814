import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { FairQueue } from '../../../src/lib/fair-queue.ts';

/** Work that goes on until it is told to end, and notes that it has begun. */
class Bench {
  readonly begun: string[] = [];
  readonly refused: string[] = [];
  private readonly ends: (() => void)[] = [];
  private readonly queue: FairQueue;

  constructor(options: { slots?: number; waiting?: number; waitingPerCaller?: number } = {}) {
    this.queue = new FairQueue({ slots: 1, waiting: 32, waitingPerCaller: 4, ...options });
  }

  /** @param name `b2` is of the source `b` */
  ask(...names: string[]): void {
    for (const name of names)
      void this.queue.runBounded(source(name), this.work(name)).catch(this.note(name));
  }

  askUnbounded(...names: string[]): void {
    for (const name of names) void this.queue.run(source(name), this.work(name)).catch(this.note(name));
  }

  /** Ends the piece of work that began first of those that go on. */
  async end(times = 1): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      await nextTurn();
      this.ends.shift()?.();
      await nextTurn();
    }
  }

  private work(name: string): () => Promise<void> {
    return () => {
      this.begun.push(name);
      return new Promise((resolve) => this.ends.push(resolve));
    };
  }

  private note(name: string): (error: unknown) => void {
    return (error) => {
      expect(error).to.be.an('error').that.has.property('retryAfter').that.is.greaterThan(0);
      this.refused.push(`${name} ${(error as { code: string }).code}`);
    };
  }
}

const source = (name: string): string => name.charAt(0);
/** `a1` to `a4` */
const several = (of: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${of}${index + 1}`);

describe('a fair queue', () => {
  it('does as much at once as it has slots, and the rest in turn', async () => {
    const bench = new Bench({ slots: 2 });
    bench.ask(...several('a', 4));
    await nextTurn();
    expect(bench.begun).to.deep.equal(['a1', 'a2']);
    await bench.end();
    expect(bench.begun).to.deep.equal(['a1', 'a2', 'a3']);
    await bench.end(3);
    expect(bench.begun).to.deep.equal(several('a', 4));
    // The slots are free again.
    bench.ask('b1', 'b2', 'b3');
    await nextTurn();
    expect(bench.begun.slice(4)).to.deep.equal(['b1', 'b2']);
  });

  it('gives each source a turn before any has another one', async () => {
    const bench = new Bench();
    bench.ask('x0', ...several('a', 3), ...several('b', 2), 'c1');
    await bench.end(7);
    expect(bench.begun).to.deep.equal(['x0', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('lets a newcomer wait for one turn of each of the others at most', async () => {
    const bench = new Bench();
    bench.ask('x0');
    for (const other of 'abcdefgh') bench.ask(...several(other, 4));
    bench.ask('n1');
    await bench.end(10);
    expect(bench.begun.indexOf('n1')).to.be.within(1, 9);
    expect(bench.refused).to.have.length(1);
  });

  it('goes on after work that fails, and hands on what it answers', async () => {
    const queue = new FairQueue({ slots: 1, waiting: 1, waitingPerCaller: 1 });
    const failing = queue.run('a', () => Promise.reject(new Error('broken')));
    const next = queue.run('a', async () => 'answer');
    expect(await failing.catch((error) => error.message)).to.equal('broken');
    expect(await next).to.equal('answer');
  });

  it('lets a source have four waiting beside those at work, and turns the next away at once', async () => {
    const bench = new Bench();
    bench.ask(...several('a', 6), 'b1');
    await nextTurn();
    expect(bench.refused).to.deep.equal(['a6 rate_limited']);
    // `a` has just had a turn, so `b` comes first.
    await bench.end(2);
    bench.ask('a7');
    await bench.end(6);
    expect(bench.begun).to.deep.equal(['a1', 'b1', 'a2', 'a3', 'a4', 'a5', 'a7']);
  });

  it('when full makes room for a newcomer at the cost of the last one of the busiest source', async () => {
    const bench = new Bench({ waiting: 6 });
    bench.ask('x0', ...several('a', 4), ...several('b', 2), 'c1');
    await nextTurn();
    expect(bench.refused).to.deep.equal(['a4 overloaded']);
    // a, b and c have 3, 2 and 1 now, and soon 2 each.
    bench.ask('c2');
    await nextTurn();
    expect(bench.refused.slice(1)).to.deep.equal(['a3 overloaded']);
    bench.ask('c3');
    await nextTurn();
    expect(bench.refused.slice(2)).to.deep.equal(['c3 overloaded']);
    bench.ask('d1');
    await nextTurn();
    expect(bench.refused.slice(3)).to.deep.equal(['a2 overloaded']);
    await bench.end(7);
    expect(bench.begun).to.deep.equal(['x0', 'a1', 'b1', 'c1', 'd1', 'b2', 'c2']);
  });

  it('when full of sources with one each turns the newcomer away', async () => {
    const bench = new Bench({ waiting: 3 });
    bench.ask('x0', 'a1', 'b1', 'c1', 'd1', 'a2');
    await bench.end(4);
    expect(bench.refused).to.deep.equal(['d1 overloaded', 'a2 overloaded']);
    expect(bench.begun).to.deep.equal(['x0', 'a1', 'b1', 'c1']);
  });

  it('neither bounds nor turns away what is not bounded, but gives it turns like all others', async () => {
    const bench = new Bench({ waiting: 4 });
    bench.ask('x0', ...several('a', 4));
    bench.askUnbounded(...several('u', 8));
    bench.ask('b1');
    await nextTurn();
    expect(bench.refused).to.deep.equal(['a4 overloaded']);
    await bench.end(13);
    expect(bench.begun.slice(0, 6)).to.deep.equal(['x0', 'a1', 'u1', 'b1', 'a2', 'u2']);
    expect(bench.begun.filter((name) => name.startsWith('u'))).to.deep.equal(several('u', 8));
  });

  it('keeps its bounds and its order whatever comes, and answers everybody', async () => {
    const step = fc.oneof(fc.constantFrom(...'abcdef'), fc.constant('-'));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const bench = new Bench({ slots: 2, waiting: 5, waitingPerCaller: 3 });
        let asked = 0;
        for (const [index, next] of steps.entries()) {
          if (next === '-') await bench.end();
          else bench.ask(`${next}${index}`);
          if (next !== '-') asked += 1;
        }
        await bench.end(asked);
        expect(bench.begun.length + bench.refused.length).to.equal(asked);
        // Within a source, first come, first served.
        for (const of of 'abcdef') {
          const order = bench.begun
            .filter((name) => source(name) === of)
            .map((name) => Number(name.slice(1)));
          expect(order).to.deep.equal([...order].sort((one, other) => one - other));
        }
      }),
      { numRuns: 60 },
    );
  });
});
