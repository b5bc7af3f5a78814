// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { sql } from 'kysely';
import { MINUTE } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Reply } from '../support/client.ts';
import { withDatabase } from '../support/database.ts';
import { itOnSqlite } from '../support/engine.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const NODES = '/api/v1/nodes';

interface Event {
  id: number;
  nodeId: string;
  lcmStatus: string | null;
  status: string | null;
  timestamp: string;
}

describe('the history of what a node did and how compliant it was', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let other: NodeUnderTest;

  before(async () => {
    other = await hawser.registerNode('other.example.org');
    node = await hawser.registerNode('web-01.example.org');
    // Between those of the node, so that ids and times of one are not those of its neighbours.
    for (const lcmStatus of ['Downloading', 'Testing', 'Testing', 'Remediating', 'Idle']) {
      for (const { client, nodeId } of [node, other]) {
        await ok(204, client.put(`${NODES}/${nodeId}/lcm-status`, { lcmStatus }));
      }
      hawser.clock.advance(MINUTE);
    }
  });

  const history = (query = '', { nodeId } = node): Promise<Reply> =>
    hawser.admin.get(`${NODES}/${nodeId}/status-history${query}`);
  const states = ({ json }: Reply): (string | null)[] =>
    json.map(({ lcmStatus, status }: Event) => lcmStatus ?? status);
  const ALL = ['Idle', 'Remediating', 'Testing', 'Testing', 'Downloading'];

  it('has one event for each call, the same status again too, newest first', async () => {
    const reply = await history();
    expect(reply.status).to.equal(200);
    expect(states(reply)).to.deep.equal(ALL);
    const [newest, ...older] = reply.json as Event[];
    expect(newest).to.have.all.keys('id', 'nodeId', 'lcmStatus', 'status', 'timestamp');
    expect(newest).to.include({ nodeId: node.nodeId, lcmStatus: 'Idle', status: null });
    expect(Number.isInteger(newest?.id)).to.equal(true);
    expect(newest?.timestamp).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    let last = newest?.id ?? 0;
    for (const { id } of older) {
      expect(id).to.be.lessThan(last);
      last = id;
    }
  });

  it('has each of many events that nodes tell at the same moment, and the last one of each node stands', async () => {
    const nodes = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => hawser.registerNode(`busy-${name}.example.org`)),
    );
    const told = ['Testing', 'Remediating', 'Testing', 'Idle'];
    await Promise.all(
      nodes.map(async ({ client, nodeId }) => {
        for (const lcmStatus of told)
          expect((await client.put(`${NODES}/${nodeId}/lcm-status`, { lcmStatus })).status).to.equal(204);
      }),
    );
    for (const one of nodes) {
      expect(states(await history('', one))).to.deep.equal(told.toReversed());
      expect((await hawser.admin.get(`${NODES}/${one.nodeId}`)).json.lcmStatus).to.equal('Idle');
    }
  });

  it('pages, with the total and a link to the next page that keeps the filters', async () => {
    const first = await history('?take=2&from=2020-01-01T00:00:00Z');
    expect(states(first)).to.deep.equal(ALL.slice(0, 2));
    expect(first.headers['x-total-count']).to.equal('5');
    const next = /^<([^>]+)>; rel="next"$/.exec(String(first.headers['link']))?.[1] ?? '';
    expect(next).to.include('from=');
    const second = await hawser.admin.get(next);
    expect(states(second)).to.deep.equal(ALL.slice(2, 4));
    const last = await history('?take=2&skip=4');
    expect(states(last)).to.deep.equal(ALL.slice(4));
    expect(last.headers['link']).to.equal(undefined);
    expect(states(await history('?skip=5'))).to.deep.equal([]);
  });

  it('shows the events from and to a time, both included, in any zone', async () => {
    const events = (await history()).json as Event[];
    const at = (index: number): number => Date.parse(events[index]?.timestamp ?? '');
    const iso = (time: number): string => encodeURIComponent(new Date(time).toISOString());
    expect(states(await history(`?from=${iso(at(1))}`))).to.deep.equal(ALL.slice(0, 2));
    expect(states(await history(`?to=${iso(at(1))}`))).to.deep.equal(ALL.slice(1));
    expect(states(await history(`?from=${iso(at(3))}&to=${iso(at(1))}`))).to.deep.equal(ALL.slice(1, 4));
    const offset = new Date(at(1) + 120 * MINUTE).toISOString().replace('Z', '%2B02:00');
    expect(states(await history(`?from=${offset}`))).to.deep.equal(ALL.slice(0, 2));
    const between = await history(`?from=${iso(at(1) + 1)}&to=${iso(at(0) - 1)}`);
    expect(states(between)).to.deep.equal([]);
    expect(between.headers['x-total-count']).to.equal('0');
  });

  it('shows 50 where no number is asked for, and orders events of one moment by their making', async () => {
    const busy = await hawser.registerNode('busy.example.org');
    await withDatabase(hawser, async ({ write }) => {
      const timestamp = hawser.clock.now();
      const rows = Array.from({ length: 60 }, (_, index) => ({
        node_id: busy.nodeId,
        lcm_status: index % 2 === 0 ? 'Idle' : null,
        status: index % 2 === 0 ? null : 'Compliant',
        timestamp,
      }));
      await write.insertInto('status_events').values(rows).execute();
    });
    const reply = await history('', busy);
    expect(reply.json).to.have.length(50);
    expect(reply.headers['x-total-count']).to.equal('60');
    expect(reply.json[0]).to.include({ lcmStatus: null, status: 'Compliant' });
    expect(reply.json[1]).to.include({ lcmStatus: 'Idle', status: null });
    expect(new Set(reply.json.map(({ id }: Event) => id)).size).to.equal(50);
  });

  itOnSqlite('is read from the index, however many events there are,', async () => {
    const plan = await withDatabase(hawser, ({ read }) =>
      read
        .selectFrom('status_events')
        .selectAll()
        .where('node_id', '=', node.nodeId)
        .where('timestamp', '>=', 0)
        .orderBy('timestamp', 'desc')
        .orderBy('id', 'desc')
        .limit(50)
        .explain(undefined, sql`query plan`),
    );
    const steps = plan.map((step) => String(step['detail']));
    expect(steps).to.have.length(1);
    expect(steps[0]).to.match(/SEARCH status_events USING INDEX status_events_by_node/);
  });

  for (const query of [
    '?take=0',
    '?take=1001',
    '?skip=-1',
    '?from=yesterday',
    '?from=2026-01-01',
    '?to=2026-01-01T00:00:00',
    '?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z',
  ]) {
    it(`answers 400 to ${query}`, async () => {
      const reply = await history(query);
      expect(`${reply.status} ${reply.json.code}`).to.equal('400 validation_failed');
      expect(reply.json.errors[0].path).to.match(/^\/\w+$/);
    });
  }

  it('is of a node that there is', async () => {
    for (const id of [newId(), 'web-01'])
      expect((await hawser.admin.get(`${NODES}/${id}/status-history`)).status).to.equal(404);
  });
});
