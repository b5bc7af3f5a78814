// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { DAY } from '../../src/lib/clock.ts';
import { withDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { createToken, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { withdraw } from '../support/withdrawals.ts';

const EVENTS = '/api/v1/events';

interface Envelope {
  id: string;
  type: string;
  subject: string;
  source: string;
  data: Record<string, unknown>;
}

describe('the feed of events', () => {
  let hawser: Hawser;

  beforeEach(async () => {
    hawser = await startHawser({ HAWSER_PUBLIC_URL: 'https://hawser.example.org' });
  });
  afterEach(() => hawser.close());

  const read = (query = ''): Promise<Envelope[]> => ok(200, hawser.admin.get(`${EVENTS}${query}`));
  /** Waits until so many events are in the feed. */
  const events = (count: number) =>
    eventually(async () => {
      const found = await read();
      if (found.length < count) throw new Error(`there are ${found.length} events`);
      return found;
    });
  const make = (name: string) => ok(201, hawser.admin.post('/api/v1/composite-configurations', { name }));
  const told = ({ type, subject }: Envelope) => `${type} ${subject}`;

  it('tells what became of configurations, composites, versions and nodes, in its order', async () => {
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
    await ok(200, withdraw(hawser.admin, 'web', '1.0.0', 'it breaks'));
    const node = await hawser.registerNode('web-01.example.org');
    const report = (hadErrors: boolean) =>
      ok(
        201,
        node.client.post(`/api/v1/nodes/${node.nodeId}/reports`, {
          ...{ operation: 'Test', result: { hadErrors } },
        }),
      );
    await report(true);
    await report(true);
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${node.nodeId}`));
    await make('old');
    await ok(204, hawser.admin.delete('/api/v1/composite-configurations/old'));
    const found = await events(8);
    const ofNode = `nodes/${node.nodeId}`;
    expect(found.map(told)).to.deep.equal([
      'configuration.created configurations/web',
      'configuration.version_published configurations/web',
      'configuration.version_withdrawn configurations/web',
      `node.registered ${ofNode}`,
      `node.status_changed ${ofNode}`,
      `node.deleted ${ofNode}`,
      'composite.created composite-configurations/old',
      'composite.deleted composite-configurations/old',
    ]);
    const [, published, withdrawn, , changed] = found;
    expect(published).to.deep.include({
      ...{ specversion: '1.0', source: 'https://hawser.example.org', datacontenttype: 'application/json' },
    });
    expect(published?.data).to.include({
      name: 'web',
      version: '1.0.0',
      actorType: 'User',
      actorName: 'admin',
    });
    expect(withdrawn?.data).to.include({ version: '1.0.0', reason: 'it breaks' });
    expect(changed?.data).to.deep.equal({ fqdn: 'web-01.example.org', before: 'Unknown', status: 'Error' });
  });

  it('is read on from the last event that is known', async () => {
    for (const name of ['a', 'b', 'c']) await make(name);
    const [first, ...others] = await events(3);
    expect(await read(`?after=${first?.id}`)).to.deep.equal(others);
    expect(await read(`?after=${others[1]?.id}`)).to.deep.equal([]);
    expect(await read('?after=')).to.have.length(3);
  });

  it('answers whoever waits when something happens', async () => {
    await make('before');
    const [last] = await events(1);
    let isAnswered = false;
    const waiting = read(`?after=${last?.id}&wait=60`).then((found) => {
      isAnswered = true;
      return found;
    });
    await ok(200, hawser.admin.get('/api/v1/nodes'));
    expect(isAnswered).to.equal(false);
    await make('after');
    expect((await waiting).map(told)).to.deep.equal(['composite.created composite-configurations/after']);
  });

  it('answers with nothing when the time is over, and at once where nobody waits', async () => {
    expect(await read('?wait=1')).to.deep.equal([]);
    expect(await read('?wait=0')).to.deep.equal([]);
    expect((await hawser.admin.call('HEAD', `${EVENTS}?wait=60`)).status).to.equal(200);
  });

  it('lets those who wait go when the server closes', async () => {
    const waiting = read('?wait=60');
    await eventually(async () => {
      const many = await Promise.all(Array.from({ length: 11 }, () => hawser.admin.get(`${EVENTS}?wait=1`)));
      if (!many.some(({ status }) => status === 429)) throw new Error('not all wait yet');
    });
    await hawser.restart();
    expect(await waiting).to.deep.equal([]);
  });

  it('refuses more than ten waits of one user, and takes others again afterwards', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => hawser.admin.get(`${EVENTS}?wait=2`)));
    expect(all.filter(({ status }) => status === 200)).to.have.length(10);
    for (const { json, headers } of all.filter(({ status }) => status !== 200)) {
      expect(json.code).to.equal('rate_limited');
      expect(headers['retry-after']).to.equal('5');
    }
    expect(await read('?wait=1')).to.deep.equal([]);
  });

  it('tells nothing to whoever has lost the permission while waiting', async () => {
    const token = await createToken(hawser.client(), hawser.session, ['webhooks.manage']);
    const tokens = await ok(200, hawser.admin.get('/api/v1/auth/tokens'));
    const { id } = tokens.find(({ scopes }: { scopes: string[] }) => scopes.join() === 'webhooks.manage');
    const waiting = hawser
      .client()
      .with({ Authorization: `Bearer ${token}` })
      .get(`${EVENTS}?wait=60`);
    await ok(200, hawser.admin.get('/api/v1/nodes'));
    await ok(204, hawser.client().with({ Cookie: hawser.session }).delete(`/api/v1/auth/tokens/${id}`));
    await make('a');
    expect((await waiting).status).to.equal(401);
  });

  it('says so where the event that is known is gone, or never was', async () => {
    for (const after of ['00000000-0000-4000-8000-000000000000', 'nonsense', '1'])
      await expectProblem(hawser.admin.get(`${EVENTS}?after=${after}`), 410, 'events_gone');
    await expectProblem(hawser.admin.get(`${EVENTS}?wait=61`), 400, 'validation_failed');
  });

  it('keeps events for 30 days, and always the newest', async () => {
    for (const name of ['a', 'b']) await make(name);
    const [, second] = await events(2);
    hawser.clock.advance(29 * DAY);
    await hawser.restart();
    expect(await read()).to.have.length(2);
    hawser.clock.advance(2 * DAY);
    await hawser.restart();
    await eventually(async () => {
      const left = await withDatabase(hawser, ({ read: db }) =>
        db.selectFrom('events').select('id').execute(),
      );
      if (left.length !== 1) throw new Error(`${left.length} events are left`);
      expect(left[0]?.id).to.equal(second?.id);
    });
  });
});
