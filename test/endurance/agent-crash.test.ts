import { randomInt } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type AgentUnderTest, makeAgent } from '../support/agent.ts';
import { type Gate, startGate } from '../support/agent-gate.ts';
import { createKey, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { rotateAlways } from '../support/rotation.ts';

const ROUNDS = 20;
const FILES = 40;
/** A whole cycle, with a rotation and a new bundle, sends about twelve times. */
const MOST_SENT = 14;
/** In milliseconds; the command and the files of a bundle take about as long. */
const LONGEST_REST = 150;

/** Files that all name their version, so that a mixture of two would show. */
function filesOf(version: string): Record<string, string> {
  const parts = Array.from({ length: FILES }, (_, index) => [`part-${index}.txt`, version]);
  return { 'main.dsc.yaml': `$schema: x\nresources: []\n# ${version}\n`, ...Object.fromEntries(parts) };
}

describe('hawser-agent, killed at any moment', () => {
  let hawser: Hawser;
  let agent: AgentUnderTest;
  let gate: Gate;
  let onSent: () => void = () => undefined;

  before(async () => {
    hawser = await startHawser();
    gate = await startGate(
      () => hawser.server.port,
      () => onSent(),
    );
    agent = makeAgent({
      SERVER: gate.url,
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
    await gate.close();
    await hawser.close();
  });

  const nodes = async () => (await hawser.admin.get('/api/v1/nodes')).json;

  const publish = async (version: string) => {
    const form = { fields: { version }, files: filesOf(version) };
    expect((await hawser.admin.upload('/api/v1/configurations/web/versions', form)).status).to.equal(201);
    await hawser.admin.put(`/api/v1/configurations/web/versions/${version}/publish`);
  };

  /** Starts it, and kills it at a random moment of its work. What it has sent counts, so a slow machine gets as far as others. */
  const startAndKill = async () => {
    const running = agent.start();
    let left = randomInt(1, MOST_SENT + 1);
    const reached = new Promise<'reached'>((resolve) => {
      onSent = () => {
        left -= 1;
        if (left === 0) resolve('reached');
      };
    });
    expect(await Promise.race([reached, running.ended])).to.equal('reached');
    await sleep(Math.random() * LONGEST_REST);
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
    for (let round = 1; round <= ROUNDS; round += 1) {
      await startAndKill();
      expectWhole();
      const [node] = await nodes();
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
