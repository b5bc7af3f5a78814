// full: PostgreSQL
/** PostgreSQL counts what a server asks of it while nodes poll that the server knows already. */

import { expect } from 'chai';
import { type Client, makeUncheckedClient, type Reply } from '../support/client.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationPath, poll, saveParameters } from '../support/parameter-files.ts';
import { databaseName, querySharedCluster } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';

const NODES = 5;
/** The counted calls of each node: polls of its checksum, and downloads. */
const POLLS = 200;
const DOWNLOADS = 40;

/**
 * What a server does meanwhile: it asks what was changed, says once a minute that it is there, looks for events and for
 * change sets that are due as the leader, and writes when nodes called.
 */
const TICK = /^select position\.\*/;
const PRESENCE = /^insert into "servers"/;
const EVENTS = /^select .* from "(?:webhooks|events|change_sets)" where/;
const CHECK_INS = /^insert into node_check_ins/;

/** The tick asks every 200 ms. It asks once more for this server's own writes, and where it comes too late. */
const MOST_TICKS_PER_SECOND = 12;
/** It looks for new events and for webhooks twice a second each. */
const MOST_LOOKS_PER_SECOND = 5;
/** What was due before the first count, and comes late. */
const AT_ONCE = 8;
/** On a busy machine the polls take long, and what else it does now and then comes more often meanwhile. */
const MOST_OTHERS_PER_SECOND = 0.5;

interface Polling {
  client: Client;
  path: string;
  etag: string;
}

describeOnPostgres('nodes that a server knows poll it', () => {
  let hawser: Hawser;
  let polling: Polling[];

  before(async () => {
    hawser = await startHawser();
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {port: 80}' });
    polling = [];
    for (let number = 1; number <= NODES; number += 1)
      polling.push(await begin(await hawser.registerNode(`web-${number}.example.org`)));
    await eventually(expectAllShown);
  });
  after(async () => {
    for (const { client } of polling) client.close();
    await hawser.close();
  });

  /** The first calls of a node, which have to look it up, and tell what it runs. */
  async function begin(node: NodeUnderTest): Promise<Polling> {
    await assign(hawser, node, 'web');
    const path = configurationPath(node);
    const { checksum } = await ok(200, poll(node));
    expect((await node.client.get(`${path}/bundle`)).status).to.equal(200);
    expect((await poll(node, checksum)).status).to.equal(304);
    return { client: makeUncheckedClient(hawser.target(), node.identity), path, etag: `"${checksum}"` };
  }

  /** What the first calls told is written soon after them. */
  async function expectAllShown(): Promise<void> {
    const nodes = await ok(200, hawser.admin.get('/api/v1/nodes'));
    expect(nodes).to.have.length(NODES);
    for (const { id } of nodes) {
      const { running } = await ok(200, hawser.admin.get(`/api/v1/nodes/${id}`));
      expect(running?.evidence).to.equal('Declared');
    }
  }

  /** How often each statement of the server was carried out so far. */
  async function counted(): Promise<Map<string, number>> {
    const rows = await querySharedCluster<{ query: string; calls: string }>(
      `select query, sum(calls)::text as calls from pg_stat_statements
        where dbid = (select oid from pg_database where datname = '${databaseName(hawser.databaseUrl ?? '')}')
        group by query`,
    );
    return new Map(rows.map(({ query, calls }) => [query, Number(calls)]));
  }

  async function pollBy({ client, path, etag }: Polling): Promise<void> {
    const expectStatus = (status: number, reply: Reply) => expect(reply.status, reply.text).to.equal(status);
    for (let round = 1; round <= POLLS; round += 1) {
      expectStatus(304, await client.get(`${path}/checksum`, { 'If-None-Match': etag }));
      if (round % (POLLS / DOWNLOADS) === 0) expectStatus(200, await client.get(`${path}/bundle`));
    }
  }

  it('and cost no statements: those of the tick and of the check-ins are as many as without polls', async () => {
    const before = await counted();
    const begun = performance.now();
    await Promise.all(polling.map(pollBy));
    const checkIns = (counts: ReadonlyMap<string, number>) =>
      [...counts].reduce((sum, [query, calls]) => sum + (CHECK_INS.test(query) ? calls : 0), 0);
    // The last calls are written, too, no later than those that come after them.
    const atEnd = checkIns(await counted());
    await Promise.all(
      polling.map(({ client, path, etag }) => client.get(`${path}/checksum`, { 'If-None-Match': etag })),
    );
    await eventually(async () => expect(checkIns(await counted())).to.be.above(atEnd));
    const after = await counted();
    const seconds = (performance.now() - begun) / 1_000;
    const grown = new Map(
      [...after].map(([query, calls]) => [query, calls - (before.get(query) ?? 0)] as const),
    );
    const callsOf = (kind: RegExp) =>
      [...grown].reduce((sum, [query, calls]) => sum + (kind.test(query) ? calls : 0), 0);
    // The leader also looks at settings, rollouts and old events now and then. What polls cost would come for each node.
    const many = Math.max(NODES, seconds * MOST_OTHERS_PER_SECOND);
    const others = [...grown].filter(
      ([query, calls]) =>
        calls >= many && ![TICK, PRESENCE, EVENTS, CHECK_INS].some((kind) => kind.test(query)),
    );
    expect(others).to.deep.equal([]);
    const mostBy = (perSecond: number) => Math.ceil(seconds * perSecond) + AT_ONCE;
    expect(callsOf(CHECK_INS)).to.be.within(1, mostBy(1));
    expect(callsOf(EVENTS)).to.be.at.most(mostBy(MOST_LOOKS_PER_SECOND));
    expect(callsOf(TICK)).to.be.at.most(mostBy(MOST_TICKS_PER_SECOND));
    expect(callsOf(TICK)).to.be.below(NODES * (POLLS + DOWNLOADS));
  });
});
