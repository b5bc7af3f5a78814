import { expect } from 'chai';
import { GroupCommit } from '../../../src/db/group-commit.ts';
import { temporarySqlite } from '../../support/temporary.ts';

/** A row of `server_settings`, a table without rules beyond its key. */
interface Item {
  name: string;
  size?: number;
}

describe('a group commit', () => {
  const database = temporarySqlite();
  /** The names of each batch that was begun. */
  let batches: string[][];
  let group: GroupCommit<Item, string>;

  beforeEach(() => {
    batches = [];
    group = new GroupCommit<Item, string>(database().write, {
      sizeOf: ({ size = 1 }) => size,
      async write(trx, items) {
        batches.push(items.map(({ name }) => name));
        for (const { name } of items) {
          if (name.startsWith('refused')) continue;
          await trx.insertInto('server_settings').values({ name, value: '1' }).execute();
        }
        return items.map(({ name }) => (name.startsWith('refused') ? new Error(name) : `wrote ${name}`));
      },
    });
  });

  const names = (count: number, prefix = 'item') =>
    Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(4, '0')}`);
  const submitAll = (wanted: readonly string[]) =>
    Promise.allSettled(wanted.map((name) => group.submit({ name })));
  const outcomes = (settled: PromiseSettledResult<string>[]) =>
    settled.map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason.message)));
  const stored = async () => {
    const names = database().read.selectFrom('server_settings').select('name').orderBy('name');
    return (await names.execute()).map(({ name }) => name);
  };
  /** Holds the writer until it is released. */
  const holdWriter = () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const busy = database()
      .write.transaction()
      .execute(() => held);
    return { release, busy };
  };

  it('writes what comes in together in one transaction, in the order in which it came', async () => {
    const wanted = names(64);
    expect(outcomes(await submitAll(wanted))).to.deep.equal(wanted.map((name) => `wrote ${name}`));
    expect(await stored()).to.deep.equal(wanted);
    expect(batches).to.deep.equal([wanted]);
  });

  it('writes a single one at once, and another one after it', async () => {
    expect(await group.submit({ name: 'first' })).to.equal('wrote first');
    expect(await group.submit({ name: 'second' })).to.equal('wrote second');
    expect(batches).to.deep.equal([['first'], ['second']]);
  });

  it('gathers the next batch while one is being written', async () => {
    const { release, busy } = holdWriter();
    const all = names(10).map((name) => group.submit({ name }));
    await new Promise((resolve) => setImmediate(resolve));
    // The first batch waits for the writer by now.
    const later = names(20, 'later').map((name) => group.submit({ name }));
    release();
    await busy;
    await Promise.all([...all, ...later]);
    expect(batches).to.deep.equal([names(10), names(20, 'later')]);
  });

  it('has answered nobody before the commit', async () => {
    const { release, busy } = holdWriter();
    let isAnswered = false;
    const answered = group.submit({ name: 'one' }).then(() => (isAnswered = true));
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(isAnswered).to.equal(false);
    release();
    await Promise.all([busy, answered]);
    expect(await stored()).to.deep.equal(['one']);
  });

  it('bounds a batch by its number', async () => {
    await submitAll(names(600));
    expect(batches.map((batch) => batch.length)).to.deep.equal([256, 256, 88]);
    expect(await stored()).to.have.length(600);
  });

  it('bounds a batch by its bytes, but takes one however large it is', async () => {
    const QUARTER = 256 * 1024;
    const sizes = [5, 2, 4, 20, 1].map((size) => size * QUARTER);
    await Promise.all(sizes.map((size, index) => group.submit({ name: `n${index}`, size })));
    expect(batches).to.deep.equal([['n0', 'n1'], ['n2'], ['n3'], ['n4']]);
  });

  it('gives one the error that is its own, and keeps its neighbours', async () => {
    const settled = await submitAll(['a', 'refused-b', 'c']);
    expect(outcomes(settled)).to.deep.equal(['wrote a', 'refused-b', 'wrote c']);
    expect(await stored()).to.deep.equal(['a', 'c']);
    expect(batches).to.have.length(1);
  });

  it('writes the neighbours of one that breaks the transaction', async () => {
    const settled = await submitAll(['a', 'b', 'a', 'c']);
    const [a, b, again, c] = outcomes(settled);
    expect([a, b, c]).to.deep.equal(['wrote a', 'wrote b', 'wrote c']);
    expect(again).to.match(/UNIQUE/);
    expect(await stored()).to.deep.equal(['a', 'b', 'c']);
    expect(await group.submit({ name: 'd' }), 'it goes on').to.equal('wrote d');
  });
});
