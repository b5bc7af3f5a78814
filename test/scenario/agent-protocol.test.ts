// full: SQLite
import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { MINUTE } from '../../src/lib/clock.ts';
import { createKey, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { type AgentOptions, type Engine, LcmAgent, sha1Of } from '../support/lcm-agent.ts';
import { ok } from '../support/replies.ts';

const NODES = '/api/v1/nodes';
const SETTINGS = '/api/v1/settings';
const MAIN = 'main.dsc.yaml';

/** A node in the state it should be in, with a group among its resources. */
const compliant: Engine = ({ operation }) => ({
  metadata: { 'Microsoft.DSC': { version: '3.1.0', operation, duration: 'PT0.5S' } },
  messages: [{ name: 'Umlaut', type: 'Test/Echo', message: 'geprüft <ok> 👍', level: 'information' }],
  results: [
    resource('one', operation === 'Test' ? { actualState: {}, inDesiredState: true } : { afterState: {} }),
    resource('group', [resource('inner', operation === 'Test' ? { inDesiredState: true } : {})]),
  ],
  hadErrors: false,
});

const drifted: Engine = (run) => {
  if (run.operation === 'Set') return compliant(run);
  return { results: [resource('group', [resource('inner', { inDesiredState: false })])], hadErrors: false };
};

const broken: Engine = () => ({ results: [], hadErrors: true });

function resource(name: string, result: unknown): object {
  return { metadata: {}, name, type: 'Test/Echo', result };
}

/** What every cycle of a node in its desired state consists of. */
const STEADY = [
  'GET lcm-config',
  'GET configuration/checksum',
  'PUT lcm-status',
  'POST reports',
  'PUT lcm-status',
  'PUT reported-config',
];
const PULLING = [
  ...STEADY.slice(0, 2),
  'PUT lcm-status',
  'GET configuration/bundle',
  'GET configuration/checksum',
  ...STEADY.slice(2),
];

describe('a DSC v3 agent that speaks as the contract says', () => {
  let hawser: Hawser;
  const agents: LcmAgent[] = [];

  before(async () => {
    hawser = await startHawser();
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n', 'files/motd.txt': 'one' },
    });
  });

  after(async () => {
    for (const agent of agents) agent.disconnect();
    await hawser.close();
  });

  async function startAgent(name: string, options: Partial<AgentOptions> = {}): Promise<LcmAgent> {
    const names = { machineName: name.toUpperCase(), fqdn: `${name.toUpperCase()}.Example.org` };
    const agent = new LcmAgent({ target: hawser.target(), clock: hawser.clock, ...names, ...options });
    agents.push(agent);
    await agent.readPublicSettings();
    await agent.register(await createKey(hawser.admin));
    return agent;
  }

  const assign = (agent: LcmAgent, configurationName: string) =>
    ok(204, hawser.admin.put(`${NODES}/${agent.nodeId}/configuration`, { configurationName }));
  const read = (agent: LcmAgent, path = '') => ok(200, hawser.admin.get(`${NODES}/${agent.nodeId}${path}`));

  /** @returns the calls of one cycle, none of them refused */
  async function cycle(agent: LcmAgent, engine: Engine = compliant): Promise<string[]> {
    agent.calls.length = 0;
    await agent.cycle(engine);
    expect(agent.calls.filter(({ refusal }) => refusal !== null)).to.deep.equal([]);
    return agent.calls.map(({ name }) => name);
  }

  async function statesOf(agent: LcmAgent): Promise<string[]> {
    const events: { lcmStatus: string | null; status: string | null }[] = await read(
      agent,
      '/status-history',
    );
    return events.map(({ lcmStatus, status }) => lcmStatus ?? `is ${status}`).reverse();
  }

  it('asks for the rotation interval without a certificate, and registers', async () => {
    const agent = await startAgent('first');
    expect(agent.calls).to.deep.equal([
      { name: 'GET settings/public', status: 200, refusal: null },
      { name: 'POST nodes/register', status: 200, refusal: null },
    ]);
    const node = await read(agent);
    expect(node).to.include({
      ...{ id: agent.nodeId, fqdn: 'first.example.org', status: 'Unknown', lcmStatus: 'Unknown' },
      ...{ configurationSource: 'Pull', configurationMode: 'Monitor', configurationModeInterval: '00:15:00' },
      ...{ reportCompliance: true, assignment: null },
    });
    const { thumbprint, subject, pendingThumbprint } = node.certificate;
    expect([subject, pendingThumbprint]).to.deep.equal(['CN=FIRST', null]);
    expect(thumbprint).to.equal(agent.certificate.fingerprint256.replaceAll(':', ''));
  });

  it('carries on while nothing is assigned, with one refusal in its log', async () => {
    const agent = await startAgent('idle');
    agent.calls.length = 0;
    await agent.cycle(compliant);
    expect(agent.calls.map(({ name, status }) => `${name} ${status}`)).to.deep.equal([
      'GET lcm-config 200',
      'GET configuration/checksum 404',
      'PUT reported-config 204',
    ]);
    expect(JSON.parse(agent.calls[1]?.refusal ?? '').code).to.equal('no_configuration_assigned');
  });

  it('runs what it is assigned, and pulls again when a version is published and not before', async () => {
    const agent = await startAgent('cycles');
    await publishConfiguration(hawser.admin, 'cycles', { '1.0.0': { [MAIN]: 'a', 'sub/motd.txt': 'one' } });
    await assign(agent, 'cycles');
    expect(await cycle(agent)).to.deep.equal(PULLING);
    expect(agent).to.deep.include({
      ...{ files: { [MAIN]: 'a', 'sub/motd.txt': 'one' }, entryPoint: MAIN, parametersFile: null },
    });
    for (const _ of [1, 2]) expect(await cycle(agent)).to.deep.equal(STEADY);
    const form = { fields: { version: '1.1.0' }, files: { [MAIN]: 'b' } };
    await ok(201, hawser.admin.upload('/api/v1/configurations/cycles/versions', form));
    expect(await cycle(agent), 'a draft').to.deep.equal(STEADY);
    await ok(200, hawser.admin.put('/api/v1/configurations/cycles/versions/1.1.0/publish'));
    expect(await cycle(agent)).to.deep.equal(PULLING);
    expect(agent.files).to.deep.equal({ [MAIN]: 'b' });
    expect(await cycle(agent)).to.deep.equal(STEADY);
    expect(await statesOf(agent)).to.deep.equal([
      ...['Downloading', 'Testing', 'is Compliant', 'Idle', 'Testing', 'Idle', 'Testing', 'Idle'],
      ...['Testing', 'Idle', 'Downloading', 'Testing', 'Idle', 'Testing', 'Idle'],
    ]);
    expect(await read(agent)).to.include({ status: 'Compliant', lcmStatus: 'Idle' });
    const reports = await read(agent, '/reports');
    expect(reports).to.have.length(6);
    expect(reports[0]).to.include({ operation: 'Test', inDesiredState: true, hadErrors: false });
    const { result } = await ok(200, hawser.admin.get(`/api/v1/reports/${reports[0].id}`));
    const run = { operation: 'Test' as const, files: {}, entryPoint: MAIN, parametersFile: null };
    expect(result, 'kept as it came').to.deep.equal(compliant(run));
  });

  it('does as operators desire, and as the server does by default', async () => {
    const agent = await startAgent('told');
    await assign(agent, 'web');
    await cycle(agent, drifted);
    expect(await read(agent)).to.include({ status: 'NonCompliant', lcmStatus: 'Idle' });
    const desired = { configurationMode: 'Remediate', configurationModeInterval: 'PT5M' };
    await ok(200, hawser.admin.put(`${NODES}/${agent.nodeId}/lcm-config`, desired));
    const calls = await cycle(agent, drifted);
    expect(calls.filter((name) => name === 'POST reports')).to.have.length(2);
    expect(await read(agent)).to.include({
      ...{ status: 'Compliant', configurationMode: 'Remediate', configurationModeInterval: '00:05:00' },
      ...{ desiredConfigurationMode: 'Remediate', desiredConfigurationModeInterval: '00:05:00' },
    });
    const operations = (await read(agent, '/reports')).map((one: { operation: string }) => one.operation);
    expect(operations).to.deep.equal(['Set', 'Test', 'Test']);
    expect((await statesOf(agent)).slice(-4)).to.deep.equal([
      'Testing',
      'Remediating',
      'is Compliant',
      'Idle',
    ]);
    await ok(200, hawser.admin.put(`${SETTINGS}/lcm-defaults`, { defaultReportCompliance: false }));
    const quiet = await cycle(agent, broken);
    expect(quiet).to.not.include('POST reports');
    expect(await read(agent)).to.include({
      lcmStatus: 'Error',
      status: 'Compliant',
      reportCompliance: false,
    });
    await ok(200, hawser.admin.put(`${SETTINGS}/lcm-defaults`, { defaultReportCompliance: true }));
    await cycle(agent, broken);
    expect(await read(agent)).to.include({ lcmStatus: 'Error', status: 'Error', reportCompliance: true });
    await ok(200, hawser.admin.put(`${SETTINGS}/lcm-defaults`, { defaultReportCompliance: null }));
  });

  it('rotates its certificate when that is due, and goes on with the new one', async () => {
    const agent = await startAgent('rotating');
    await assign(agent, 'web');
    await cycle(agent);
    const old = agent.certificate;
    await ok(200, hawser.admin.put(SETTINGS, { certificateRotationInterval: 'PT1H' }));
    hawser.clock.advance(59 * MINUTE);
    expect(await cycle(agent)).to.deep.equal(STEADY);
    hawser.clock.advance(2 * MINUTE);
    const calls = await cycle(agent);
    expect(calls).to.deep.equal(['GET lcm-config', 'POST rotate-certificate', ...STEADY.slice(1)]);
    const pending = (await read(agent)).certificate;
    expect(pending.thumbprint).to.equal(old.fingerprint256.replaceAll(':', ''));
    expect(pending.pendingThumbprint).to.match(/^[0-9A-F]{40}$/);
    expect(await cycle(agent), 'with the new one').to.deep.equal(STEADY);
    expect(agent.certificate.fingerprint).to.not.equal(old.fingerprint);
    expect(sha1Of(agent.certificate)).to.equal(pending.pendingThumbprint);
    const { certificate } = await read(agent);
    expect(certificate).to.include({ subject: 'CN=ROTATING', pendingThumbprint: null });
    expect(certificate.thumbprint).to.equal(agent.certificate.fingerprint256.replaceAll(':', ''));
    const notAfter = new X509Certificate(agent.certificate.raw).validTo;
    expect(Date.parse(certificate.notAfter)).to.equal(Date.parse(notAfter));
    await hawser.restart();
    expect(await read(agent)).to.have.nested.property('certificate.pendingThumbprint', null);
  });

  it('may send members that this server does not know', async () => {
    const laterMembers = {
      agentVersion: '9.0.0',
      constructor: null,
      capabilities: { bundles: ['zip', 'tar'] },
    };
    const agent = await startAgent('later', { laterMembers });
    await assign(agent, 'web');
    await ok(200, hawser.admin.put(SETTINGS, { certificateRotationInterval: 'PT1H' }));
    hawser.clock.advance(61 * MINUTE);
    expect(await cycle(agent)).to.deep.equal([PULLING[0], 'POST rotate-certificate', ...PULLING.slice(1)]);
    expect(await cycle(agent)).to.deep.equal(STEADY);
    expect(await read(agent)).to.include({ status: 'Compliant', lcmStatus: 'Idle' });
  });
});
