// full: SQLite, PostgreSQL
import { expect } from 'chai';
import type { Client } from '../support/client.ts';
import { addVersion, create, MAIN, publish } from '../support/configurations.ts';
import { changeRows } from '../support/database.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { assign, poll, saveParameters } from '../support/parameter-files.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const SETS = '/api/v1/change-sets';
const DOCUMENT = '$schema: https://aka.ms/dsc/schemas/v3/bundled/config/document.json\nresources: []\n';

interface ShownSet {
  id: number;
  state: string;
  digest: string;
  deeds: object[];
  revertOf: number | null;
  revertedBy: number | null;
  tip: string;
}

describe('a change set that is applied', () => {
  const hawser = started(startHawser);
  let admin: Client;
  let nodes: NodeUnderTest[];
  let [prod, test] = ['', ''];

  before(async () => {
    admin = hawser.admin;
    nodes = await Promise.all(
      ['a-1.example.org', 'a-2.example.org'].map((name) => hawser.registerNode(name)),
    );
    for (const name of ['web', 'db']) {
      await ok(
        201,
        create(admin, name, { version: '1.0.0' }, { files: { [MAIN]: DOCUMENT, 'n.txt': '0\n' } }),
      );
      await ok(200, publish(admin, name, '1.0.0'));
    }
    const type = await createScopeType(hawser, 'Environment');
    [prod, test] = [
      await createScopeValue(hawser, type, 'prod'),
      await createScopeValue(hawser, type, 'test'),
    ];
    await saveParameters(hawser, { configuration: 'web', content: 'parameters:\n  n: 0\n' });
    for (const value of ['prod', 'test'])
      await saveParameters(hawser, {
        ...{ configuration: 'web', scopeType: 'Environment', value },
        content: `parameters:\n  where: ${value}\n`,
      });
    for (const node of nodes) {
      await assign(hawser, node, 'web');
      await tagNode(hawser, node.nodeId, test);
    }
  });

  const draft = (name: string, version: string) =>
    ok(201, addVersion(admin, name, { version }, { files: { [MAIN]: DOCUMENT, 'n.txt': `${version}\n` } }));
  const propose = async (deeds: object[], title = 'a change'): Promise<ShownSet> =>
    await ok(201, admin.post(SETS, { title, deeds }));
  const see = async ({ id }: ShownSet): Promise<ShownSet> => await ok(200, admin.get(`${SETS}/${id}`));
  const apply = ({ id, digest }: ShownSet, more: object = {}) =>
    admin.post(`${SETS}/${id}/apply`, { digest, ...more });
  const offered = () => Promise.all(nodes.map(async (node) => (await poll(node)).json));
  const nodeIds = () => nodes.map(({ nodeId }) => nodeId);
  const setting = (version: string, content: string) => ({
    kind: 'SetParameters',
    ...{ configurationName: 'web', scopeTypeName: 'Default', scopeValue: null, version },
    content,
  });
  const publishing = (configurationName: string, version: string) => ({
    kind: 'PublishConfiguration',
    ...{ configurationName, version },
  });

  it('does all of its deeds as one step, and tells of it in the audit trail and in git', async () => {
    await draft('web', '1.1.0');
    const before = await offered();
    const set = await propose(
      [
        publishing('web', '1.1.0'),
        setting('1.0.1', 'parameters:\n  n: 1\n'),
        { kind: 'SetTags', nodeIds: nodeIds(), scopeValueIds: [prod] },
      ],
      'Web 1.1 with its values',
    );
    expect(await offered()).to.deep.equal(before);
    const applied: ShownSet = await ok(200, apply(set, { expectedChanged: 2 }));
    expect(applied.state).to.equal('Applied');
    const after = await offered();
    expect(after.map(({ version }) => version)).to.deep.equal(['1.1.0', '1.1.0']);
    const { tags } = await ok(200, admin.get(`/api/v1/nodes/${nodes[0]?.nodeId}`));
    expect(tags.map(({ scopeValueId }: { scopeValueId: string }) => scopeValueId)).to.deep.equal([prod]);
    const entries = await ok(200, admin.get('/api/v1/audit?take=100'));
    const own = entries.filter(
      ({ details }: { details: { changeSetId?: number } | null }) => details?.changeSetId === set.id,
    );
    expect(own.map(({ action }: { action: string }) => action)).to.include.members([
      ...['configuration.version_published', 'parameters.version_published', 'node.tagged'],
      'change_set.applied',
    ]);
    for (const [repository, tag] of [
      ['configurations/web.git', 'v1.1.0'],
      ['parameters/web.git', 'Default/v1.0.1'],
    ] as const)
      expect(hawser.git(repository, 'cat-file', 'tag', tag)).to.include(`\nChange-Set: ${set.id}\n`);
    const main = hawser.git('changes/changes.git', 'log', '-1', '--format=%an%n%B', 'main');
    expect(main)
      .to.include('Web 1.1 with its values')
      .and.to.include('web')
      .and.to.match(/\b2 nodes/);
  });

  it('is taken back by a set that undoes it, and changes nothing before that is applied', async () => {
    const before = await offered();
    const set = await propose([
      ...[{ kind: 'Assign', nodeIds: nodeIds(), configurationName: 'db', majorVersion: 1 }],
      ...[{ kind: 'Withdraw', configurationName: 'web', version: '1.1.0', reason: 'It is broken' }],
      { kind: 'Untag', nodeIds: nodeIds().slice(0, 1), scopeValueId: prod },
    ]);
    await ok(200, apply(set, { expectedChanged: 2 }));
    const between = await offered();
    expect(between.map(({ version }) => version)).to.deep.equal(['1.0.0', '1.0.0']);
    const back: ShownSet = await ok(201, admin.post(`${SETS}/${set.id}/revert`));
    expect([back.state, back.revertOf]).to.deep.equal(['Open', set.id]);
    expect(await offered()).to.deep.equal(between);
    await ok(200, apply(back, { expectedChanged: 2 }));
    expect(await offered()).to.deep.equal(before);
    expect((await see(set)).revertedBy).to.equal(back.id);
    await expectProblem(admin.post(`${SETS}/${set.id}/revert`), 409, 'nothing_to_revert');
  });

  it('leaves nothing to take back of a configuration that was deleted since', async () => {
    await ok(201, create(admin, 'gone', { version: '1.0.0' }, { files: { [MAIN]: DOCUMENT } }));
    const set = await propose([publishing('gone', '1.0.0')]);
    await ok(200, apply(set));
    await ok(204, admin.delete('/api/v1/configurations/gone'));
    await expectProblem(admin.post(`${SETS}/${set.id}/revert`), 409, 'nothing_to_revert');
  });

  it('changes nothing where one of its deeds cannot be done, where it was changed, and where it has another effect', async () => {
    await draft('db', '1.1.0');
    const before = await offered();
    const assigning = { kind: 'Assign', nodeIds: nodeIds(), configurationName: 'db' };
    const set = await propose([publishing('db', '1.1.0'), assigning]);
    await expectProblem(apply({ ...set, digest: '0'.repeat(64) }), 412, 'precondition_failed');
    await expectProblem(apply(set, { expectedChanged: 1 }), 409, 'effect_changed');
    await ok(204, admin.delete('/api/v1/configurations/db/versions/1.1.0'));
    const now = await see(set);
    await expectProblem(apply(now), 409, 'not_found');
    expect(await offered()).to.deep.equal(before);
    expect((await see(set)).state).to.equal('Open');
  });

  it('is applied once, whoever asks for it at the same moment', async () => {
    const set = await propose([{ kind: 'Unassign', nodeIds: nodeIds().slice(1) }]);
    const answers = await Promise.all([1, 2, 3, 4].map(() => apply(set)));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409]);
    await expectProblem(apply(set), 409, 'not_possible');
  });

  it('holds the files of many scopes, with the tags that lead to them', async () => {
    await draft('db', '1.2.0');
    const files = [
      ['Default', null],
      ['Environment', 'prod'],
      ['Environment', 'test'],
    ].map(([scopeTypeName, scopeValue]) => ({
      kind: 'SetParameters',
      ...{
        configurationName: 'db',
        scopeTypeName,
        scopeValue,
        version: '1.2.0',
        content: `parameters:\n  n: ${scopeValue}\n`,
      },
    }));
    const set = await propose([
      ...[publishing('db', '1.2.0'), ...files],
      ...nodeIds().map((nodeId, at) => ({
        kind: 'SetTags',
        nodeIds: [nodeId],
        scopeValueIds: [at === 0 ? prod : test],
      })),
      ...nodeIds().map((nodeId) => ({
        kind: 'Assign',
        nodeIds: [nodeId],
        configurationName: 'db',
        majorVersion: 1,
      })),
    ]);
    await ok(200, apply(set));
    expect((await offered()).map(({ version }) => version)).to.deep.equal(['1.2.0', '1.2.0']);
  });

  it('leaves alone at a start what others have made of drafts since it could not be applied', async () => {
    const made = await draft('db', '1.3.0');
    const set = await propose([publishing('db', '1.3.0')]);
    const move = { name: 'refs/heads/draft/1.3.0', from: made.commit, to: null, peeled: null };
    const effects = [{ repository: { kind: 'configurations', name: 'db' }, moves: [move] }];
    const pending = JSON.stringify({ merge: '1'.repeat(40), effects });
    await ok(204, admin.delete('/api/v1/configurations/db/versions/1.3.0'));
    await changeRows(hawser, `update change_sets set pending_moves = '${pending}' where id = ${set.id}`);
    await hawser.restart();
    admin = hawser.admin;
    await expectProblem(admin.get('/api/v1/configurations/db/versions/1.3.0'), 404, 'not_found');
    expect(hawser.git('configurations/db.git', 'branch', '--list', 'draft/1.3.0')).to.equal('');
    expect((await see(set)).state).to.equal('Open');
  });
});
