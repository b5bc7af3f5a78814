// full: SQLite
/** The reports of an agent that is killed, or whose disk is full: those that it has kept come to the server. */

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AgentUnderTest, makeAgent } from '../support/agent.ts';
import { fillDisk, healDisk, killAtChange } from '../support/agent-disk.ts';
import { countRuns, keptRuns, operationsOf } from '../support/agent-runs.ts';
import { type FakeServer, startFakeServer } from '../support/fake-server.ts';
import { makeZip } from '../support/zip.ts';

const AWAY = { status: 503 };
/** More changes than a cycle makes to the state. */
const MANY = 100;

describe('hawser-agent at a bad moment', () => {
  let server: FakeServer;
  let agent: AgentUnderTest;

  beforeEach(async () => {
    server = await startFakeServer();
    server.bundle = makeZip([{ name: 'main.dsc.yaml', content: '$schema: x\nresources: []\n' }]);
    agent = makeAgent({ SERVER: server.url, REGISTRATION_KEY: 'rk_secret' });
    agent.settings['CA_FILE'] = join(agent.folder, 'ca.crt');
    writeFileSync(agent.settings['CA_FILE'], server.ca);
    countRuns(agent);
    await agent.cycle(0);
  });
  afterEach(async () => {
    agent.remove();
    await server.close();
  });

  /** The numbers of the runs whose reports the server was sent. */
  const sentRuns = () =>
    server.seen
      .filter(({ call }) => call === 'POST reports')
      .map(({ body }) => JSON.parse(body).result.metadata.run as number);
  const leave = (isAway: boolean) => {
    server.intercept = () => (isAway ? AWAY : null);
  };

  for (const isAway of [true, false]) {
    it(`loses no kept report at any change to its disk, with the server ${isAway ? 'away' : 'there'}`, async () => {
      leave(true);
      await agent.cycle(1);
      const seen = new Set(keptRuns(agent));
      let kills = 0;
      leave(isAway);
      for (let change = 1; change < MANY; change += 1) {
        killAtChange(agent, change);
        const { code } = await agent.once();
        const kept = keptRuns(agent);
        for (const run of seen) expect([...kept, ...sentRuns()], `change ${change}`).to.include(run);
        for (const run of kept) seen.add(run);
        if (code !== null) break;
        kills += 1;
      }
      expect(kills, 'kills').to.be.within(3, MANY - 2);
      healDisk(agent);
      leave(false);
      await agent.cycle(0);
      expect(keptRuns(agent)).to.deep.equal([]);
      expect(readdirSync(join(agent.stateDir, 'reports')), 'halves of files').to.deep.equal([]);
      const sent = sentRuns();
      const first = [...new Set(sent)];
      expect(first).to.include.members([...seen]);
      expect(first, 'their order').to.deep.equal(first.toSorted((one, other) => one - other));
      // Between the answer of the server and the removal of the file nobody can tell whether the report was taken.
      expect(sent.length - first.length, 'reports that came twice').to.be.at.most(isAway ? 0 : kills);
      const lost = operationsOf(agent).length - first.length;
      expect(lost, 'runs whose report was not kept yet').to.be.at.most(kills);
    });
  }

  it('sends a report again when it was killed while it sent it', async () => {
    leave(true);
    await agent.cycle(1);
    const running = agent.start('--once');
    server.intercept = (call) => {
      if (call === 'POST reports') running.child.kill('SIGKILL');
      return null;
    };
    expect((await running.ended).code).to.equal(null);
    expect(keptRuns(agent)).to.deep.equal([2]);
    leave(false);
    await agent.cycle(0);
    expect(sentRuns()).to.deep.equal([1, 2, 2, 3]);
  });

  it('sends what it has kept when its disk is full, says so, and goes on when there is room again', async () => {
    leave(true);
    await agent.cycle(1);
    leave(false);
    fillDisk(agent);
    expect(await agent.cycle(1)).to.include('ENOSPC');
    expect(sentRuns()).to.deep.equal([1, 2]);
    healDisk(agent);
    await agent.cycle(0);
    expect(sentRuns()).to.deep.equal([1, 2, 4]);
  });
});
