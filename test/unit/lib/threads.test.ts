import { AsyncLocalStorage } from 'node:async_hooks';
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { HawserError } from '../../../src/lib/errors.ts';
import { Threads } from '../../../src/lib/threads.ts';
import { eventually } from '../../support/eventually.ts';
import { failureOf } from '../../support/failures.ts';
import type { TestTasks } from '../../support/thread-tasks.ts';

const ENTRY = new URL('../../support/thread-tasks.js', import.meta.url);

describe('threads', () => {
  let threads: Threads<TestTasks>;
  const open = (size = 1) => {
    threads = new Threads<TestTasks>({ entry: ENTRY, size, heapMegabytes: 32 });
  };
  afterEach(() => threads.close());

  const closedGate = () => new Int32Array(new SharedArrayBuffer(4));
  const release = (gate: Int32Array) => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  /** Names in the order in which the work ended. */
  const ending = (work: Record<string, Promise<unknown>>) => {
    const order: string[] = [];
    const all = Object.entries(work).map(([name, each]) => each.then(() => order.push(name)));
    return Promise.all(all).then(() => order);
  };

  it('carry out tasks, at once or later, and give back what they give', async () => {
    open();
    expect(await threads.run('a', 'double', 21)).to.equal(42);
    expect(await threads.run('a', 'later', 'x')).to.equal('x');
    const value = { bytes: new Uint8Array([1, 2]), map: new Map([['k', 1n]]), none: undefined };
    expect(await threads.run('a', 'copy', value)).to.deep.equal(value);
  });

  it('take over buffers that they are given, and hand over the bytes that they make', async () => {
    open();
    const bytes = new Uint8Array([1, 2, 3]);
    expect(await threads.run('a', 'copy', { bytes }, { given: [bytes.buffer] })).to.deep.equal({
      bytes: new Uint8Array([1, 2, 3]),
    });
    expect(bytes.byteLength).to.equal(0);
    for (const length of [0, 3, 100_000])
      expect(await threads.run('a', 'bytes', length)).to.deep.equal(new Uint8Array(length).fill(7));
  });

  it('hold no memory of what they were given when the task is done', async () => {
    open();
    const bytes = new Uint8Array(32_000_000);
    const before = process.memoryUsage().arrayBuffers;
    expect(await threads.run('a', 'sizeOf', bytes, { given: [bytes.buffer] })).to.equal(32_000_000);
    await eventually(async () => expect(before - process.memoryUsage().arrayBuffers).to.be.above(16_000_000));
  });

  it('send pieces of what a task makes, each once the one before is taken, and then its result', async () => {
    open();
    const taken: unknown[] = [];
    const onPiece = async (piece: unknown) => {
      taken.push(`begins ${piece}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
      taken.push(`ends ${piece}`);
    };
    taken.push(await threads.run('a', 'count', 3, { onPiece }));
    const pieces = [1, 2, 3].flatMap((piece) => [`begins ${piece}`, `ends ${piece}`]);
    expect(taken).to.deep.equal([...pieces, 'counted 3']);
    expect(await threads.run('a', 'count', 2), 'nobody takes them').to.equal('counted 2');
  });

  it('give pieces to the caller of now, not to the one for whom the thread was opened', async () => {
    open();
    const caller = new AsyncLocalStorage<string>();
    const takers: unknown[] = [];
    const onPiece = () => void takers.push(caller.getStore());
    for (const name of ['first', 'second'])
      await caller.run(name, () => threads.run('a', 'count', 1, { onPiece }));
    expect(takers).to.deep.equal(['first', 'second']);
  });

  it('fail with what the taker of a piece throws, and work on', async () => {
    open();
    const taken: unknown[] = [];
    const onPiece = (piece: unknown) => {
      taken.push(piece);
      throw new HawserError('storage_full', 'insufficient_storage', 'The disk is full');
    };
    const error = await failureOf(threads.run('a', 'count', 3, { onPiece }));
    expect(error).to.include({ code: 'insufficient_storage', message: 'The disk is full' });
    expect(taken).to.deep.equal([1]);
    expect(await threads.run('a', 'double', 21)).to.equal(42);
  });

  it('are told at their beginning what they work on', async () => {
    threads = new Threads<TestTasks>({ entry: ENTRY, size: 1, data: { folder: '/somewhere' } });
    expect(await threads.run('a', 'told', null)).to.deep.equal({ folder: '/somewhere' });
  });

  it('throw what a task throws: kind, code, message, members, seconds and cause', async () => {
    open();
    const error = await failureOf(threads.run('a', 'refuse', undefined));
    expect(error).to.be.instanceOf(HawserError);
    expect(error).to.deep.include({
      ...{ kind: 'rate_limited', code: 'rate_limited', message: 'come again', retryAfter: 7 },
      data: { errors: [{ path: '/a', message: 'no', code: 'type' }] },
    });
    expect(error.cause).to.be.instanceOf(Error).and.include({ name: 'TypeError', message: 'the inner one' });
    expect(error.stack).to.include('thread-tasks');
    const other = await failureOf(threads.run('a', 'conflict', undefined));
    expect(other).to.include({ kind: 'conflict', code: 'in_use', retryAfter: undefined });
  });

  it('go on after a task that failed, or whose value cannot be copied', async () => {
    open();
    const error = await failureOf(threads.run('a', 'fail', undefined));
    expect(error).not.to.be.instanceOf(HawserError);
    expect(error).to.include({ name: 'RangeError', message: 'a defect' });
    expect(await failureOf(threads.run('a', 'copy', () => undefined))).to.include({ name: 'DataCloneError' });
    expect(await failureOf(threads.run('a', 'giveFunction', undefined))).to.include({
      code: 'internal_error',
    });
    expect(await threads.run('a', 'double', 1)).to.equal(2);
  });

  it('that die fail the one task that they were at; the next ones get another', async () => {
    open();
    const [dead, ...others] = await Promise.allSettled([
      threads.run('a', 'die', undefined),
      threads.run('a', 'double', 1),
      threads.run('b', 'double', 2),
    ]);
    expect(dead).to.have.property('status', 'rejected');
    expect(dead).to.have.nested.property('reason.code', 'internal_error');
    expect(others.map((each) => 'value' in each && each.value)).to.deep.equal([2, 4]);
  });

  it('take a limited memory, and end alone when they need more', async () => {
    open();
    expect(await failureOf(threads.run('a', 'exhaustMemory', undefined))).to.include({
      code: 'internal_error',
    });
    expect(await threads.run('a', 'double', 1)).to.equal(2);
  });

  it('serve callers in turn, so that one with many tasks does not hold up one with a few', async () => {
    open();
    const gate = closedGate();
    const first = threads.run('a', 'wait', gate);
    const names = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'];
    const work = names.map((name) => [name, threads.run(name.charAt(0), 'double', 1)] as const);
    const order = ending(Object.fromEntries(work));
    release(gate);
    await first;
    expect(await order).to.deep.equal(['b1', 'c1', 'a1', 'b2', 'a2', 'a3']);
  });

  it('do one task of a caller at a time, though another thread is free', async () => {
    open(2);
    const gate = closedGate();
    const first = threads.run('a', 'wait', gate);
    let isDone = false;
    const second = threads.run('a', 'double', 1).then(() => {
      isDone = true;
    });
    expect(await threads.run('b', 'double', 2)).to.equal(4);
    expect(await threads.run('b', 'double', 3)).to.equal(6);
    expect(isDone).to.equal(false);
    release(gate);
    await Promise.all([first, second]);
  });

  it('fail what they are about when they are closed, and whatever comes after', async () => {
    open();
    const running = failureOf(threads.run('a', 'wait', closedGate()));
    const waiting = failureOf(threads.run('a', 'double', 1));
    await threads.close();
    const late = failureOf(threads.run('b', 'double', 1));
    for (const error of await Promise.all([running, waiting, late]))
      expect(error).to.include({ kind: 'unavailable', code: 'shutting_down' });
  });

  it('keep a process only while it waits for their work', () => {
    open();
    const script = `import('${new URL('../../../src/lib/threads.js', import.meta.url)}').then(async ({ Threads }) => {
      const threads = new Threads({ entry: new URL('${ENTRY}'), size: 2 });
      console.log(await threads.run('a', 'double', 4));
    })`;
    const options = { encoding: 'utf8', timeout: 170_000 } as const;
    const { status, stdout } = spawnSync(process.execPath, ['--eval', script], options);
    expect({ status, stdout }).to.deep.equal({ status: 0, stdout: '8\n' });
  });
});
