// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { readRolloutCounts } from '../../src/db/rollouts.ts';
import { LEADER } from '../../src/domain/lock-names.ts';
import { HOUR } from '../../src/lib/clock.ts';
import { addVersion, MAIN } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { testedService, testOutput } from '../support/dsc-results.ts';
import { itOnPostgres } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { WITH_METRICS } from '../support/metric-values.ts';
import { assign, poll } from '../support/parameter-files.ts';
import { breakLock } from '../support/postgres/advisory-locks.ts';
import { parsePrometheus, sumOf } from '../support/prometheus.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { doDeed, prepareRings, type Rings, rollOut, rolloutsOf, step } from '../support/rollouts.ts';
import { download, offeredTo } from '../support/running.ts';
import { tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';
import { versionOf, withdraw } from '../support/withdrawals.ts';

/** The leader evaluates every ten seconds, and a step takes two evaluations. */
const WAIT = 60_000;

describe('nodes report, and a rollout', function () {
  this.timeout(4 * WAIT);
  const hawser = started(() => startHawser(WITH_METRICS));
  let rings: Rings;
  let name: string;
  let tests = 0;

  before(async () => {
    rings = await prepareRings(hawser);
  });
  beforeEach(async () => {
    tests += 1;
    name = `web-${tests}`;
    await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
  });

  async function join(ring: 'canary' | 'early' | null): Promise<NodeUnderTest> {
    const node = await hawser.registerNode(`n${Math.random()}.example.org`);
    if (ring !== null) await tagNode(hawser, node.nodeId, rings[ring]);
    await assign(hawser, node, name);
    await runs(node, true);
    return node;
  }

  /** Polls, downloads and reports. @returns the version */
  async function runs(node: NodeUnderTest, isWell: boolean): Promise<string> {
    const { version, checksum: configurationChecksum } = await ok(200, poll(node));
    await download(node);
    const result = testOutput([testedService(isWell)]);
    const body = { operation: 'Test', result, configurationChecksum };
    await ok(201, node.client.post(`/api/v1/nodes/${node.nodeId}/reports`, body));
    return version;
  }

  async function start(gate: object, more: object = {}) {
    const draft = addVersion(hawser.admin, name, { version: '1.1.0' }, { files: { [MAIN]: '# 1.1.0\n' } });
    await ok(201, draft);
    const every = { bakeTime: '00:00:01', ...gate };
    const steps = [step('canary', every), step('early', every), step(null, every)];
    await ok(201, rollOut(hawser.admin, name, '1.1.0', { steps, ...more }));
  }

  const show = () => ok(200, hawser.admin.get(`${rolloutsOf(name)}/1.1.0`));
  const listed = async (query: string) => {
    const { json: rows, headers } = await hawser.admin.get(`${rolloutsOf(name)}/1.1.0/nodes?${query}`);
    return { rows, total: Number(headers['x-total-count']) };
  };
  const sumOfState = async (state: string) => {
    const { text } = await hawser.client().get('/metrics', {
      Authorization: `Bearer ${WITH_METRICS.HAWSER_METRICS_TOKEN}`,
    });
    return sumOf(parsePrometheus(text), 'hawser_rollouts', { state });
  };
  const expectState = (state: string, stepAt: number) =>
    eventually(async () => expect(await show()).to.include({ state, step: stepAt }), WAIT);
  const got = async (node: NodeUnderTest) => (await ok(200, poll(node))).version;

  it('goes through its rings, across a restart, and counts each of them', async () => {
    const [canary, early, rest] = [await join('canary'), await join('early'), await join(null)];
    await start({});
    expect([await got(early), await got(rest)]).to.deep.equal(['1.0.0', '1.0.0']);
    expect(await runs(canary, true)).to.equal('1.1.0');
    await expectState('Running', 1);
    expect(await got(rest)).to.equal('1.0.0');
    await hawser.restart();
    for (const node of [early, rest]) node.client = hawser.client(node.identity);
    expect(await runs(early, true)).to.equal('1.1.0');
    await expectState('Running', 2);
    expect(await runs(rest, true)).to.equal('1.1.0');
    await expectState('Completed', 2);
    const { steps, history } = await show();
    const well = (nodes: number) => ({
      ...{ offered: nodes, taken: nodes, success: nodes },
      ...{ regression: 0, alreadyBad: 0, silent: 0, absent: 0 },
    });
    expect(steps.map(({ counts }: { counts: object }) => counts)).to.deep.equal([well(1), well(1), well(1)]);
    expect(history.map(({ actorName, to }: Record<string, string>) => `${actorName} ${to}`)).to.deep.equal([
      ...['admin Running', 'Hawser Running', 'Hawser Running', 'Hawser Completed'],
    ]);
  });

  it('names the nodes of its steps with what each made of the version, in CSV too', async () => {
    const ring = () => join('canary');
    const [good, always, silent, told, absent] = [
      await ring(),
      await ring(),
      await ring(),
      await ring(),
      await ring(),
    ];
    await join('early');
    await runs(always, false);
    await start({ minNodes: 9 });
    await runs(good, true);
    await runs(always, false);
    await download(silent);
    await got(told);
    const expected = [
      [good, 'Success', 'Compliant', 'Compliant'],
      [always, 'AlreadyBad', 'NonCompliant', 'NonCompliant'],
      [silent, 'Silent', 'Compliant', null],
      [told, 'NotTaken', null, null],
      [absent, 'Absent', null, null],
    ] as const;
    const byName = expected
      .map(([{ nodeId, fqdn }, outcome, before, after]) => ({
        nodeId,
        fqdn,
        step: 0,
        outcome,
        before,
        after,
      }))
      .sort((a, b) => (a.fqdn < b.fqdn ? -1 : 1));
    await eventually(async () => {
      const { rows, total } = await listed('');
      expect(rows.map(({ message, ...rest }: { message: unknown }) => rest)).to.deep.equal(byName);
      expect(total).to.equal(5);
    }, WAIT);
    for (const [{ nodeId }, outcome] of expected) {
      const { rows, total } = await listed(`outcome=${outcome}`);
      expect([rows.map((row: { nodeId: string }) => row.nodeId), total]).to.deep.equal([[nodeId], 1]);
    }
    expect(
      (await listed('step=0&take=2&skip=1')).rows.map(({ fqdn }: { fqdn: string }) => fqdn),
    ).to.deep.equal(byName.slice(1, 3).map(({ fqdn }) => fqdn));
    expect((await listed('step=1')).total).to.equal(0);
    const path = `${rolloutsOf(name)}/1.1.0/nodes`;
    const { text } = await hawser.admin.get(path, { Accept: 'text/csv' });
    const [header, ...lines] = text.trim().split('\r\n');
    expect(header).to.equal('nodeId,fqdn,step,outcome,before,after,message');
    expect(lines.map((line) => line.split(',')[3])).to.deep.equal(byName.map(({ outcome }) => outcome));
    await expectInvalid(hawser.admin.get(`${path}?outcome=Nonsense`));
    await expectProblem(hawser.admin.get(`${rolloutsOf(name)}/9.9.9/nodes`), 404, 'not_found');
    const version = async () => (await ok(200, hawser.admin.get(versionOf(name, '1.1.0')))).rollout;
    expect(await version()).to.deep.equal({ state: 'Running', step: 0, steps: 3 });
    await ok(200, doDeed(hawser.admin, `${rolloutsOf(name)}/1.1.0`, 'halt'));
    expect(await version()).to.deep.equal({ state: 'Halted', step: 0, steps: 3 });
    expect((await show()).cause).to.deep.equal({
      ...{ reason: 'Person', summary: 'admin has halted it: halt it', nodes: [] },
    });
    expect((await listed('')).total, 'it is kept after the end').to.equal(5);
  });

  it('opens no further step while a freeze lasts, and the next one as it ends', async () => {
    const canary = await join('canary');
    await start({});
    const freeze = '/api/v1/settings/freeze';
    const until = new Date(hawser.clock.now() + HOUR).toISOString();
    await ok(200, hawser.admin.put(freeze, { reason: 'the year ends', until }));
    expect(await runs(canary, true)).to.equal('1.1.0');
    // The leader says in the log that this rollout waits.
    const waits = new RegExp(`"level":"debug".*"name":"${name}","version":"1.1.0"`);
    await eventually(async () => expect(hawser.log()).to.match(waits), WAIT);
    expect(await show()).to.include({ state: 'Running', step: 0, frozenUntil: until });
    await ok(204, hawser.admin.delete(freeze));
    await expectState('Running', 1);
    expect((await show()).frozenUntil).to.equal(null);
  });

  for (const onHalt of ['Keep', 'Revert'])
    it(`halts in the first ring with ${onHalt}, whatever was bad before`, async () => {
      const [good, bad, rest] = [await join('canary'), await join('canary'), await join(null)];
      await runs(bad, false);
      await start({ minNodes: 2 }, { onHalt });
      await runs(bad, false);
      await eventually(async () => expect((await lastEvaluation()).alreadyBad).to.equal(1), WAIT);
      const halted = await sumOfState('Halted');
      await runs(good, false);
      await expectState('Halted', 0);
      const warning = new RegExp(
        `"level":"warn".*"name":"${name}".*Regressions: 1.*"msg":"a rollout is halted"`,
      );
      await eventually(async () => {
        expect(hawser.log()).to.match(warning);
        expect(await sumOfState('Halted')).to.equal(halted + 1);
      }, WAIT);
      const { steps, cause } = await show();
      expect(steps[0].counts).to.include({ offered: 2, taken: 2, regression: 1, alreadyBad: 1 });
      const { nodeId, fqdn } = good;
      const message = 'Web server (Microsoft.Windows/Service): differs in status';
      const fault = { nodeId, fqdn, before: 'Compliant', after: 'NonCompliant', message };
      expect(cause).to.deep.equal({
        reason: 'Regressions',
        summary: 'Regressions: 1, of which the gate of step 1 allows 0.',
        nodes: [fault],
      });
      expect((await listed('outcome=Regression')).rows).to.deep.equal([
        { ...fault, step: 0, outcome: 'Regression' },
      ]);
      const then = onHalt === 'Keep' ? '1.1.0' : '1.0.0';
      expect([await got(good), await got(bad), await got(rest)]).to.deep.equal([then, then, '1.0.0']);
    });

  /** The record has the counts of its last transition, so these are read where every server finds them. */
  async function lastEvaluation() {
    const { id } = await ok(200, hawser.admin.get(`/api/v1/configurations/${name}`));
    const owner = { kind: 'configurations', id, key: '1.1.0' } as const;
    const last = await withDatabase(hawser, ({ read }) => readRolloutCounts(read, owner));
    return last?.counts[0] ?? expect.fail('never evaluated');
  }

  it('is paused by its deadline, and ends as its version is withdrawn while it is', async () => {
    const canary = await join('canary');
    await start({ deadline: '00:00:02' });
    await expectState('Paused', 0);
    expect((await show()).history.at(-1).reason).to.match(/nodes judged: 0 of 1/);
    expect(await offeredTo(canary)).to.be.a('string');
    await ok(200, doDeed(hawser.admin, `${rolloutsOf(name)}/1.1.0`, 'resume', 'Paused'));
    await ok(200, withdraw(hawser.admin, name, '1.1.0'));
    await expectState('Halted', 0);
    expect(await got(canary)).to.equal('1.0.0');
    expect((await ok(200, hawser.admin.get(versionOf(name, '1.1.0')))).withdrawal).not.to.equal(null);
  });

  itOnPostgres('goes on once, whichever of two servers leads', async () => {
    const url = hawser.databaseUrl ?? '';
    const other = await startHawser({ HAWSER_DATABASE_URL: url });
    try {
      const nodes = [await join('canary'), await join('early'), await join(null)];
      await start({});
      for (const [at, node] of nodes.entries()) {
        await breakLock(url, LEADER);
        expect(await runs(node, true)).to.equal('1.1.0');
        await expectState(at === 2 ? 'Completed' : 'Running', Math.min(at + 1, 2));
        const { step: shown } = await ok(200, other.admin.get(`${rolloutsOf(name)}/1.1.0`));
        expect(shown).to.equal(Math.min(at + 1, 2));
      }
      expect((await show()).history).to.have.length(4);
    } finally {
      await other.close();
    }
  });
});
