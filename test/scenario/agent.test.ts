// full: SQLite
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AgentUnderTest, makeAgentOf } from '../support/agent.ts';
import { slowDownLock } from '../support/agent-disk.ts';
import { eventually } from '../support/eventually.ts';
import { createKey, publishConfiguration, startHawser } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const MAIN = 'main.dsc.yaml';
const document = (word: string) => `$schema: x\nresources: []\n# ${word}\n`;

describe('hawser-agent', () => {
  const hawser = started(startHawser);
  let agent: AgentUnderTest;
  let key: string;

  before(async () => {
    const files = (word: string) => ({ [MAIN]: document(word), 'parts/one.txt': word });
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': files('first') });
  });

  beforeEach(async () => {
    key = await createKey(hawser.admin, { maxUses: 1 });
    agent = makeAgentOf(hawser, {
      REGISTRATION_KEY: key,
      NAME: `agent-${Math.random().toString(36).slice(2)}.example.org`,
    });
  });
  afterEach(() => agent.remove());

  const assign = async (name: string) => {
    const path = `/api/v1/nodes/${agent.nodeId()}/configuration`;
    await ok(204, hawser.admin.put(path, { configurationName: name }));
  };
  const detail = async () => (await hawser.admin.get(`/api/v1/nodes/${agent.nodeId()}`)).json;
  const reports = async () => (await hawser.admin.get(`/api/v1/nodes/${agent.nodeId()}/reports`)).json;

  it('registers once, under its name, with a certificate of its own making', async () => {
    await agent.cycle();
    const nodeId = agent.nodeId();
    await agent.cycle();
    expect(agent.nodeId()).to.equal(nodeId);
    const node = await detail();
    expect(node.fqdn).to.equal(agent.settings['NAME']);
    expect(node.certificate.subject).to.equal(`CN=${agent.settings['NAME']}`);
    expect(node).to.include({
      configurationSource: 'Pull',
      configurationMode: 'Monitor',
      reportCompliance: true,
    });
  });

  it('does nothing, and says so, while nothing is assigned', async () => {
    const stdout = await agent.cycle();
    expect(stdout).to.include('nothing to pull');
    expect(agent.runs()).to.deep.equal([]);
  });

  it('waits for its first assignment, says so once, and runs it soon, whatever its interval', async () => {
    const running = agent.start();
    const waits =
      /"next":"hawserctl node assign [^"]+ --configuration NAME","msg":"[^"]*waits for its first/g;
    await eventually(async () => expect(running.stdout()).to.match(waits));
    await assign('web');
    await eventually(async () => expect(await reports()).to.have.lengthOf(1));
    running.child.kill('SIGTERM');
    const { code, stdout } = await running.ended;
    expect(code).to.equal(0);
    expect(stdout.match(waits)).to.have.lengthOf(1);
  });

  it('runs the command with the files of the assigned version, and reports its result', async () => {
    await agent.cycle();
    await assign('web');
    await agent.cycle();
    const [run] = agent.runs();
    expect(run).to.include({ operation: 'test', parametersFile: null, document: document('first') });
    expect(run?.cwd).to.equal(join(agent.stateDir, readlinkSync(join(agent.stateDir, 'current'))));
    expect(run?.entryPoint).to.equal(join(run?.cwd ?? '', MAIN));
    expect(readFileSync(join(agent.stateDir, 'current/parts/one.txt'), 'utf8')).to.equal('first');
    const [report] = await reports();
    expect(report).to.include({ operation: 'Test', inDesiredState: true, hadErrors: false });
    const { running } = (await hawser.admin.get(`/api/v1/nodes/${agent.nodeId()}`)).json;
    expect(running).to.include({ evidence: 'Declared', configurationName: 'web', version: '1.0.0' });
    const { checksum } = running;
    expect(report).to.include({ configurationChecksum: checksum, checksumSource: 'Declared' });
    expect(await detail()).to.include({ status: 'Compliant', lcmStatus: 'Idle' });
  });

  it('pulls a new version after its publish, and nothing before', async () => {
    await publishConfiguration(hawser.admin, 'shop', { '1.0.0': { [MAIN]: document('one') } });
    await agent.cycle();
    await assign('shop');
    await agent.cycle();
    const second = await agent.cycle();
    expect(second).not.to.include('switched');
    for (const version of ['1.1.0', '1.2.0']) {
      const form = { fields: { version }, files: { [MAIN]: document(version) } };
      await ok(201, hawser.admin.upload('/api/v1/configurations/shop/versions', form));
      await hawser.admin.put(`/api/v1/configurations/shop/versions/${version}/publish`);
      await agent.cycle();
    }
    expect(agent.runs().map((run) => run.document)).to.deep.equal(
      ['one', 'one', '1.1.0', '1.2.0'].map(document),
    );
    const folders = readdirSync(join(agent.stateDir, 'bundles')).filter((name) => !name.endsWith('.json'));
    expect(folders, 'the one in use and the one before').to.have.length(2);
    const polls = hawser
      .log()
      .split('\n')
      .filter((line) => line.includes(`${agent.nodeId()}/configuration/bundle`));
    expect(polls, 'downloads').to.have.length(3);
  });

  it('keeps what it has when the configuration is taken away', async () => {
    await agent.cycle();
    await assign('web');
    await agent.cycle();
    const link = readlinkSync(join(agent.stateDir, 'current'));
    await hawser.admin.delete(`/api/v1/nodes/${agent.nodeId()}/configuration`);
    await agent.cycle();
    expect(readlinkSync(join(agent.stateDir, 'current'))).to.equal(link);
    expect(agent.runs()).to.have.length(1);
  });

  it('does as lcm-config says: mode, interval, and no reports', async () => {
    await agent.cycle();
    await assign('web');
    const path = `/api/v1/nodes/${agent.nodeId()}/lcm-config`;
    const wanted = {
      configurationMode: 'Remediate',
      configurationModeInterval: '00:00:01',
      reportCompliance: false,
    };
    await ok(200, hawser.admin.put(path, wanted));
    // The first poll after a start comes within a tenth of this.
    agent.settings['INTERVAL'] = '00:00:05';
    const running = agent.start();
    try {
      await eventually(async () => expect(agent.runs().length).to.be.at.least(3));
    } finally {
      running.child.kill('SIGTERM');
    }
    expect((await running.ended).code).to.equal(0);
    expect(new Set(agent.runs().map((run) => run.operation))).to.deep.equal(new Set(['set']));
    expect(await detail()).to.include(wanted);
    expect(await reports()).to.deep.equal([]);
  });

  it('reports a result that is no JSON as a minimal one, and ends with 1', async () => {
    await agent.cycle();
    await assign('web');
    agent.answer('all is lost', 3);
    await agent.cycle(1);
    const [report] = await reports();
    expect(report).to.include({ operation: 'Test', inDesiredState: null, hadErrors: true });
    const { result } = (await hawser.admin.get(`/api/v1/reports/${report.id}`)).json;
    expect(result).to.deep.include({ results: [], hadErrors: true });
    expect(result.messages[0].message).to.include('it ended with 3').and.to.include('spoken to stderr');
    expect(await detail()).to.include({ status: 'Error', lcmStatus: 'Error' });
  });

  it('keeps its state from others, and its secrets from the log and the command', async () => {
    agent.settings['LOG_LEVEL'] = 'debug';
    const first = await agent.cycle();
    await assign('web');
    const second = await agent.cycle();
    const modes = (name: string) => statSync(join(agent.stateDir, name)).mode & 0o777;
    expect(modes('.')).to.equal(0o700);
    for (const name of ['identity.pem', 'node.json']) expect(modes(name), name).to.equal(0o600);
    expect(modes(join('current', MAIN))).to.equal(0o600);
    expect(modes('current')).to.equal(0o700);
    const log = first + second;
    expect(log).not.to.include(key);
    expect(log).not.to.include('PRIVATE KEY');
    expect(agent.runs()[0]?.variables.filter((name) => name.startsWith('HAWSER'))).to.deep.equal([]);
  });

  it('leaves the state folder to an agent that works in it', async () => {
    const running = agent.start();
    await eventually(async () => expect(running.stdout()).to.include('registered'));
    const other = await agent.once();
    expect(other.code).to.equal(1);
    expect(other.stderr).to.equal('hawser-agent: Another agent works in this state folder\n');
    running.child.kill('SIGTERM');
    expect((await running.ended).code).to.equal(0);
  });

  it('leaves the state folder of a killed agent to one at most of those that start at once', async () => {
    const killed = agent.start();
    await eventually(async () => expect(killed.stdout()).to.include('registered'));
    killed.child.kill('SIGKILL');
    await killed.ended;
    // All find the lock abandoned before the first of them has removed it.
    const started = [1_000, 1_500, 2_000].map((delay) => {
      slowDownLock(agent, delay);
      return agent.start();
    });
    const codes: (number | null)[] = [];
    for (const { ended } of started) void ended.then(({ code }) => codes.push(code));
    await eventually(async () => expect(codes.slice(0, 2)).to.deep.equal([1, 1]));
    for (const { child } of started) child.kill('SIGTERM');
    await eventually(async () => expect(codes).to.have.length(3));
    agent.variables = {};
    expect((await agent.once()).code).to.equal(0);
  });
});
