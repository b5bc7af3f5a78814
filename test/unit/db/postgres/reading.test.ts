// full: SQLite
import { expect } from 'chai';
import { sql } from 'kysely';
import { openForReading } from '../../../../src/db/open-reading.ts';
import { readingFleet } from '../../../../src/db/read-fleet.ts';
import { type Assigned, readingRunning, readingRunningGeneration } from '../../../../src/db/read-running.ts';
import type { Reading } from '../../../../src/db/reading.ts';
import { HawserError } from '../../../../src/lib/errors.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  addNodes,
  fill,
  type PostgresSite,
  type ReadSite,
  siteOnPostgres,
  siteOnSqlite,
} from '../../../support/postgres/reading-site.ts';
import { querySharedCluster } from '../../../support/postgres.ts';

/** More than PostgreSQL gives at a time. */
const NODES = 10_050;

const WEB: Assigned = { kind: 'configurations', id: 'web', name: 'web' };
const STACK: Assigned = { kind: 'composites', id: 'stack', name: 'stack' };

function* countingNodes(): Reading<number> {
  let nodes = 0;
  yield {
    sql: 'select id from nodes',
    take: () => {
      nodes += 1;
    },
  };
  return nodes;
}

const GATE = 4_711;

/** Waits until the gate is open, and counts the nodes then. */
function* countingAtGate(onBegun: () => void): Reading<number> {
  yield { sql: 'select 1', take: onBegun };
  yield { sql: 'select from pg_advisory_xact_lock_shared(?)', values: [GATE], take: () => undefined };
  return yield* countingNodes();
}

describe('what threads read', () => {
  let sqlite: ReadSite;
  let postgres: PostgresSite;

  before(async () => {
    [sqlite, postgres] = [await siteOnSqlite(), await siteOnPostgres()];
    for (const { write } of [sqlite, postgres]) await fill(write, NODES);
  });
  after(async () => {
    await sqlite.close();
    await postgres.close();
  });

  /** Ends the connection by which the site is read. */
  async function endConnection(): Promise<void> {
    const rows = await querySharedCluster<{ ended: boolean }>(
      `select pg_terminate_backend(pid) as ended from pg_stat_activity
        where datname = '${postgres.name}' and query ~ '^(commit|declare|fetch)'`,
    );
    expect(rows).to.deep.equal([{ ended: true }]);
  }

  it('of the fleet is the same on both engines', async () => {
    const one = await sqlite.reading.read(readingFleet());
    const other = await postgres.reading.read(readingFleet());
    expect(one.size).to.equal(NODES);
    expect(other.nodes).to.deep.equal(one.nodes);
    expect(other.assignments).to.deep.equal(one.assignments);
    expect(other.scopes).to.deep.equal(one.scopes);
    const { position: _, ...registry } = one.registry;
    expect(other.registry).to.deep.include(registry);
  });

  it('of what nodes run is the same on both engines', async () => {
    for (const [of, by] of [
      [WEB, [WEB, STACK]],
      [STACK, [STACK]],
    ] as const) {
      const one = await sqlite.reading.read(readingRunning(of, by));
      expect(one.size).to.be.greaterThan(1_000);
      const rows = [...one.values()];
      expect(new Set(rows.map(({ outcome }) => outcome))).to.deep.equal(new Set(['Failed', 'Applied', null]));
      expect(rows.some(({ runs }) => runs === '1.0.0')).to.equal(of === WEB);
      expect(await postgres.reading.read(readingRunning(of, by))).to.deep.equal(one);
    }
  });

  for (const engine of ['SQLite', 'PostgreSQL']) {
    const site = () => (engine === 'SQLite' ? sqlite : postgres);

    it(`belongs to the position that the change feed tells, on ${engine}`, async () => {
      const { write, reading } = site();
      const told: string[] = [];
      await reading.changes.catchUp('now');
      reading.changes.subscribe({
        onChange: (kind, key) => told.push(`${kind} ${key}`),
        onLost: () => told.push('lost'),
      });
      await write.updateTable('configurations').set({ description: engine }).where('id', '=', 'db').execute();
      reading.changes.markStale();
      await reading.changes.catchUp('now');
      expect(told).to.deep.equal(['configurations db']);
      const { position } = (await reading.read(readingFleet())).registry;
      const { generation, lastChange } = reading.changes;
      expect(position).to.deep.equal({ generation, lastChange });
      const running = await reading.read(readingRunningGeneration());
      await write.updateTable('node_running').set({ since: 1 }).where('node_id', '=', 'n1').execute();
      expect(await reading.read(readingRunningGeneration())).to.be.greaterThan(running);
    });
  }

  /** Begins a reading, and does the work before the reading may end. */
  async function during(work: () => Promise<void>): Promise<unknown> {
    return postgres.write.connection().execute(async (gate) => {
      await sql`select pg_advisory_lock(${GATE})`.execute(gate);
      let onBegun: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => {
        onBegun = resolve;
      });
      const read = postgres.reading.read(countingAtGate(onBegun));
      const outcome = Promise.resolve(read).catch((error: unknown) => error);
      await begun;
      await work();
      await sql`select pg_advisory_unlock(${GATE})`.execute(gate);
      return outcome;
    });
  }

  it('is the state of one moment, on PostgreSQL', async () => {
    expect(await during(() => addNodes(postgres.write, [NODES, NODES + 1]))).to.equal(NODES);
    expect(await postgres.reading.read(countingNodes())).to.equal(NODES + 2);
  });

  it('is read by a new connection when the last one was ended, on PostgreSQL', async () => {
    const nodes = await postgres.reading.read(countingNodes());
    await endConnection();
    await eventually(async () => expect(await postgres.reading.read(countingNodes())).to.equal(nodes));
  });

  it('cannot be read when the connection is ended meanwhile, but can then, on PostgreSQL', async () => {
    expectAway(await during(endConnection));
    await postgres.reading.changes.catchUp('now');
  });

  it('cannot be read from a server that is not there, and no message has the password', async () => {
    const databaseUrl = 'postgres://hawser:my-password@127.0.0.1:1/hawser';
    const reading = openForReading({ dataDir: '/nonexistent', databaseUrl });
    for (const ask of [() => reading.changes.catchUp('now'), () => reading.read(countingNodes())]) {
      const error = await Promise.resolve(ask()).catch((caught: unknown) => caught);
      expectAway(error);
      for (let cause = error; cause instanceof Error; cause = cause.cause)
        expect(`${cause.message} ${cause.stack} ${JSON.stringify(cause)}`).to.not.contain('my-password');
    }
    await reading.close();
  });
});

function expectAway(error: unknown): void {
  expect(error).to.be.instanceOf(HawserError);
  expect(error).to.include({ kind: 'unavailable', message: 'The database cannot be reached at the moment' });
}
