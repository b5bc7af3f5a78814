// everyday: SQLite
import { expect } from 'chai';
import { expectFailed, rowsOf } from '../../support/cli.ts';
import { signedInCli } from '../../support/cli-session.ts';
import { publishWithChildren } from '../../support/composites.ts';
import { publishConfiguration, startHawser } from '../../support/hawser.ts';
import { assign, saveParameters } from '../../support/parameter-files.ts';
import { createScopeType, createScopeValue, tagNode } from '../../support/scopes.ts';
import { started } from '../../support/started.ts';

describe('hawserctl param explain', () => {
  const NODE = 'web01.example';

  const hawser = started(startHawser);
  const cli = started(() => signedInCli(hawser));

  const run = (words: readonly string[]) => cli.run(['param', ...words]);

  before(async () => {
    const prod = await createScopeValue(hawser, await createScopeType(hawser, 'Environment'), 'prod');
    await publishConfiguration(hawser.admin, 'db', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
    const node = await hawser.registerNode(NODE);
    await tagNode(hawser, node.nodeId, prod);
    await assign(hawser, node, 'db');
    const save = (scopeType: string, value: string | undefined, content: string) =>
      saveParameters(hawser, { configuration: 'db', scopeType, ...(value && { value }), content });
    await save('Default', undefined, 'parameters: {port: 1, big: 12345678901234567890, list: [1]}\n');
    await save('Environment', 'prod', 'parameters: {port: "2", tls: {port: 443}}\n');
    await save('Node', NODE, 'parameters: {port: 3}\n');
  });

  it('shows value, scope, version, who, when and what it hides', async () => {
    const { code, stdout } = await run(['explain', NODE]);
    expect(code).to.equal(0);
    const [head, ...lines] = rowsOf(stdout);
    expect(head).to.deep.equal(['PATH', 'VALUE', 'SCOPE', 'VERSION', 'SET IN', 'WHO', 'WHEN', 'HIDES']);
    expect(lines.map((cells) => cells.filter((_, at) => at !== 6))).to.have.deep.members([
      [
        '/parameters/port',
        '3',
        `Node/${NODE}`,
        '1.0.0',
        '1.0.0',
        'admin',
        '"2" (Environment/prod), 1 (Default)',
      ],
      ['/parameters/big', '12345678901234567890', 'Default', '1.0.0', '1.0.0', 'admin', '-'],
      ['/parameters/list', '[1]', 'Default', '1.0.0', '1.0.0', 'admin', '-'],
      ['/parameters/tls/port', '443', 'Environment/prod', '1.0.0', '1.0.0', 'admin', '-'],
    ]);
    expect(lines[0]?.[6]).to.match(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/);
    const answer = await hawser.admin.get(`/api/v1/nodes/${NODE}/parameters/provenance`);
    expect((await run(['explain', NODE, '--json'])).stdout).to.equal(`${answer.text}\n`);
  });

  it('narrows it to a path, and says where nothing is', async () => {
    for (const path of ['tls', 'tls/port', '/parameters/tls'])
      expect(rowsOf((await run(['explain', NODE, path])).stdout).map(([at]) => at)).to.deep.equal([
        'PATH',
        '/parameters/tls/port',
      ]);
    const nothing = await run(['explain', NODE, 'por']);
    expect(nothing).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: `hawserctl: not_found: ${NODE} has no parameter at /parameters/por.\n`,
    });
  });

  it('asks for the child where a composite is assigned', async () => {
    await publishWithChildren(hawser.admin, 'site', '1.0.0', ['db']);
    const node = await hawser.registerNode('site01.example');
    await assign(hawser, node, 'site', { isComposite: true });
    expectFailed(await run(['explain', 'site01.example']), 2, /--configuration/);
    const said = await run(['explain', 'site01.example', '--configuration', 'db']);
    expect(rowsOf(said.stdout).map(([at]) => at)).to.include('/parameters/big');
  });
});
