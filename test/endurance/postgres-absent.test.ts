/** PostgreSQL is away for longer than polls are answered from memory, is away when a server starts, or takes long then. */

import { expect } from 'chai';
import type { Client } from 'pg';
import { connect } from '../support/engines/both.ts';
import { eventually } from '../support/eventually.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { type OwnCluster, ownCluster } from '../support/postgres.ts';
import { runHawser, spawnHawser } from '../support/spawned.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** For how many seconds somebody has waited for a lock that another one holds. */
async function longestWait(client: Client): Promise<number> {
  const { rows } = await client.query<{ seconds: string | null }>(
    `select max(extract(epoch from now() - query_start)) as seconds from pg_stat_activity
      where wait_event = 'advisory' and datname = current_database()`,
  );
  return Number(rows[0]?.seconds ?? 0);
}

/** By which Kysely lets one server at a time migrate. */
const MIGRATION_LOCK = '3853314791062309107';

describe('a PostgreSQL that is away', function () {
  this.timeout(180_000);
  let own: OwnCluster;
  let url: string;

  beforeEach(async () => {
    own = await ownCluster({ fsync: false });
    url = (await own.newDatabase()).url;
  });
  afterEach(() => own.cluster.remove());

  it('for more than 30 s lets polls fail with 503, and all comes back with it', async () => {
    const hawser = await startHawser({ HAWSER_DATABASE_URL: url });
    try {
      await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'one' } });
      const { nodeId, client } = await hawser.registerNode('known.example.org');
      const path = `/api/v1/nodes/${nodeId}/configuration`;
      expect((await hawser.admin.put(path, { configurationName: 'web' })).status).to.equal(204);
      const poll = () => client.get(`${path}/checksum`);
      const before = await poll();
      expect(before.status, before.text).to.equal(200);
      await own.cluster.kill();
      const killedAt = performance.now();
      const refused = await eventually(async () => {
        const reply = await poll();
        if (reply.status === 200) throw new Error('it is still answered from memory');
        return reply;
      });
      // It is promised for 30 s since PostgreSQL has answered last.
      expect(performance.now() - killedAt).to.be.above(15_000);
      expect(refused.status, refused.text).to.equal(503);
      expect(refused.json.code).to.equal('unavailable');
      expect(refused.headers['retry-after']).to.match(/^[1-9]\d*$/);
      expect((await client.get('/health/')).status).to.equal(200);
      const lines = () => hawser.log().split('\n');
      const counted = lines().filter((line) => line.includes('"PostgreSQL is still away"'));
      // There is one every ten seconds, and PostgreSQL has been away for some thirty.
      expect(counted).to.have.length.within(2, 4);
      for (const line of counted) expect(JSON.parse(line)).to.include({ level: 'warn' });
      expect(JSON.parse(counted.at(-1) ?? '').fromMemory).to.be.above(0);
      expect(lines().filter((line) => line.includes('"level":"error"'))).to.have.length(1);
      await own.cluster.start();
      await eventually(async () => {
        const after = await poll();
        expect(after.status, after.text).to.equal(200);
        expect(after.headers['etag']).to.equal(before.headers['etag']);
      });
      await publishConfiguration(hawser.admin, 'db', { '1.0.0': { 'main.dsc.yaml': 'two' } });
    } finally {
      await hawser.close();
    }
  });

  describe('at the start of a server', () => {
    const folder = temporaryFolder();

    it('is waited for', async () => {
      await own.cluster.kill();
      const server = await spawnHawser(folder(), { HAWSER_DATABASE_URL: url });
      try {
        await server.logged('PostgreSQL cannot be reached yet');
        await own.cluster.start();
        await server.listening();
      } finally {
        server.child.kill('SIGTERM');
      }
      expect((await server.ended).code).to.equal(0);
    });

    it('may take longer than 30 s to migrate, here for another server', async () => {
      const other = await connect(url);
      await other.query(`select pg_advisory_lock(${MIGRATION_LOCK})`);
      const server = await spawnHawser(folder(), { HAWSER_DATABASE_URL: url });
      try {
        // Statements of the server have a limit of 30 s otherwise.
        await eventually(async () => expect(await longestWait(other)).to.be.above(31));
        await other.end();
        await server.listening();
      } finally {
        server.child.kill('SIGTERM');
      }
      expect((await server.ended).code).to.equal(0);
    });

    it('is waited for a minute, and then ends the start with one sentence', async () => {
      await own.cluster.kill();
      const { code, stdout, stderr } = await runHawser(folder(), { HAWSER_DATABASE_URL: url }, ['serve']);
      expect(stdout).to.include('trying again for 60 s');
      expect(code).to.equal(1);
      expect(stderr).to.match(/^hawser: [^\n]*database cannot be reached[^\n]*\n$/);
      expect(stderr).not.to.include(new URL(url).password);
    });
  });
});
