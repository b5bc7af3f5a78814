// everyday: SQLite; full: PostgreSQL
/** How the values of parameters from several scopes meet: what nodes get, and what is said of it. */
import { expect } from 'chai';
import { proposed, setOf, unprotected } from '../support/change-sets.ts';
import { MAIN } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, poll, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { filesOf, uploadSchema } from '../support/parameter-schemas.ts';
import { groupOf, groupsOf, preview, setting } from '../support/previews.ts';
import { manifestPath, pulled, reported, told } from '../support/proof.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, tagNode } from '../support/scopes.ts';
import { runHawser } from '../support/spawned.ts';
import { started } from '../support/started.ts';

const merging = (type: string, merge: unknown) => ({
  type,
  defaultValue: type === 'array' ? [] : {},
  metadata: { hawser: { merge } },
});
const DECLARED = {
  rules: merging('array', 'append'),
  hosts: merging('array', 'unique'),
  users: merging('array', { byKey: 'name' }),
  log: merging('object', 'replace'),
  options: { type: 'object', defaultValue: {} },
  banner: { type: 'string', defaultValue: 'none', minLength: 3 },
};
const V = '$' + '{';

describe('merging in the way that a document says', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  const SITE = { scopeType: 'Site', value: 'berlin' };

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': filesOf(DECLARED).files });
    node = await hawser.registerNode('web-01.example.org');
    const site = await createScopeType(hawser, 'Site');
    await createScopeType(hawser, 'Room');
    await tagNode(hawser, node.nodeId, await createScopeValue(hawser, site, 'berlin'));
    await assign(hawser, node, 'web');
  });

  let version = 0;
  /** Publishes the content as the next version of the scope's file. */
  async function save(wish: { scopeType?: string; value?: string; content: object | string }): Promise<void> {
    version += 1;
    const content = typeof wish.content === 'string' ? wish.content : JSON.stringify(wish.content);
    await saveParameters(hawser, { ...wish, configuration: 'web', version: `1.0.${version}`, content });
  }
  const provenance = () => ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}/parameters/provenance`));
  const refusedBy = async (content: object) => {
    const path = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'web')}`;
    const { json } = await expectProblem(
      hawser.admin.put(path, { version: '1.9.0', content: JSON.stringify(content) }),
      400,
      'validation_failed',
    );
    return json.errors.map(({ path: at, code }: { path: string; code: string }) => `${at} ${code}`);
  };

  it('joins lists, replaces mappings, and tells which files made a value', async () => {
    await save({
      content: {
        parameters: {
          rules: [1],
          hosts: ['a', 'b'],
          users: [{ name: 'x', id: 1 }],
          log: { level: 'info', keep: 1 },
          options: { a: 1 },
        },
      },
    });
    await save({
      ...SITE,
      content: {
        parameters: {
          rules: [1, 2],
          hosts: ['b', 'c'],
          users: [{ name: 'y' }, { name: 'x', id: 2 }],
          log: { level: 'warn' },
          options: { b: 2 },
        },
      },
    });
    expect(await pullParameters(node)).to.equal(
      [
        'parameters:',
        ...['  rules:', '    - 1', '    - 1', '    - 2', '  hosts:', '    - a', '    - b', '    - c'],
        ...['  users:', '    - name: x', '      id: 2', '    - name: "y"'],
        ...['  log:', '    level: warn', '  options:', '    a: 1', '    b: 2', ''],
      ].join('\n'),
    );
    const { provenance: leaves, problems, unset } = await provenance();
    expect(problems).to.deep.equal([]);
    expect(unset).to.deep.equal({});
    const rules = leaves['/parameters/rules'];
    expect(rules).to.deep.include({ scopeTypeName: 'Site', value: [1, 1, 2], merge: 'append', text: null });
    const below = { scopeTypeName: 'Default', scopeValue: null, precedence: 0 };
    const [first, second] = rules.mergedFrom;
    expect(first).to.deep.equal({ ...below, resolvedVersion: '1.0.1', value: [1] });
    expect(second).to.deep.include({ scopeTypeName: 'Site', scopeValue: 'berlin', value: [1, 2] });
    expect(rules.overriddenValues).to.deep.equal([{ ...below, value: [1] }]);
    expect(leaves['/parameters/users'].merge).to.deep.equal({ byKey: 'name' });
    expect(leaves['/parameters/log/level']).to.include({ merge: 'replace', mergedFrom: null });
    expect(leaves['/parameters/options/a']).to.include({ merge: null, mergedFrom: null });
  });

  it('refuses items that no key tells apart, and names them in the whole', async () => {
    const users = [{ name: 'x' }, 'y', { name: null }, { name: 'x' }];
    expect(await refusedBy({ parameters: { users } })).to.deep.equal(
      [1, 2, 3].map((at) => `/parameters/users/${at} merge_key`),
    );
  });

  it('drops what a file unsets, and tells who had set it', async () => {
    await save({
      ...SITE,
      content: { unset: ['/parameters/options/a', '/parameters/rules'], parameters: { rules: [9] } },
    });
    const text = await pullParameters(node);
    expect(text)
      .to.contain('  options: {}\n')
      .and.to.contain('  rules:\n    - 9\n')
      .and.not.to.contain('unset');
    const { unset, provenance: leaves } = await provenance();
    expect(Object.keys(unset)).to.deep.equal(['/parameters/options/a', '/parameters/rules']);
    const { commit, author, committedAt, removed, ...by } = unset['/parameters/options/a'];
    expect(by).to.deep.equal({
      scopeTypeName: 'Site',
      scopeValue: 'berlin',
      precedence: by.precedence,
      resolvedVersion: '1.0.3',
    });
    expect([author, typeof committedAt, commit.length]).to.deep.equal(['admin', 'string', 40]);
    expect(removed).to.deep.equal([
      { path: '/parameters/options/a', scopeTypeName: 'Default', scopeValue: null, precedence: 0, value: 1 },
    ]);
    expect(leaves['/parameters/rules']).to.deep.include({ value: [9], mergedFrom: null });
    for (const [unsetting, path] of [
      [['/parameters'], '/unset/0'],
      [['/parameters/options', '/parameters/other'], '/unset/1'],
      [[7], '/unset/0'],
      ['/parameters/options', '/unset'],
    ])
      expect(await refusedBy({ unset: unsetting, parameters: {} })).to.deep.equal([`${path} invalid_unset`]);
  });

  it('replaces variables where that is on, for each node by itself', async () => {
    const path = '/api/v1/configurations/web/settings';
    await save({
      ...SITE,
      content: {
        parameters: { banner: `${V}node.fqdn} in ${V}tag.Site}, $${V}x}`, rules: [[`${V}node.id}`]] },
      },
    });
    const before = await told(node);
    expect((await ok(200, hawser.admin.get(path))).variables).to.equal('Off');
    expect((await ok(200, hawser.admin.put(path, { variables: 'On' }))).variables).to.equal('On');
    expect(await told(node)).to.not.equal(before);
    expect(await pullParameters(node))
      .to.contain(`  banner: web-01.example.org in berlin, ${V}x}\n`)
      .and.to.contain(node.nodeId);
    const { provenance: leaves } = await provenance();
    expect(leaves['/parameters/banner']).to.include({
      value: `web-01.example.org in berlin, ${V}x}`,
      text: `${V}node.fqdn} in ${V}tag.Site}, $${V}x}`,
    });
    expect(leaves['/parameters/log/level'].text).to.equal(null);
    expect(
      await refusedBy({ parameters: { banner: `${V}node.name}`, rules: [`${V}node.id`] } }),
    ).to.deep.equal(['/parameters/banner unknown_variable', '/parameters/rules/0 unknown_variable']);
    const other = await hawser.registerNode('web-02.example.org');
    await assign(hawser, other, 'web');
    await save({ content: { parameters: { banner: `${V}node.fqdn}` } } });
    expect(await pullParameters(other)).to.contain('banner: web-02.example.org\n');
  });

  it('names what was put in, and hawser verify merges by it', async () => {
    const { checksum } = await pulled(node);
    await reported(node, checksum);
    await eventually(async () => {
      const { parts } = await ok(200, hawser.admin.get(manifestPath(checksum)));
      expect(parts[0]).to.deep.include({
        mergeVersion: 2,
        variables: { 'node.fqdn': 'web-01.example.org', 'tag.Site': 'berlin', 'node.id': node.nodeId },
      });
    });
    const { code, stdout } = await runHawser(hawser.folder, {}, ['verify', checksum]);
    expect([code, stdout.trim()]).to.deep.equal([0, 'match']);
  });

  it('keeps from a node what it has no tag for, and previews say so', async () => {
    const before = await told(node);
    const content = JSON.stringify({ parameters: { banner: `${V}tag.Room}` } });
    const shown = await preview(hawser.admin, [
      setting('web', '1.8.0', content, { scopeTypeName: 'Site', scopeValue: 'berlin' }),
    ]);
    const [group] = await groupsOf(hawser.admin, shown);
    expect(group).to.include({ change: 'Unresolvable', nodeCount: 1 });
    expect(await groupOf(hawser.admin, shown, '1')).to.include({ code: 'unknown_variable' });
    await save({ ...SITE, content });
    for (const what of ['checksum', 'bundle'])
      await expectProblem(
        node.client.get(`/api/v1/nodes/${node.nodeId}/configuration/${what}`),
        409,
        'unknown_variable',
      );
    const { problems, provenance: leaves, mergedParameters } = await provenance();
    expect(problems.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`)).to.deep.equal(
      ['/parameters/banner unknown_variable'],
    );
    expect(leaves['/parameters/banner']).to.include({ value: `${V}tag.Room}`, text: null });
    expect(mergedParameters).to.contain(`${V}tag.Room}`);
    await ok(204, hawser.admin.delete('/api/v1/configurations/web/settings'));
    expect((await poll(node)).status).to.equal(200);
    expect(await told(node)).to.not.equal(before);
  });

  it('comes by a change set where the configuration is protected, whose preview shows who gets nothing', async () => {
    const { admin } = hawser;
    const path = '/api/v1/configurations/web/settings';
    const before = await told(node);
    await ok(200, admin.put(path, { protection: unprotected({ byChangeSetOnly: true }) }));
    await expectProblem(admin.put(path, { variables: 'On' }), 409, 'change_set_required');
    const deed = { kind: 'SetSettings', configurationName: 'web', signing: null, variables: 'On' };
    const groups = await groupsOf(admin, await preview(admin, [deed]));
    const changes = groups.map(
      ({ change, nodeCount }: { change: string; nodeCount: number }) => `${change} ${nodeCount}`,
    );
    expect(changes).to.have.members(['Unresolvable 1', 'Changed 1']);
    const set = await proposed(admin, [deed]);
    await ok(200, admin.post(`${setOf(set)}/apply`, { digest: set.digest }));
    await expectProblem(poll(node), 409, 'unknown_variable');
    const back = await ok(201, admin.post(`${setOf(set)}/revert`));
    expect(back.deeds).to.deep.equal([{ ...deed, variables: 'Off' }]);
    await ok(200, admin.post(`${setOf(back)}/apply`, { digest: back.digest }));
    expect(await told(node)).to.equal(before);
  });

  it('finds what nobody can mean in documents and uploaded schemas, and takes it for nothing', async () => {
    const faulty = { list: { type: 'array', metadata: { hawser: { merge: 'deep' } } } };
    const check = hawser.admin.call('POST', '/api/v1/configurations/web/check', {
      body: filesOf(faulty).files[MAIN] ?? '',
      headers: { 'Content-Type': 'application/yaml' },
    });
    const { findings } = await ok(200, check);
    expect(findings).to.have.length(1);
    expect(findings[0]).to.include({
      severity: 'Error',
      code: 'bad_merge',
      path: '/parameters/list/metadata/hawser/merge',
    });
    const uploaded = await uploadSchema(hawser.admin, 'web', '2.0.0', faulty);
    expect(
      uploaded.json.errors?.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`),
    ).to.deep.equal(['/parameters/list/metadata/hawser/merge bad_merge']);
  });

  it('needs a new major version for another strategy', async () => {
    const changed = { ...DECLARED, rules: { type: 'array', defaultValue: [] } };
    const uploaded = await uploadSchema(hawser.admin, 'web', '1.1.0', changed);
    expect(uploaded.json.compatibilityReport.breakingChanges).to.deep.equal([
      {
        ...{ parameterName: 'rules', changeType: 'MergeChanged', oldValue: 'append', newValue: 'replace' },
        description: 'The values of parameter "rules" from several scopes meet in another way.',
      },
    ]);
  });
});
