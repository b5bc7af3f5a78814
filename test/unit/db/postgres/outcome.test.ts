// full: SQLite
/** Whether a commit was made whose answer was lost, as PostgreSQL tells before and after a crash. */

import { expect } from 'chai';
import type { Client } from 'pg';
import { Connections } from '../../../../src/db/postgres/connections.ts';
import { askOutcome } from '../../../../src/db/postgres/outcome.ts';
import { type OwnCluster, ownCluster } from '../../../support/postgres.ts';

describe('the outcome of a commit', () => {
  let own: OwnCluster;
  let connections: Connections;

  before(async () => {
    // What is not committed stays in memory for so long.
    own = await ownCluster({ settings: { wal_writer_delay: '10s' } });
    connections = await Connections.load((await own.newDatabase()).url);
    const client = await connections.connect();
    await client.query('create table items (id int)');
    await client.end();
  });
  after(() => own.cluster.remove());

  const begin = async (client: Client) => {
    const results = await client.query(
      'begin; insert into items values (1); select pg_current_xact_id()::text as number',
    );
    const [, , last] = results as unknown as { rows: { number: string }[] }[];
    return String(last?.rows[0]?.number);
  };
  const ask = (number: string, client: Client) => askOutcome(connections)(number, client, performance.now());

  it('is told as long as PostgreSQL runs', async () => {
    const [made, undone] = [await connections.connect(), await connections.connect()];
    const [first, second] = [await begin(made), await begin(undone)];
    await made.query('commit');
    await undone.end();
    expect(await ask(first, made)).to.equal(true);
    expect(await ask(second, undone)).to.equal(false);
    await made.end();
  });

  it('is nothing that anybody knows after a crash, which gives the number to another transaction', async () => {
    const lost = await connections.connect();
    const number = await begin(lost);
    await own.cluster.kill();
    await own.cluster.start();
    const other = await connections.connect();
    for (let last = ''; last !== number; await other.query('commit')) {
      last = await begin(other);
      expect(Number(last), 'the number is given again').to.be.at.most(Number(number));
    }
    await other.end();
    expect(await ask(number, lost)).to.equal(null);
  });
});
