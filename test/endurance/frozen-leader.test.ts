/** The leader of three servers stands still while a rollout is under way. Another one leads, and the rollout goes on. */

import { expect } from 'chai';
import { makeClient } from '../support/client.ts';
import { ServerCluster } from '../support/cluster/cluster.ts';
import type { ClusterServer } from '../support/cluster/server.ts';
import { addVersion, MAIN } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { asAdmin, type Hawser, publishConfiguration } from '../support/hawser.ts';
import { metricOf, WITH_METRICS } from '../support/metric-values.ts';
import { newDatabase, querySharedCluster } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';
import { prepareRings, rollOut, rolloutsOf, step } from '../support/rollouts.ts';

/** Milliseconds, four times as many as a lease may take to change, for a slow machine. */
const PATIENCE = 60_000;
/** Milliseconds without renewal after which another server leads. */
const TERM = 15_000;
const files = (content: string) => ({ files: { [MAIN]: `$schema: x\n# ${content}\nresources: []\n` } });

describe('a leader that is frozen', function () {
  this.timeout(5 * PATIENCE);
  let cluster: ServerCluster;

  before(async () => {
    cluster = await ServerCluster.make(await newDatabase(), { servers: 3, settings: WITH_METRICS });
    await cluster.start();
  });
  after(() => cluster?.close());

  const leads = ({ target }: ClusterServer) => metricOf(target, 'hawser_leader');
  /** The one of these servers that leads. */
  const leaderOf = (servers: readonly ClusterServer[]) =>
    eventually(async () => {
      const all = await Promise.all(servers.map(leads));
      expect(all.toSorted()).to.deep.equal([...Array(servers.length - 1).fill(0), 1]);
      return servers[all.indexOf(1)] as ClusterServer;
    }, PATIENCE);
  /** When the lease was renewed or taken last, in milliseconds of PostgreSQL's clock. */
  async function renewal(): Promise<number> {
    const [row] = await querySharedCluster<{ renewed_at: Date }>(
      'select renewed_at from lead_lease',
      cluster.database.name,
    );
    return row?.renewed_at.getTime() ?? Number.NaN;
  }

  const saysOf = ({ log }: ClusterServer, msg: string) =>
    log.split('\n').filter((line) => line.includes(`"msg":"${msg}"`));

  it('is followed by another, under which a rollout goes on, and leads no longer when it wakes', async () => {
    const frozen = await leaderOf(cluster.servers);
    const others = cluster.servers.filter((server) => server !== frozen);
    const admin = await asAdmin(makeClient((others[0] as ClusterServer).target));
    await prepareRings({ admin } as Hawser);
    await publishConfiguration(admin, 'web', { '1.0.0': files('first').files });
    frozen.freeze();
    const last = await renewal();
    try {
      await ok(201, addVersion(admin, 'web', { version: '1.1.0' }, files('second')));
      const gate = { minNodes: 0, bakeTime: '00:00:01' };
      await ok(201, rollOut(admin, 'web', '1.1.0', { steps: [step(null, gate)] }));
      const next = await leaderOf(others);
      expect((await renewal()) - last).to.be.at.least(TERM);
      expect(saysOf(next, 'this server leads')[0]).to.include('"level":"info"').and.include('"lease":2');
      await eventually(async () => {
        const { state, history } = await ok(200, admin.get(`${rolloutsOf('web')}/1.1.0`));
        expect(state, JSON.stringify(history)).to.equal('Completed');
      }, PATIENCE);
    } finally {
      frozen.thaw();
    }
    await eventually(async () => {
      const [said] = saysOf(frozen, 'this server leads no longer');
      expect(said).to.include('"level":"info"').and.include('"lease":1').and.include('"reason"');
    }, PATIENCE);
    expect(await Promise.all(cluster.servers.map(leads))).to.include(1);
    expect(await leaderOf(cluster.servers)).not.to.equal(frozen);
    const { history } = await ok(200, admin.get(`${rolloutsOf('web')}/1.1.0`));
    expect(history.filter(({ to }: { to: string }) => to === 'Completed')).to.have.length(1);
    admin.close();
  });
});
