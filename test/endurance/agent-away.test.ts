/** Kills the agent and its server at random moments: each report that was kept comes to the server, in its order. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type AgentProcess, type AgentUnderTest, makeAgent } from '../support/agent.ts';
import { countRuns, keptRuns, operationsOf, reportedRuns } from '../support/agent-runs.ts';
import { type Client, makeClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import {
  ADMIN_PASSWORD,
  ALL_SCOPES,
  createKey,
  createToken,
  publishConfiguration,
  signIn,
} from '../support/hawser.ts';
import { steadyPort } from '../support/ports.ts';
import { type Spawned, spawnHawser } from '../support/spawned.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** An hour of cycles of a minute each, at a second each. */
const HOUR = 60_000;
/** The longest time for which the agent, or the server, is left alone. */
const LONGEST = 4_000;

describe('hawser-agent whose server is away for an hour, both killed at any moment', () => {
  const folder = temporaryFolder('all tests');
  let port: number;
  let server: Spawned | null = null;
  let agent: AgentUnderTest;
  let running: AgentProcess | null = null;
  let token: string;
  let ca: string;
  const kills = { agent: 0, server: 0 };
  /** The runs whose reports were on the disk after a kill. */
  const seen = new Set<number>();

  before(async function () {
    this.timeout(180_000);
    port = await steadyPort();
    await startServer();
    const client = makeClient({ port, ca });
    token = await createToken(client, await signIn(client, 'admin', ADMIN_PASSWORD), ALL_SCOPES);
    const admin = client.with({ Authorization: `Bearer ${token}` });
    await publishConfiguration(admin, 'web', { '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' } });
    agent = makeAgent({
      SERVER: `https://localhost:${port}`,
      CA_FILE: folder('data/tls/ca.crt'),
      REGISTRATION_KEY: await createKey(admin, { maxUses: 1 }),
      INTERVAL: '00:00:01',
    });
    countRuns(agent);
    expect((await agent.start('register').ended).code).to.equal(0);
    await admin.put(`/api/v1/nodes/${agent.nodeId()}/configuration`, { configurationName: 'web' });
    expect((await agent.once()).code).to.equal(0);
    client.close();
  });
  after(async () => {
    await killAgent();
    await killServer();
    agent.remove();
  });

  async function startServer() {
    server = await spawnHawser(folder(), { HAWSER_PORT: String(port) });
    ({ ca = '' } = await server.listening());
  }

  async function killServer() {
    if (server === null) return;
    kills.server += 1;
    server.child.kill('SIGKILL');
    await server.ended;
    server = null;
  }

  async function startAgent() {
    const started = agent.start();
    running = started;
    await eventually(async () => expect(started.stdout()).to.include('started'));
  }

  async function killAgent() {
    if (running === null) return;
    kills.agent += 1;
    running.child.kill('SIGKILL');
    await running.ended;
    running = null;
    for (const run of keptRuns(agent)) seen.add(run);
  }

  const withAdmin = async <T>(call: (admin: Client) => Promise<T>): Promise<T> => {
    const client = makeClient({ port, ca });
    try {
      return await call(client.with({ Authorization: `Bearer ${token}` }));
    } finally {
      client.close();
    }
  };

  it('loses no report, and sends them in their order', async function () {
    this.timeout(600_000);
    const end = Date.now() + HOUR;
    while (Date.now() < end) {
      await sleep(Math.random() * LONGEST);
      // The server is away for most of the hour, and now and then killed while it takes the reports.
      if (server !== null) await killServer();
      else if (Math.random() < 0.2) await startServer();
      if (running === null) await startAgent();
      else if (Math.random() < 0.4) await killAgent();
    }
    await killAgent();
    expect(kills.agent, 'kills of the agent').to.be.at.least(3);
    if (server === null) await startServer();
    expect((await agent.once()).code).to.equal(0);
    expect(keptRuns(agent)).to.deep.equal([]);
    const runs = await withAdmin((admin) => reportedRuns(admin, agent.nodeId()));
    const first = [...new Set(runs)];
    expect(seen.size, 'reports that were seen on the disk').to.be.at.least(10);
    expect(first).to.include.members([...seen]);
    expect(first, 'their order').to.deep.equal(first.toSorted((one, other) => one - other));
    const all = operationsOf(agent).length;
    // A kill may hit a run before its report is kept, and a call whose answer is lost.
    expect(all - first.length, 'runs without a report').to.be.at.most(kills.agent);
    expect(runs.length - first.length, 'reports that came twice').to.be.at.most(kills.agent + kills.server);
  });
});
