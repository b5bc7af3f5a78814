// full: SQLite, PostgreSQL
/** What is protected: how it is set, that every single deed on it is refused, and that a set does all of them. */

import { expect } from 'chai';
import { changed, proposed, protect, SETS, setOf, unprotected } from '../support/change-sets.ts';
import type { Client, Reply } from '../support/client.ts';
import { addChild, addCompositeDraft, COMPOSITES, publishWithChildren } from '../support/composites.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { gitClient } from '../support/git-client.ts';
import { createToken, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, configurationPath, saveParameters } from '../support/parameter-files.ts';
import { pushFolder } from '../support/parameter-folders.ts';
import { makeUser } from '../support/people.ts';
import type { Wish } from '../support/previews.ts';
import { authorOfFiles, cloneOf } from '../support/push-author.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { prepareRings, rollOut } from '../support/rollouts.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, SCOPE_TYPES, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const FILES = { files: { [MAIN]: '$schema: x\nresources: []\n' } };
const settingsOf = (name: string) => `${CONFIGURATIONS}/${name}/settings`;
const compositeSettings = (name: string) => `${COMPOSITES}/${name}/settings`;

describe('what is protected', () => {
  const hawser = started(startHawser);
  let admin: Client;
  let [type, prod, test, other] = ['', '', '', ''];
  const valueAt = (id: string) => `${SCOPE_TYPES}/${type}/values/${id}`;
  const order = async () => {
    const types: { id: string }[] = await ok(200, admin.get(`${SCOPE_TYPES}?take=1000`));
    return types.map(({ id }) => id);
  };
  const swapped = async () => {
    const [first = '', ...rest] = await order();
    const last = rest.pop() ?? '';
    return [first, ...rest.reverse(), last];
  };
  /** A configuration with a node, a draft, a withdrawn version, and a file with a draft above it. */
  async function everything(name: string): Promise<NodeUnderTest> {
    await publishConfiguration(admin, name, { '1.0.0': FILES.files, '1.0.1': FILES.files });
    await ok(200, admin.put(`${versionsOf(name)}/1.0.1/withdraw`, { reason: 'broken' }));
    await ok(201, addVersion(admin, name, { version: '1.1.0' }, FILES));
    const node = await hawser.registerNode(`${name}.example.org`);
    await assign(hawser, node, name);
    const file = { configuration: name, scopeType: 'Environment', value: 'prod' };
    await saveParameters(hawser, { ...file, content: 'parameters: {a: 1}\n' });
    await saveParameters(hawser, { configuration: name, content: 'parameters: {a: 0}\n' });
    const old = { configuration: name, version: '0.9.0', content: 'parameters: {a: 9}\n' };
    await saveParameters(hawser, old);
    const files = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(admin, name)}/versions`;
    await ok(200, admin.put(`${files}/0.9.0/withdraw`, { reason: 'broken' }));
    await saveParameters(hawser, {
      ...{ configuration: name, version: '1.0.1', content: 'parameters: {a: 2}\n', publish: false },
    });
    return node;
  }
  const refuses = async (what: string, deed: () => Promise<Reply>) => {
    const { json } = await expectProblem(deed(), 409, 'change_set_required', what);
    expect(json.detail, what).to.match(/change-sets/);
  };

  before(async () => {
    admin = hawser.admin;
    type = await createScopeType(hawser, 'Environment');
    [prod, test] = [
      await createScopeValue(hawser, type, 'prod'),
      await createScopeValue(hawser, type, 'test'),
    ];
    other = await createScopeType(hawser, 'Site');
  });

  it('says so in its settings, by default that nothing protects it, and takes a protection only as a whole', async () => {
    await ok(201, create(admin, 'plain'));
    await ok(201, admin.post(COMPOSITES, { name: 'plain' }));
    for (const [at, more] of [
      [settingsOf('plain'), {}],
      [compositeSettings('plain'), {}],
      [valueAt(test), { description: null }],
    ] as const) {
      expect((await ok(200, admin.get(at))).protection, at).to.deep.equal(unprotected());
      for (const wrong of [
        { approvals: 1 },
        unprotected({ approvals: 6 }),
        unprotected({ approvals: -1 }),
        { ...unprotected(), more: 1 },
      ])
        await expectInvalid(admin.put(at, { ...more, protection: wrong }), undefined, at);
      const unknown = unprotected({ approvals: 1, groupId: '00000000-0000-0000-0000-0000000000ff' });
      await expectInvalid(admin.put(at, { ...more, protection: unknown }), '/protection/groupId');
      const protection = unprotected({ approvals: 1 });
      expect((await ok(200, admin.put(at, { ...more, protection }))).protection).to.deep.equal(protection);
      // What does not name it leaves it as it is.
      const left = await ok(200, admin.put(at, more));
      expect(left.protection, at).to.deep.equal(protection);
      expect((await ok(200, admin.get(at))).protection, at).to.deep.equal(protection);
    }
    const [listed] = (await ok(200, admin.get(`${SCOPE_TYPES}/${type}/values`))).filter(
      ({ id }: { id: string }) => id === test,
    );
    expect(listed.protection.approvals).to.equal(1);
    const named = (name: string) => ({ kind: 'SetProtection', on: { configurationName: name } });
    await expectInvalid(
      admin.post(SETS, { title: 't', deeds: [{ ...named('plain'), on: {}, protection: unprotected() }] }),
    );
    await override([
      { ...named('plain'), protection: unprotected() },
      { kind: 'SetProtection', on: { compositeName: 'plain' }, protection: unprotected() },
      { kind: 'SetProtection', on: { scopeValueId: test }, protection: unprotected() },
    ]);
    expect((await ok(200, admin.get(compositeSettings('plain')))).protection).to.deep.equal(unprotected());
  });

  /** An administrator may pass the approvals that are missing. */
  async function override(deeds: readonly Wish[]) {
    const set = await proposed(admin, deeds);
    const asked = { digest: set.digest, override: 'tidying up' };
    return ok(200, admin.post(`${setOf(set)}/apply`, asked));
  }

  it('takes Manage to protect, and the override of scopes for a value', async () => {
    await ok(201, create(admin, 'managed'));
    const grants = (level: 'Modify' | 'Manage') => [{ on: 'configuration' as const, name: 'managed', level }];
    const author = await makeUser(hawser, { username: 'author', grants: grants('Modify') });
    const owner = await makeUser(hawser, { username: 'owner', grants: grants('Manage') });
    const scopes = await makeUser(hawser, { username: 'scopes', permissions: ['scopes.admin-override'] });
    const protection = { protection: unprotected({ approvals: 1 }) };
    await expectProblem(author.put(settingsOf('managed'), protection), 403, 'forbidden');
    await ok(200, owner.put(settingsOf('managed'), protection));
    await expectProblem(owner.put(valueAt(test), { description: null, ...protection }), 403, 'forbidden');
    await ok(200, scopes.put(valueAt(test), { description: null, ...protection }));
    await override([protect({ scopeValueId: test }, unprotected())]);
  });

  it('is made weaker, or deleted, by a set alone; stronger by a single deed', async () => {
    const group = (await ok(201, admin.post('/api/v1/groups', { name: 'Board' }))).id;
    const second = (await ok(201, admin.post('/api/v1/groups', { name: 'Second board' }))).id;
    await ok(201, create(admin, 'strong'));
    const put = (protection: object) => admin.put(settingsOf('strong'), { protection });
    const is = unprotected({ approvals: 2, groupId: null, byChangeSetOnly: true });
    await ok(200, put({ ...is, approvals: 1 }));
    await ok(200, put(is));
    await ok(200, put({ ...is, groupId: group }));
    const weaker: [string, () => Promise<Reply>][] = [
      ['fewer approvals', () => put({ ...is, groupId: group, approvals: 1 })],
      ['another group', () => put({ ...is, groupId: second })],
      ['no group', () => put(is)],
      ['single deeds', () => put({ ...is, groupId: group, byChangeSetOnly: false })],
      ['its settings', () => admin.delete(settingsOf('strong'))],
      ['the configuration', () => admin.delete(`${CONFIGURATIONS}/strong`)],
    ];
    for (const [what, deed] of weaker) await refuses(what, deed);
    await expectProblem(admin.delete(`/api/v1/groups/${group}`), 409, 'in_use');
    await ok(200, admin.put(settingsOf('strong'), { parameterValidationMode: 'Warn' }));
    expect((await ok(200, admin.get(settingsOf('strong')))).protection).to.deep.equal({
      ...is,
      groupId: group,
    });
    await ok(200, admin.put(valueAt(test), { description: null, protection: is }));
    await refuses('the value', () => admin.delete(valueAt(test)));
    await refuses('its type', () => admin.delete(`${SCOPE_TYPES}/${type}`));
    const applied = await override([
      protect({ configurationName: 'strong' }, unprotected({ groupId: group })),
      protect({ scopeValueId: test }, unprotected()),
    ]);
    expect(applied.protection.map(({ approvals }: { approvals: number }) => approvals)).to.deep.equal([2, 2]);
    // A group alone protects nothing, but is in use.
    await expectProblem(admin.delete(`/api/v1/groups/${group}`), 409, 'in_use');
    const back = await ok(201, admin.post(`${setOf(applied)}/revert`));
    expect(back.deeds.map(({ kind }: Wish) => kind)).to.deep.equal(['SetProtection', 'SetProtection']);
    await ok(200, admin.post(`${setOf(back)}/apply`, { digest: back.digest }));
    expect((await ok(200, admin.get(settingsOf('strong')))).protection).to.deep.equal({
      ...is,
      groupId: group,
    });
    await override([
      protect({ configurationName: 'strong' }, unprotected()),
      protect({ scopeValueId: test }, unprotected()),
    ]);
    await ok(204, admin.delete(`${CONFIGURATIONS}/strong`));
    await ok(204, admin.delete(`/api/v1/groups/${group}`));
  });

  it('is a configuration: no single deed on it is done, one set does them all, and what takes away is free', async () => {
    const node = await everything('web');
    const free = await hawser.registerNode('web-free.example.org');
    const token = await createToken(hawser.client(), hawser.session, [
      ...['configurations.admin-override', 'parameters.admin-override'],
    ]);
    const rings = await prepareRings(hawser);
    await tagNode(hawser, free.nodeId, rings.canary);
    const git = gitClient(hawser);
    try {
      const clone = await cloneOf(git, 'web', token);
      const files = await authorOfFiles(git, 'web', token);
      await ok(200, admin.put(settingsOf('web'), { protection: unprotected({ byChangeSetOnly: true }) }));
      const parameters = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(admin, 'web')}/versions`;
      const bulk = (action: string, more: object) =>
        admin.post('/api/v1/nodes/bulk', { nodeIds: [free.nodeId], action, ...more });
      const upload = { scopeTypeName: 'Site', scopeValue: 'a', version: '1.0.0', publish: 'true' };
      const before = await changed(admin, 'web', [node, free]);
      const single: [string, () => Promise<Reply>][] = [
        ['publish', () => publish(admin, 'web', '1.1.0')],
        ['restore', () => admin.delete(`${versionsOf('web')}/1.0.1/withdraw`)],
        ['restore of a file', () => admin.delete(`${parameters}/0.9.0/withdraw`)],
        ['publish of a file', () => admin.put(`${parameters}/1.0.1/publish`)],
        [
          'an upload that publishes',
          () =>
            admin.upload(`${CONFIGURATIONS}/web/parameters/parameter-files`, {
              fields: upload,
              part: { name: 'parametersFile', filename: 'a.yaml', content: 'parameters: {}' },
            }),
        ],
        [
          'PATCH of the flag',
          () => admin.call('PATCH', `${CONFIGURATIONS}/web`, { json: { useServerManagedParameters: false } }),
        ],
        ['a rollout', () => rollOut(admin, 'web', '1.1.0')],
        [
          'a rollout of a file',
          () =>
            rollOut(admin, 'web', '', {
              version: undefined,
              parameters: [{ scopeTypeName: 'Default', version: '1.0.1' }],
            }),
        ],
        ['assigning', () => admin.put(configurationPath(free), { configurationName: 'web' })],
        [
          'assigning to who has it',
          () => admin.put(configurationPath(node), { configurationName: 'web', majorVersion: 1 }),
        ],
        ['assigning to many', () => bulk('Assign', { configurationName: 'web' })],
      ];
      for (const [what, deed] of single) await refuses(what, deed);
      expect(await changed(admin, 'web', [node, free])).to.deep.equal(before);
      const folder = { 'parameters/web/Environment/test.yaml': 'parameters: {a: 9}\n' };
      await refuses('a folder', () => pushFolder(admin, folder, { publish: true }));
      await clone.commit({ 'n.txt': 'new\n' });
      await clone.ok('tag', '-a', '-m', 'new', 'v1.2.0');
      for (const push of [['v1.2.0'], ['-o', 'publish', 'HEAD:refs/heads/draft/1.2.0']]) {
        const { output, code } = await clone.git('push', ...push.slice(0, -1), 'origin', push.at(-1) ?? '');
        expect([code === 0, /change-sets/.test(output)], output).to.deep.equal([false, true]);
      }
      await files.commit({ 'parameters.yaml': 'parameters: {a: 3}\n' });
      const file = await files.git('push', '-o', 'publish', 'origin', 'HEAD:refs/heads/draft/Default/1.0.2');
      expect([file.code === 0, /change-sets/.test(file.output)], file.output).to.deep.equal([false, true]);
      expect((await ok(200, admin.get(`${versionsOf('web')}/1.1.0/publish-check`))).blockers).to.have.length(
        1,
      );
      // These take away, or only prepare.
      await ok(200, admin.call('PATCH', `${CONFIGURATIONS}/web`, { json: { description: 'is free' } }));
      await ok(201, addVersion(admin, 'web', { version: '3.0.0' }, FILES));
      await ok(204, admin.delete(configurationPath(node)));
      await ok(200, admin.put(`${versionsOf('web')}/1.0.0/withdraw`, { reason: 'is free' }));
      const set = await proposed(admin, [
        { kind: 'PublishConfiguration', configurationName: 'web', version: '1.1.0' },
        { kind: 'Restore', configurationName: 'web', version: '1.0.0' },
        { kind: 'Assign', configurationName: 'web', nodeIds: [free.nodeId, node.nodeId] },
        ...[
          { kind: 'PublishParameters', configurationName: 'web', scopeTypeName: 'Default', version: '1.0.1' },
        ],
      ]);
      expect(set.protection).to.deep.equal([
        {
          by: { configurationName: 'web', compositeName: null, scopeValueId: null },
          ...{ approvals: 0, group: null, missing: 0 },
        },
      ]);
      await ok(200, admin.post(`${setOf(set)}/apply`, { digest: set.digest, expectedChanged: 2 }));
    } finally {
      git.close();
    }
  });

  it('is a child: no composite that has it is published, restored or assigned alone', async () => {
    for (const name of ['inner', 'outer']) await publishConfiguration(admin, name, { '1.0.0': FILES.files });
    await publishWithChildren(admin, 'has', '1.0.0', ['inner']);
    await publishWithChildren(admin, 'has', '1.0.1', ['inner']);
    await ok(200, admin.put(`${COMPOSITES}/has/versions/1.0.1/withdraw`, { reason: 'broken' }));
    await publishWithChildren(admin, 'gets', '1.0.0', ['outer']);
    await ok(201, addCompositeDraft(admin, 'gets', '1.1.0'));
    await ok(201, addChild(admin, 'gets', '1.1.0', 'inner'));
    const node = await hawser.registerNode('composite.example.org');
    await ok(200, admin.put(settingsOf('inner'), { protection: unprotected({ approvals: 1 }) }));
    const has = { configurationName: 'has', isComposite: true };
    for (const [what, deed] of [
      ['publish', () => admin.put(`${COMPOSITES}/gets/versions/1.1.0/publish`)],
      ['restore', () => admin.delete(`${COMPOSITES}/has/versions/1.0.1/withdraw`)],
      ['assign', () => admin.put(configurationPath(node), has)],
      ['bulk', () => admin.post('/api/v1/nodes/bulk', { nodeIds: [node.nodeId], action: 'Assign', ...has })],
    ] as [string, () => Promise<Reply>][])
      await refuses(what, deed);
    // A version without it, and a node that gets such a version, are free.
    await ok(204, admin.put(configurationPath(node), { configurationName: 'gets', isComposite: true }));
    const set = await proposed(admin, [
      { kind: 'PublishComposite', compositeName: 'gets', version: '1.1.0' },
      { kind: 'Assign', nodeIds: [node.nodeId], ...has },
    ]);
    expect(set.protection).to.have.length(1);
    expect(set.protection[0]).to.include({ approvals: 1, missing: 1 });
    expect(set.protection[0].by.configurationName).to.equal('inner');
    // A composite that is protected itself.
    await ok(
      200,
      admin.put(compositeSettings('has'), { protection: unprotected({ byChangeSetOnly: true }) }),
    );
    const both = await ok(200, admin.get(setOf(set)));
    expect(both.protection).to.have.length(2);
    await refuses('the composite', () => admin.delete(`${COMPOSITES}/has`));
  });

  it('is a scope value: its files, its tags and the place of its type are changed by a set', async () => {
    const [a, b] = [
      await hawser.registerNode('tag-a.example.org'),
      await hawser.registerNode('tag-b.example.org'),
    ];
    await publishConfiguration(admin, 'scoped', { '1.0.0': FILES.files });
    const file = { configuration: 'scoped', scopeType: 'Environment', value: 'prod' };
    await saveParameters(hawser, { ...file, content: 'parameters: {a: 1}\n', publish: false });
    await tagNode(hawser, a.nodeId, prod);
    await tagNode(hawser, b.nodeId, test);
    await ok(200, admin.put(valueAt(prod), { description: null, protection: unprotected({ approvals: 1 }) }));
    const files = `/api/v1/parameters/${type}/${await configurationId(admin, 'scoped')}/versions`;
    const tagsOf = ({ nodeId }: NodeUnderTest) => `/api/v1/nodes/${nodeId}/tags`;
    const bulk = (node: NodeUnderTest, action: string, more: object) =>
      admin.post('/api/v1/nodes/bulk', { nodeIds: [node.nodeId], action, ...more });
    const before = await order();
    for (const [what, deed] of [
      ['publish', () => admin.put(`${files}/1.0.0/publish?scopeValue=prod`)],
      ['tag', async () => admin.post(tagsOf(b), { scopeValueId: prod })],
      ['untag', () => admin.delete(`${tagsOf(a)}/${prod}`)],
      ['all tags, added', () => admin.put(tagsOf(b), { scopeValueIds: [prod] })],
      ['all tags, taken away', () => admin.put(tagsOf(a), { scopeValueIds: [] })],
      ['bulk Tag', () => bulk(b, 'Tag', { scopeValueId: prod })],
      ['bulk Untag', () => bulk(a, 'Untag', { scopeValueId: prod })],
      ['bulk SetTags to it', () => bulk(b, 'SetTags', { scopeValueIds: [prod] })],
      ['bulk SetTags away', () => bulk(a, 'SetTags', { scopeValueIds: [test] })],
      ['order', async () => admin.put(`${SCOPE_TYPES}/reorder`, { scopeTypeIds: await swapped() })],
    ] as [string, () => Promise<Reply>][])
      await refuses(what, deed);
    expect(await order()).to.deep.equal(before);
    expect(await ok(200, admin.get(tagsOf(a)))).to.have.length(1);
    await ok(200, admin.call('PATCH', `${SCOPE_TYPES}/${DEFAULT_ID}/enable`));
    // What stays as it is is free: the same tags again, the other value, and types behind its own.
    await ok(200, admin.put(tagsOf(a), { scopeValueIds: [prod] }));
    await ok(200, bulk(a, 'SetTags', { scopeValueIds: [prod] }));
    await ok(204, admin.delete(`${tagsOf(b)}/${test}`));
    expect(other, 'two types that can change places').to.be.a('string');
    const set = await proposed(admin, [
      { kind: 'SetTags', nodeIds: [b.nodeId], scopeValueIds: [prod] },
      { kind: 'ReorderScopeTypes', scopeTypeIds: await swapped() },
      { kind: 'SetTags', nodeIds: [a.nodeId], scopeValueIds: [test] },
    ]);
    expect(set.protection).to.deep.equal([
      {
        by: { configurationName: null, compositeName: null, scopeValueId: prod },
        ...{ approvals: 1, group: null, missing: 1 },
      },
    ]);
    await ok(200, admin.post(`${setOf(set)}/apply`, { digest: set.digest, override: 'the test goes on' }));
    expect(
      (await ok(200, admin.get(tagsOf(a)))).map((tag: { scopeValueId: string }) => tag.scopeValueId),
    ).to.deep.equal([test]);
  });

  it('is told of no order of types in which a configuration has no two files', async () => {
    await publishConfiguration(admin, 'ordered', { '1.0.0': FILES.files });
    await saveParameters(hawser, { configuration: 'ordered', content: 'parameters: {a: 1}\n' });
    await ok(200, admin.put(settingsOf('ordered'), { protection: unprotected({ byChangeSetOnly: true }) }));
    await override([
      protect({ scopeValueId: prod }, unprotected()),
      protect({ configurationName: 'web' }, unprotected()),
    ]);
    await ok(200, admin.put(`${SCOPE_TYPES}/reorder`, { scopeTypeIds: await swapped() }));
    await override([
      ...(['Environment', 'Site'] as const).map((scopeTypeName) => ({
        ...{ kind: 'SetParameters', configurationName: 'ordered', version: '1.0.0', scopeTypeName },
        ...{ scopeValue: 'prod', content: 'parameters: {a: 2}\n' },
      })),
    ]);
    await refuses('the order', async () =>
      admin.put(`${SCOPE_TYPES}/reorder`, { scopeTypeIds: await swapped() }),
    );
  });
});
