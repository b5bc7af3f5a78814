import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type AgentUnderTest, makeAgent } from '../support/agent.ts';
import { eventually } from '../support/eventually.ts';
import { createKey, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { rotateAlways } from '../support/rotation.ts';

const ROUNDS = 20;
const FILES = 40;

/** Files that all name their version, so that a mixture of two would show. */
function filesOf(version: string): Record<string, string> {
  const parts = Array.from({ length: FILES }, (_, index) => [`part-${index}.txt`, version]);
  return { 'main.dsc.yaml': `$schema: x\nresources: []\n# ${version}\n`, ...Object.fromEntries(parts) };
}

describe('hawser-agent, killed at any moment', () => {
  let hawser: Hawser;
  let agent: AgentUnderTest;

  before(async () => {
    hawser = await startHawser();
    agent = makeAgent({
      SERVER: `https://localhost:${hawser.server.port}`,
      CA_FILE: join(hawser.dataDir, 'tls/ca.crt'),
      REGISTRATION_KEY: await createKey(hawser.admin, { maxUses: 1 }),
      INTERVAL: '00:00:01',
    });
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': filesOf('1.0.0') });
    // Every cycle rotates, so that many of the kills hit a rotation.
    await rotateAlways(hawser);
  });
  after(async () => {
    agent.remove();
    await hawser.close();
  });

  const nodes = async () => (await hawser.admin.get('/api/v1/nodes')).json;

  const publish = async (version: string) => {
    const form = { fields: { version }, files: filesOf(version) };
    expect((await hawser.admin.upload('/api/v1/configurations/web/versions', form)).status).to.equal(201);
    await hawser.admin.put(`/api/v1/configurations/web/versions/${version}/publish`);
  };

  /** Starts it, and kills it a random time of at most `longest` ms after it has begun to work. */
  const startAndKill = async (longest: number) => {
    const running = agent.start();
    await eventually(async () => expect(running.stdout()).to.include('started'));
    await sleep(Math.random() * longest);
    running.child.kill('SIGKILL');
    await running.ended;
  };

  const expectWhole = () => {
    const link = join(agent.stateDir, 'current');
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined) return;
    const folder = join(agent.stateDir, readlinkSync(link));
    const version = readFileSync(join(folder, 'part-0.txt'), 'utf8');
    const found = Object.fromEntries(
      readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
    );
    expect(found).to.deep.equal(filesOf(version));
  };

  it('is one node with a certificate that works, and never runs what is not whole', async function () {
    this.timeout(240_000);
    let longest = 700;
    for (let round = 1; round <= ROUNDS; round += 1) {
      await startAndKill(longest);
      expectWhole();
      const [node] = await nodes();
      // A slow machine may need more time for a whole cycle than the kill leaves it.
      if (agent.runs().length === 0) longest *= 1.5;
      if (node !== undefined) {
        const path = `/api/v1/nodes/${node.id}/configuration`;
        if (node.configurationName === null) await hawser.admin.put(path, { configurationName: 'web' });
        await publish(`1.${round}.0`);
      }
    }
    // With no key: what was registered is to be found again, not made anew.
    delete agent.settings['REGISTRATION_KEY'];
    const { code, stdout } = await agent.once();
    expect(code, stdout).to.equal(0);
    expect(await nodes()).to.have.length(1);
    expectWhole();
    expect(agent.runs().at(-1)?.document).to.equal(filesOf(`1.${ROUNDS}.0`)['main.dsc.yaml']);
    for (const { neighbours } of agent.runs()) {
      expect(neighbours).to.deep.equal(Object.keys(filesOf('')).sort());
    }
    const left = readdirSync(join(agent.stateDir, 'bundles')).filter(
      (name) => !/^[0-9a-f]{64}(\.json)?$/.test(name),
    );
    expect(left, 'nothing half-made stays').to.deep.equal([]);
    expect(existsSync(join(agent.stateDir, 'next-identity.pem'))).to.equal(false);
  });
});
