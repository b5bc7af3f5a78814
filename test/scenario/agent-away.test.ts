// full: SQLite
import { mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AgentUnderTest, dscResult, makeAgentOf } from '../support/agent.ts';
import { type Gate, startGate } from '../support/agent-gate.ts';
import { countRuns, keptRuns, operationsOf, reportedRuns } from '../support/agent-runs.ts';
import { eventually } from '../support/eventually.ts';
import { createKey, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';

const MOST_KEPT = 100;

describe('hawser-agent while its server is away', () => {
  let hawser: Hawser;
  let gate: Gate;
  let agent: AgentUnderTest;
  let checksum: string;

  before(async () => {
    hawser = await startHawser();
    gate = await startGate(() => hawser.server.port);
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
  });
  after(async () => {
    await gate.close();
    await hawser.close();
  });

  beforeEach(async () => {
    agent = makeAgentOf(hawser, {
      SERVER: gate.url,
      REGISTRATION_KEY: await createKey(hawser.admin, { maxUses: 1 }),
      NAME: `away-${Math.random().toString(36).slice(2)}.example.org`,
      INTERVAL: '00:00:01',
    });
    countRuns(agent);
    await agent.cycle(0);
    await hawser.admin.put(`/api/v1/nodes/${agent.nodeId()}/configuration`, { configurationName: 'web' });
    await agent.cycle(0);
    ({ checksum } = (await hawser.admin.get(`/api/v1/nodes/${agent.nodeId()}`)).json.running);
  });
  afterEach(() => {
    gate.open();
    agent.remove();
  });

  const reports = async () => (await hawser.admin.get(`/api/v1/nodes/${agent.nodeId()}/reports`)).json;
  const reported = () => reportedRuns(hawser.admin, agent.nodeId());
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  const wantRemediate = async () => {
    const path = `/api/v1/nodes/${agent.nodeId()}/lcm-config`;
    const wanted = { configurationMode: 'Remediate', configurationModeInterval: '00:00:01' };
    await ok(200, hawser.admin.put(path, wanted));
  };

  it('goes on, and sends all its reports in their order when the server is back', async () => {
    const running = agent.start();
    await eventually(async () => expect(operationsOf(agent).length).to.be.at.least(3));
    gate.shut();
    const before = operationsOf(agent).length;
    await eventually(async () => expect(operationsOf(agent).length).to.be.at.least(before + 6));
    expect(keptRuns(agent).length).to.be.at.least(4);
    gate.open();
    await eventually(async () => expect((await reported()).length).to.be.at.least(before + 6));
    running.child.kill('SIGTERM');
    const { code, stdout } = await running.ended;
    expect(code).to.equal(0);
    expect(stdout).to.include('the node goes on without it');
    await agent.cycle(0);
    expect(keptRuns(agent)).to.deep.equal([]);
    const runs = await reported();
    // A report whose answer was lost when the gate was shut comes again.
    expect([...new Set(runs)]).to.deep.equal(upTo(operationsOf(agent).length));
    expect(runs.length - new Set(runs).size).to.be.at.most(1);
    for (const report of await reports()) expect(report.configurationChecksum).to.equal(checksum);
  });

  it('ends a single cycle with 3, and has run its command all the same', async () => {
    gate.shut();
    const stdout = await agent.cycle(3);
    expect(stdout).to.include('cannot be reached').and.to.include('command ended');
    expect(keptRuns(agent)).to.deep.equal([2]);
    gate.open();
    await agent.cycle(0);
    expect(await reported()).to.deep.equal([1, 2, 3]);
  });

  it('remembers what the server wanted, also when it starts without the server', async () => {
    await wantRemediate();
    await agent.cycle(0);
    gate.shut();
    await agent.cycle(3);
    expect(operationsOf(agent)).to.deep.equal(['test', 'set', 'set']);
    gate.open();
    await agent.cycle(0);
    expect((await reports()).map((report: { operation: string }) => report.operation)).to.deep.equal([
      ...['Set', 'Set', 'Set', 'Test'],
    ]);
  });

  it('runs nothing after the configuration was taken away', async () => {
    await hawser.admin.delete(`/api/v1/nodes/${agent.nodeId()}/configuration`);
    await agent.cycle(0);
    gate.shut();
    const stdout = await agent.cycle(3);
    expect(stdout).to.include('the cycle failed');
    expect(operationsOf(agent)).to.have.length(1);
  });

  it('waits for the server to come for the first time', async () => {
    rmSync(agent.stateDir, { recursive: true });
    agent.settings['NAME'] = 'late.example.org';
    agent.settings['REGISTRATION_KEY'] = await createKey(hawser.admin, { maxUses: 1 });
    gate.shut();
    const running = agent.start();
    await eventually(async () => expect(running.stdout()).to.include('the cycle failed'));
    gate.open();
    await eventually(async () => expect(running.stdout()).to.include('registered'));
    running.child.kill('SIGTERM');
    expect((await running.ended).code).to.equal(0);
  });

  it('keeps a hundred reports and drops the oldest, with a line in its log', async () => {
    const folder = join(agent.stateDir, 'reports');
    const result = (run: number) => ({ metadata: { run }, results: [], hadErrors: false });
    for (const run of upTo(MOST_KEPT + 3)) {
      const report = { operation: 'Test', configurationChecksum: checksum, result: result(1_000 + run) };
      const path = join(folder, `${String(run).padStart(12, '0')}.json`);
      writeFileSync(path, JSON.stringify(report));
      utimesSync(path, run, run);
    }
    gate.shut();
    const stdout = await agent.cycle(3);
    const dropped = stdout.split('\n').filter((line) => line.includes('the oldest is dropped'));
    expect(dropped.map((line) => JSON.parse(line).madeAt)).to.deep.equal(
      upTo(4).map((run) => new Date(run * 1_000).toISOString()),
    );
    expect(readdirSync(folder)).to.have.length(MOST_KEPT);
    gate.open();
    await agent.cycle(0);
    const expected = upTo(MOST_KEPT + 3)
      .slice(4)
      .map((run) => 1_000 + run);
    expect(await reported()).to.deep.equal([1, ...expected, 2, 3]);
  });

  it('sends a report that an older agent has kept first', async () => {
    const report = {
      operation: 'Test',
      configurationChecksum: checksum,
      result: { metadata: { run: 77 }, results: [], hadErrors: false },
    };
    writeFileSync(join(agent.stateDir, 'report.json'), JSON.stringify(report));
    await agent.cycle(0);
    expect(await reported()).to.deep.equal([1, 77, 2]);
    expect(readdirSync(agent.stateDir)).not.to.include('report.json');
  });

  it('reports once that its command is missing, and again after it was there in between', async () => {
    const program = join(agent.folder, 'engine');
    agent.settings['COMMAND'] = JSON.stringify([program, '{operation}']);
    const engine = () => {
      const script = `#!/bin/sh\necho '${dscResult(true)}'\n`;
      writeFileSync(program, script, { mode: 0o755 });
    };
    const errors = async () =>
      (await reports()).filter(({ hadErrors }: { hadErrors: boolean }) => hadErrors).length;
    const stdout = await agent.cycle(1);
    expect(stdout).to.include(`${program} is not on this machine`);
    gate.shut();
    // Without the server it is remembered too.
    await agent.cycle(3);
    gate.open();
    await agent.cycle(1);
    expect(await errors()).to.equal(1);
    const [report] = await reports();
    expect(report).to.include({ hadErrors: true, configurationChecksum: checksum, operation: 'Test' });
    const { result } = (await hawser.admin.get(`/api/v1/reports/${report.id}`)).json;
    expect(result.messages[0]).to.include({ message: `${program} is not on this machine`, level: 'error' });
    engine();
    await agent.cycle(0);
    rmSync(program);
    await agent.cycle(1);
    await agent.cycle(1);
    expect(await errors()).to.equal(2);
    expect(await reports()).to.have.length(4);
  });

  it('runs dsc where no command is set, and says where to get it', async () => {
    delete agent.settings['COMMAND'];
    const stdout = await agent.cycle(1);
    expect(stdout).to.include('get it from https://github.com/PowerShell/DSC/releases');
    const bin = join(agent.folder, 'bin');
    mkdirSync(bin);
    const dsc = `#!/bin/sh\necho "$@" > '${agent.folder}/words'\necho '${dscResult(true)}'\n`;
    writeFileSync(join(bin, 'dsc'), dsc, { mode: 0o755 });
    agent.path = `${bin}:${agent.path}`;
    await agent.cycle(0);
    const words = readFileSync(join(agent.folder, 'words'), 'utf8').trim();
    expect(words).to.equal(
      `config test --file ${join(agent.stateDir, 'bundles', checksum, 'main.dsc.yaml')}`,
    );
  });
});
