// full: SQLite
import { expect } from 'chai';
import { expectFailed, makeCli } from '../../support/cli.ts';
import { type CliSession, startCliSession } from '../../support/cli-session.ts';
import { publishWithChildren } from '../../support/composites.ts';
import { addVersion, MAIN } from '../../support/configurations.ts';
import { testedService, testOutput } from '../../support/dsc-results.ts';
import { type NodeUnderTest, publishConfiguration } from '../../support/hawser.ts';
import { assign } from '../../support/parameter-files.ts';
import { steadyPort, untilKnocked } from '../../support/ports.ts';
import { expectProof, proofPath, pulled, ran, told } from '../../support/proof.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';
import { withdraw } from '../../support/withdrawals.ts';

describe('hawserctl proof', () => {
  let session: CliSession;
  let one: NodeUnderTest;
  let two: NodeUnderTest;
  beforeEach(async () => {
    session = await startCliSession({ HAWSER_PORT: String(await steadyPort()) });
    const { hawser } = session;
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    one = await hawser.registerNode('one.example');
    two = await hawser.registerNode('two.example');
    await assign(hawser, one, 'web');
    await assign(hawser, two, 'web');
  });
  afterEach(() => session.close());

  const proof = (...words: string[]) => session.cli.run(['proof', ...words]);
  const path = proofPath('web', '1.0.0');

  it('ends with 1 and the reasons while some node does not run it, and with 0 when all do', async () => {
    await told(one);
    await expectProof(session.hawser.admin, path, {
      nodes: '0/0/1/1 of 2',
      reasons: { NeverPolled: 1, NotDownloaded: 1 },
    });
    const none = await proof('web', '1.0.0', '--nodes');
    const since = none.stdout.match(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/)?.[0];
    expect({ ...none, stdout: none.stdout.split('\n').map((line) => line.split(/ {2,}/)) }).to.deep.equal({
      ...{ code: 1, stderr: '' },
      stdout: [
        ['0 of 2 nodes that are offered web 1.0.0 have applied it.'],
        ['Offered:', '2'],
        ['Declared:', '0 (0 applied, 0 failed, 0 untested)'],
        ['Served:', '0'],
        ['Told:', '1'],
        ['Others:', '1'],
        ['NODES', 'REASON', 'THEY'],
        ['1', 'NeverPolled', 'have never polled since they are registered or assigned'],
        ['1', 'NotDownloaded', 'were told of it, and have not downloaded it'],
        [''],
        ['NODE', 'VIA', 'EVIDENCE', 'SINCE', 'REASON', 'OUTCOME'],
        ['one.example', 'Direct', 'Told', since, 'NotDownloaded', '-'],
        ['two.example', 'Direct', '-', '-', 'NeverPolled', '-'],
        [''],
      ],
    });

    await ran(one);
    await pulled(two);
    await expectProof(session.hawser.admin, path, { nodes: '1/1/0/0 of 2', reasons: { NotReported: 1 } });
    expect((await proof('web', '1.0.0')).code).to.equal(1);
    const all = await proof('web', '1.0.0', '--evidence', 'served');
    expect(all).to.include({ code: 0, stderr: '' });
    expect(all.stdout).to.match(
      /^2 of 2 nodes that are offered web 1\.0\.0 declare that they run it, or were served it whole\.\n/,
    );
    expect(all.stdout).to.match(/^Declared: +1 \(1 applied, 0 failed, 0 untested\)$/m);
    const { text } = await session.hawser.admin.get(path);
    expect((await proof('web', '1.0.0', '--json')).stdout).to.equal(`${text}\n`);
  });

  it('waits until all of them do, and no longer than it was told', async () => {
    await ran(one);
    const begin = Date.now();
    const late = await proof('web', '1.0.0', '--wait', '2s');
    expect(late.code).to.equal(1);
    expect(Date.now() - begin).to.be.at.least(2_000);
    const waiting = proof('web', '1.0.0', '--wait', '5m');
    await ran(two);
    expect(await waiting).to.deep.include({ code: 0, stderr: '' });
  });

  it('goes on waiting while the server starts anew', async () => {
    await ran(one);
    const waiting = proof('web', '1.0.0', '--wait', '5m');
    await session.untilAsked('/proof');
    const { port } = session.hawser.server;
    await session.hawser.server.close();
    await untilKnocked(port);
    await session.hawser.restart();
    await ran(two);
    expect(await waiting).to.deep.include({ code: 0, stderr: '' });
  });

  it('is of one version, so a node that is offered another does not count', async () => {
    await ran(one);
    await assign(session.hawser, two, 'web', { version: '1.0.0' });
    await ok(201, addVersion(session.hawser.admin, 'web', { version: '1.1.0' }));
    await session.cli.run(['config', 'publish', 'web', '1.1.0']);
    expect((await proof('web', '1.1.0')).stdout).to.match(
      /^0 of 1 node that is offered web 1\.1\.0 have applied it\.\n[\s\S]*\n1 +NotPolledSince /,
    );
    const draft = await ok(201, addVersion(session.hawser.admin, 'web', { version: '1.2.0' }));
    expect(draft.status).to.equal('Draft');
    expect((await proof('web', '1.2.0')).stderr).to.match(/^hawserctl: not_found: /);
  });

  it('ends with 1 where a node that is assigned this gets nothing', async () => {
    await publishConfiguration(session.hawser.admin, 'gone', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
      '2.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
    });
    const node = await session.hawser.registerNode('three.example');
    await assign(session.hawser, node, 'gone', { majorVersion: 2 });
    await ok(200, withdraw(session.hawser.admin, 'gone', '2.0.0'));
    const { code, stdout } = await proof('gone', '1.0.0');
    expect(code).to.equal(1);
    expect(stdout).to.match(
      /^No node is offered gone 1\.0\.0\.\n.*\n1 +Unresolvable +are assigned this, or a composite with it, and get an error or nothing\n$/,
    );
  });

  it('ends with 1 where no node is offered it', async () => {
    await publishConfiguration(session.hawser.admin, 'idle', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
    });
    expect(await proof('idle', '1.0.0')).to.deep.equal({
      ...{ code: 1, stdout: 'No node is offered idle 1.0.0.\n', stderr: '' },
    });
  });

  it('tells having it from having applied it', async () => {
    const checksum = await ran(one);
    await assign(session.hawser, two, 'web', { version: '1.0.0' });
    const result = testOutput([testedService(true)], true);
    const body = { operation: 'Test', result, configurationChecksum: checksum };
    await ok(201, two.client.post(`/api/v1/nodes/${two.nodeId}/reports`, body));
    const failed = await proof('web', '1.0.0', '--nodes');
    expect(failed.code).to.equal(1);
    expect(failed.stdout).to.match(/^Declared: +2 \(1 applied, 1 failed, 0 untested\)$/m);
    expect(failed.stdout).to.match(/^two\.example +Direct \(pinned\) +Declared .* +Failed$/m);
    expect((await proof('web', '1.0.0', '--evidence', 'declared')).code).to.equal(0);
    await ran(two);
    expect((await proof('web', '1.0.0')).code).to.equal(0);
  });

  it('takes composites', async () => {
    await publishWithChildren(session.hawser.admin, 'site', '1.0.0', ['web']);
    await assign(session.hawser, one, 'site', { isComposite: true });
    const before = await proof('site', '1.0.0', '--composite');
    expect(before.code).to.equal(1);
    expect(before.stdout).to.match(/^0 of 1 node that is offered site 1\.0\.0 have applied it/);
    await ran(one);
    expect((await proof('site', '1.0.0', '--composite')).code).to.equal(0);
    // The other node is assigned the child itself.
    const { code, stdout } = await proof('web', '1.0.0', '--nodes');
    expect(code).to.equal(1);
    expect(stdout).to.match(/^1 of 2 nodes that are offered web 1\.0\.0 have applied it\.$/m);
    expect(stdout).to.match(/^Offered: +2 \(1 directly, 1 by composites, 0 pinned\)$/m);
    expect(stdout).to.match(/^one\.example +site +Declared /m);
  });
});

describe('hawserctl proof, used wrongly', () => {
  // Nothing answers there, so an attempt to ask would end otherwise.
  const env = { HAWSER_URL: 'https://localhost:1', HAWSER_TOKEN: 'pat_x' };
  const cli = started(makeCli);

  for (const [words, says] of [
    [['web', '1.0.0', '--wait', '10'], '--wait: "10" is no time; one is written as 90s, 10m or 1h.'],
    [['web', '1.0.0', '--wait', '-1m'], 'is no time'],
    [['web', '1.0.0', '--evidence', 'hearsay'], '--evidence'],
    [['web', 'v1.0.0'], 'drop the v: 1.0.0'],
    [['web'], "missing required argument 'version'"],
  ] as const)
    it(`calls "proof ${words.join(' ')}" wrong usage`, async () => {
      expectFailed(await cli.run(['proof', ...words], { env }), 2, says);
    });
});
