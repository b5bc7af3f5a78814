// everyday: SQLite
import { expect } from 'chai';
import { expectFailed, rowsOf } from '../../support/cli.ts';
import { signedInCli } from '../../support/cli-session.ts';
import { publishWithChildren } from '../../support/composites.ts';
import { testedService, testOutput } from '../../support/dsc-results.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../../support/hawser.ts';
import { assign, pullBundle, saveParameters } from '../../support/parameter-files.ts';
import { ran } from '../../support/proof.ts';
import { createScopeType, createScopeValue } from '../../support/scopes.ts';
import { started } from '../../support/started.ts';

const PAIR = ['web01.example', 'web02.example'];

describe('hawserctl node', () => {
  const hawser = started(startHawser);
  const cli = started(() => signedInCli(hawser));
  let nodes: NodeUnderTest[];
  let prod: string;

  const run = (...words: string[]) => cli.run(['node', ...words]);
  const inTerminal = (words: readonly string[], answer: string) =>
    cli.runInTerminal(['node', ...words], [answer]);
  const names = async (...filters: string[]) => {
    const { code, stdout, stderr } = await run('list', ...filters.flatMap((each) => ['--filter', each]));
    expect(code, stderr).to.equal(0);
    return rowsOf(stdout)
      .slice(1)
      .map(([name]) => name);
  };
  const assigned = async () =>
    (await hawser.admin.get('/api/v1/nodes')).json.map(
      (node: { configurationName: string | null }) => node.configurationName,
    );

  before(async () => {
    const type = await createScopeType(hawser, 'Environment');
    prod = await createScopeValue(hawser, type, 'prod');
    await createScopeValue(hawser, type, 'test');
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': 'a: 1\n' },
      '1.1.0': { 'main.dsc.yaml': '$schema: y\nresources: []\n' },
    });
  });

  beforeEach(async () => {
    nodes = [];
    for (const name of ['db01.example', ...PAIR]) nodes.push(await hawser.registerNode(name));
  });
  afterEach(async () => {
    for (const { nodeId } of nodes) await hawser.admin.delete(`/api/v1/nodes/${nodeId}`);
  });
  const at = (index: number) => nodes[index] as NodeUnderTest;

  it('tells why a node is not well, since when, and what happened to it', async () => {
    const path = `/api/v1/nodes/${at(1).nodeId}`;
    const well = await run('why', PAIR[0] as string);
    expect(well.stdout).to.match(/Status: +Unknown since .*\nBecause: +nothing is wrong/);
    const report = { operation: 'Test', result: testOutput([testedService(false)]) };
    expect((await at(1).client.post(`${path}/reports`, report)).status).to.equal(201);
    const { code, stdout } = await run('why', PAIR[0] as string);
    expect(code).to.equal(0);
    expect(stdout).to.match(
      /Status: +NonCompliant since \d{4}-.*\nBecause: +Web server .*: differs in status\n/,
    );
    const { statusCause } = JSON.parse((await run('why', PAIR[0] as string, '--json')).stdout);
    expect(statusCause).to.deep.equal((await hawser.admin.get(path)).json.statusCause);
    const told = rowsOf((await run('timeline', PAIR[0] as string, '--kinds', 'Status,Certificate')).stdout);
    expect(told.map((cells) => cells.slice(1))).to.deep.equal([
      ['KIND', 'WHO', 'WHAT'],
      ['Status', '-', `${PAIR[0]} became NonCompliant`],
      ['Certificate', '-', `${PAIR[0]} was registered`],
    ]);
    expect(rowsOf((await run('timeline', PAIR[0] as string, '--limit', '1')).stdout)).to.have.length(2);
  });

  it('lists nodes as a table, or as the API answers', async () => {
    await assign(hawser, at(1), 'web');
    const listed = rowsOf((await run('list')).stdout);
    expect(listed.map((cells) => cells.slice(0, 7))).to.deep.equal([
      ['NODE', 'STATUS', 'LCM', 'CONFIGURATION', 'OFFERED', 'RUNS', 'STALE'],
      ['db01.example', 'Unknown', 'Unknown', '-', '-', '-', 'no'],
      ['web01.example', 'Unknown', 'Unknown', 'web', '1.1.0', '-', 'no'],
      ['web02.example', 'Unknown', 'Unknown', '-', '-', '-', 'no'],
    ]);
    const { json } = await hawser.admin.get('/api/v1/nodes');
    expect(JSON.parse((await run('list', '--json')).stdout)).to.deep.equal(json);
    expect(rowsOf((await run('list', '--sort=-fqdn')).stdout)[1]?.[0]).to.equal('web02.example');
  });

  it('names what a node runs where that is not what is assigned', async () => {
    await publishConfiguration(hawser.admin, 'other', { '1.0.0': { 'main.dsc.yaml': 'a: 2\n' } });
    await assign(hawser, at(1), 'other');
    await ran(at(1));
    const runs = async () => rowsOf((await run('list')).stdout)[2]?.slice(3, 6);
    expect(await runs()).to.deep.equal(['other', '1.0.0', '1.0.0 (Declared)']);
    await assign(hawser, at(1), 'web');
    expect(await runs()).to.deep.equal(['web', '1.1.0', 'other 1.0.0 (Declared)']);
    const csv = await hawser.admin.with({ Accept: 'text/csv' }).get('/api/v1/nodes');
    expect(csv.text).to.contain('""configurationName"":""other"",""isComposite"":false');
  });

  it('filters by members of the list, by what the server filters by, and by tags', async () => {
    await assign(hawser, at(1), 'web', { version: '1.0.0' });
    await run('tag', 'web02.example', '--value', 'Environment/prod');
    expect(await names('fqdn=web*')).to.deep.equal(PAIR);
    expect(await names('fqdn=*01.EXAMPLE')).to.deep.equal(['db01.example', 'web01.example']);
    expect(await names('fqdn=web01.example')).to.deep.equal(['web01.example']);
    expect(await names('fqdn=web01')).to.deep.equal([]);
    expect(await names('fqdn=web*', 'unassigned=true')).to.deep.equal(['web02.example']);
    expect(await names('fqdn=web*', 'fqdn=*02*')).to.deep.equal(['web02.example']);
    expect(await names('configurationName=null')).to.deep.equal(['db01.example', 'web02.example']);
    expect(await names('offeredVersion=1.0.0')).to.deep.equal(['web01.example']);
    expect(await names('offeredVersion=1.*')).to.deep.equal(['web01.example']);
    expect(await names('isStale=false', 'status=unknown')).to.have.length(3);
    expect(await names('tag=environment/prod')).to.deep.equal(['web02.example']);
    expect(await names(`scopeValueId=${prod}`)).to.deep.equal(['web02.example']);
  });

  it('shows one node, or several', async () => {
    await run('assign', 'WEB01.example', '--configuration', 'web', '--major', '1', '--channel', 'rc');
    await run('tag', 'web01.example', '--value', 'Environment/prod');
    const shown = await run('show', at(1).nodeId);
    expect(shown.code).to.equal(0);
    for (const line of [
      /^Node: +web01\.example$/m,
      /^Assigned: +web \(major 1, channel rc\)$/m,
      /^Offered: +1\.1\.0$/m,
      /^Tags: +Environment\/prod$/m,
      /^Certificate: +until \d{4}-.* SHA-256 \S{64}/m,
    ])
      expect(shown.stdout).to.match(line);
    expect((await run('show', ...PAIR)).stdout.match(/^Node: .*/gm)).to.have.length(2);
    const { text } = await hawser.admin.get('/api/v1/nodes/web01.example');
    expect((await run('show', 'web01.example', '--json')).stdout).to.equal(`${text}\n`);
    const both = JSON.parse((await run('show', '--filter', 'fqdn=web*', '--json')).stdout);
    expect(both.map(({ fqdn }: { fqdn: string }) => fqdn)).to.deep.equal(PAIR);
  });

  it('assigns to one node without asking, and takes the configuration away', async () => {
    expect(await run('assign', 'web01.example', '--configuration', 'web')).to.deep.equal({
      ...{ code: 0, stdout: 'Assigned web to web01.example.\n', stderr: '' },
    });
    expect(await assigned()).to.deep.equal([null, 'web', null]);
    const again = await run('assign', 'web01.example', '--configuration', 'web');
    expect(again).to.deep.equal({ code: 0, stdout: '1 node was so already.\n', stderr: '' });
    const pinned = await run('assign', at(1).nodeId, '--configuration', 'web', '--version', '1.0.0');
    expect(pinned.stdout).to.equal('Assigned web 1.0.0 to web01.example.\n');
    expect((await run('unassign', 'web01.example')).code).to.equal(0);
    expect(await assigned()).to.deep.equal([null, null, null]);
  });

  it('assigns a composite', async () => {
    await publishWithChildren(hawser.admin, 'site', '1.0.0', ['web']);
    const words = ['assign', 'db01.example', '--configuration', 'site'];
    expect((await run(...words)).stderr).to.match(/^hawserctl: not_found: /);
    expect((await run(...words, '--composite')).code).to.equal(0);
    expect((await run('show', 'db01.example')).stdout).to.match(/^Assigned: +site \(composite\)$/m);
    expect((await run('unassign', 'db01.example')).code).to.equal(0);
  });

  it('does nothing to several nodes without a terminal and without --yes', async () => {
    expectFailed(
      await run('assign', ...PAIR, '--configuration', 'web'),
      2,
      'Assign web to 2 nodes (web01.example, web02.example)? Nothing was done',
    );
    expect((await run('delete', '--filter', 'fqdn=web*')).code).to.equal(2);
    expect(await assigned()).to.deep.equal([null, null, null]);
    const done = await run('assign', ...PAIR, 'WEB01.example', '--configuration', 'web', '--yes');
    expect(done).to.deep.equal({ code: 0, stdout: 'Assigned web to 2 nodes.\n', stderr: '' });
    expect(await assigned()).to.deep.equal([null, 'web', 'web']);
  });

  it('asks at a terminal before it does something to several nodes', async () => {
    const words = ['unassign', '--filter', 'fqdn=web*'];
    await run('assign', ...PAIR, '--configuration', 'web', '--yes');
    const no = await inTerminal(words, 'n');
    expect(no.code).to.equal(1);
    expect(no.stdout).to.match(/Take the configuration from 2 nodes .*\[y\/N\][\s\S]*Nothing was done/);
    expect(await assigned()).to.deep.equal([null, 'web', 'web']);
    expect((await inTerminal(words, 'y')).code).to.equal(0);
    expect(await assigned()).to.deep.equal([null, null, null]);
  });

  it('tags nodes, and goes on where one refuses', async () => {
    await run('tag', 'web01.example', '--value', 'Environment/test');
    const { code, stdout, stderr } = await run('tag', ...PAIR, '--value', 'environment/prod', '--yes');
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: 'Tagged 1 node with Environment/prod.\n' });
    expect(stderr).to.match(/^web01\.example: scope_type_already_tagged: ./);
    expect(await names('tag=Environment/prod')).to.deep.equal(['web02.example']);
    const json = await run('untag', ...PAIR, '--value', 'Environment/prod', '--yes', '--json');
    expect(JSON.parse(json.stdout)).to.deep.equal({ done: 1, unchanged: 1, failed: [] });
    expect(await names('tag=Environment/prod')).to.deep.equal([]);
  });

  it('deletes nodes', async () => {
    expect(await run('delete', 'db01.example')).to.include({ code: 0, stdout: 'Deleted db01.example.\n' });
    const others = await run('delete', '--filter', 'fqdn=web*', '--yes');
    expect(others).to.include({ code: 0, stdout: 'Deleted 2 nodes.\n' });
    expect(await names()).to.deep.equal([]);
    const none = await run('delete', '--filter', 'fqdn=web*', '--yes');
    expect(none).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: 'No node meets the filter. Nothing was done.\n',
    });
  });

  it('finds all nodes before it does something to one', async () => {
    const { code, stdout, stderr } = await run('delete', 'web01.example', 'none.example', '../x', '--yes');
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
    expect(stderr).to.equal('hawserctl: not_found: There is no node "none.example".\n');
    expect(await names()).to.have.length(3);
  });

  for (const [words, message] of [
    [['show'], /Say which nodes/],
    [['delete', 'web01.example', '--filter', 'fqdn=web*'], /either by names and ids, or by --filter/],
    [['list', '--filter', 'nonsense=1'], /no member "nonsense".*fqdn, status/],
    [['list', '--filter', 'stale=true', '--filter', 'stale=false'], /say stale once/],
    [['list', '--sort', 'nonsense'], /lastCheckIn/],
    [['assign', 'web01.example'], /Say --configuration/],
    [['assign', 'web01.example', '--configuration', 'web', '--major', 'x'], /--major takes a whole number/],
    [['assign', 'web01.example', '--configuration', 'web', '--version', 'v1.0.0'], /drop the v/],
    [
      ['assign', 'x', '--configuration', 'web', '--version', '1.0.0', '--major', '1'],
      /--major and --channel/,
    ],
    [['tag', 'web01.example'], /Say --value/],
    [['tag', 'web01.example', '--value', 'prod'], /say the value too/],
    [['tag', 'web01.example', '--value', 'Node/web01'], /nodes have no tags of Node/],
  ] as const)
    it(`calls "node ${words.join(' ')}" wrong usage`, async () => {
      const { code, stdout, stderr } = await run(...words);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr.replace(/\s+/g, ' ')).to.match(message);
    });

  describe('diff', () => {
    const diff = (...words: string[]) => run('diff', ...words);

    it('shows versions, files and parameters that differ', async () => {
      await publishConfiguration(hawser.admin, 'app', {
        '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
      });
      const parameters = { configuration: 'app', content: 'parameters: {port: 1}\n' };
      await saveParameters(hawser, parameters);
      await assign(hawser, at(1), 'app');
      await pullBundle(at(1));
      expect(await diff('web01.example')).to.include({
        ...{ code: 0, stdout: 'web01.example: It runs exactly what it is offered.\n' },
      });

      await hawser.admin.upload('/api/v1/configurations/app/versions', {
        ...{ fields: { version: '1.1.0' }, files: { 'main.dsc.yaml': '$schema: y\nresources: []\n' } },
      });
      await hawser.admin.put('/api/v1/configurations/app/versions/1.1.0/publish');
      await saveParameters(hawser, { ...parameters, version: '1.0.1', content: 'parameters: {port: 2}\n' });
      const { code, stdout, stderr } = await diff('web01.example');
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(rowsOf(stdout).slice(0, 4)).to.deep.equal([
        ['web01.example:'],
        ['WHAT', 'RUNS', 'OFFERED'],
        ['app', '1.0.0', '1.1.0'],
        ['app parameters of Default', '1.0.0', '1.0.1'],
      ]);
      for (const line of ['-$schema: x', '+$schema: y', '-parameters: {port: 1}', '+parameters: {port: 2}'])
        expect(stdout.split('\n')).to.include(line);

      const json = JSON.parse((await diff('web01.example', '--json')).stdout);
      expect(json).to.deep.include({ fqdn: 'web01.example', reason: null });
      expect(json.parts[0]).to.deep.include({ configurationName: 'app', runs: '1.0.0', offered: '1.1.0' });
      expect(json.parts[0].files).to.have.length(1);
    });

    it('redacts what is secure on either side, as previews do', async () => {
      const main =
        '$schema: x\nparameters: {password: {type: secureString}, port: {type: int}}\nresources: []\n';
      await publishConfiguration(hawser.admin, 'safe', { '1.0.0': { 'main.dsc.yaml': main } });
      const parameters = { configuration: 'safe', content: 'parameters: {password: hunter2, port: 1}\n' };
      await saveParameters(hawser, parameters);
      await assign(hawser, at(1), 'safe');
      await pullBundle(at(1));
      const content = 'parameters: {password: hunter3, port: 2}\n';
      await saveParameters(hawser, { ...parameters, version: '1.0.1', content });
      const { code, stdout } = await diff('web01.example');
      expect(code).to.equal(0);
      expect(stdout)
        .to.match(/^-.*port: 1/m)
        .and.match(/^\+.*port: 2/m)
        .and.include('<redacted>');
      expect(stdout).to.not.include('hunter');
    });

    it('compares each child of a composite', async () => {
      await publishConfiguration(hawser.admin, 'mail', { '1.0.0': { 'main.dsc.yaml': 'm: 1\n' } });
      await publishWithChildren(hawser.admin, 'host', '1.0.0', ['mail']);
      await assign(hawser, at(0), 'host', { isComposite: true });
      await pullBundle(at(0));
      await publishWithChildren(hawser.admin, 'host', '1.1.0', [
        { name: 'web', activeVersion: '1.0.0' },
        'mail',
      ]);
      const { stdout } = await diff('db01.example');
      expect(rowsOf(stdout)).to.deep.include(['web', '-', '1.0.0']);
      expect(stdout).to.not.match(/^mail /m);
    });

    it('says what cannot be told', async () => {
      const text = async () => (await diff('web01.example')).stdout;
      expect(await text()).to.equal('web01.example: Nothing is assigned to it.\n');
      await assign(hawser, at(1), 'web');
      expect(await text()).to.equal('web01.example: Nothing is known about what it runs.\n');
      const all = await diff('db01.example', ...PAIR);
      expect(all).to.include({ code: 0 });
      expect(all.stdout).to.match(/\n\nweb01\.example: .*\n\nweb02\.example: /);
    });
  });

  it('says which tag is not there, and how to make it', async () => {
    expectFailed(
      await run('tag', 'web01.example', '--value', 'Environment/none'),
      1,
      /^hawserctl: not_found: Environment has no value "none"\. "hawserctl api POST /,
    );
  });

  it('expects the nodes of a file, and says what is wrong with others', async () => {
    const file = cli.write(
      'racks.csv',
      'fqdn,configuration,isComposite,majorVersion,tags\nnew01.example,web,,1,Environment=prod\nnew 02,,,,\n',
    );
    const { code, stdout, stderr } = await run('expect', file);
    expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '1 node is expected now.\n' });
    expect(stderr).to.match(/^new 02: validation_failed: /);
    expect(await names('awaiting=true')).to.deep.equal(['new01.example']);
    expect(await names('awaiting=true', 'tag=Environment/prod', 'configurationName=web')).to.have.length(1);
    expect((await run('show', 'new01.example')).stdout).to.match(
      /Certificate: +awaiting the first registration/,
    );
    const again = await cli.run(['node', 'expect', '-', '--json'], {
      stdin: 'fqdn,configuration,isComposite,majorVersion,tags\n"new01.example",web,,1,Environment=prod\n',
    });
    expect(again.code).to.equal(0);
    expect(JSON.parse(again.stdout)).to.deep.equal({ done: 0, unchanged: 1, failed: [] });
    expectFailed(await run('expect', cli.write('other.csv', 'fqdn\nx\n')), 1, 'validation_failed');
    await run('delete', 'new01.example');
  });
});
