import { expect } from 'chai';
import { FairQueue } from '../../../src/lib/fair-queue.ts';
import { refusalOf } from '../../support/failures.ts';

const never = new AbortController().signal;

/** Lets promises that are settled take effect. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('a fair queue with a bound for each caller', () => {
  let places: FairQueue;
  let entered: string[];
  let leave: Record<string, () => void>;

  beforeEach(() => {
    places = new FairQueue({ slots: 4, slotsPerCaller: 2 });
    entered = [];
    leave = {};
  });

  /** @param name the user's, then a digit */
  const come = async (name: string, gone = never) => {
    const taken = places.take(name.slice(0, -1), gone).then((back) => {
      entered.push(name);
      leave[name] = back;
    });
    taken.catch(() => undefined);
    await settle();
    return { taken };
  };

  it('lets nobody hold more than half of them', async () => {
    for (const name of ['ann1', 'ann2', 'ann3', 'ann4', 'bob1', 'bob2']) await come(name);
    expect(entered).to.deep.equal(['ann1', 'ann2', 'bob1', 'bob2']);
  });

  it('gives a place that becomes free to the user who holds the fewest, then to who came first', async () => {
    for (const name of ['ann1', 'ann2', 'bob1', 'bob2', 'ann3', 'ann4', 'cyd1', 'dan1']) await come(name);
    expect(entered).to.deep.equal(['ann1', 'ann2', 'bob1', 'bob2']);
    for (const name of ['ann1', 'bob1', 'cyd1', 'dan1']) {
      leave[name]?.();
      await settle();
    }
    // The second place of ann's is still hers, and with ann3 she holds two again.
    expect(entered.slice(4)).to.deep.equal(['cyd1', 'dan1', 'ann3']);
  });

  it('counts a place that is given back twice once', async () => {
    for (const name of ['ann1', 'ann2', 'ann3', 'ann4']) await come(name);
    leave['ann1']?.();
    leave['ann1']?.();
    await settle();
    expect(entered).to.deep.equal(['ann1', 'ann2', 'ann3']);
  });

  it('turns away who waits for more than their share, or for too long', async () => {
    places = new FairQueue({ slots: 1, waiting: 2, waitingPerCaller: 1, patience: 50 });
    const back = await places.takeBounded('ann', never);
    const first = refusalOf(places.takeBounded('ann', never));
    const again = await refusalOf(places.takeBounded('ann', never));
    expect(again).to.include({ kind: 'rate_limited', code: 'rate_limited', retryAfter: 2 });
    const second = refusalOf(places.takeBounded('bob', never));
    expect(await refusalOf(places.takeBounded('cyd', never))).to.include({ code: 'overloaded' });
    expect(await first).to.include({ code: 'rate_limited', retryAfter: 1 });
    expect(await second).to.include({ code: 'rate_limited', retryAfter: 1 });
    back();
    (await places.takeBounded('cyd', never))();
  });

  it('forgets who left while they waited, and turns away who had left before', async () => {
    for (const name of ['ann1', 'ann2']) await come(name);
    const gone = new AbortController();
    const { taken } = await come('ann3', gone.signal);
    await come('ann4');
    gone.abort();
    expect((await refusalOf(taken)).code).to.equal('client_gone');
    leave['ann1']?.();
    await settle();
    expect(entered).to.deep.equal(['ann1', 'ann2', 'ann4']);
    const late = await come('bob1', gone.signal);
    expect((await refusalOf(late.taken)).code).to.equal('client_gone');
  });
});
