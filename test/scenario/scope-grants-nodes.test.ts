// full: SQLite, PostgreSQL
/** Restricted parameters of a scope, where they reach nodes: who sees what a node gets, who gives it, and who clones. */

import { expect } from 'chai';
import { expectNothingAudited } from '../support/audit.ts';
import type { Client } from '../support/client.ts';
import {
  addChild,
  addCompositeDraft,
  compositeVersionOf,
  publishWithChildren,
} from '../support/composites.ts';
import { MAIN } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { createToken, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { belongings, KEYS, RULES, registerBy, tryRegister } from '../support/joining.ts';
import { assign, configurationPath, saveParameters } from '../support/parameter-files.ts';
import { makeUser, type Person } from '../support/people.ts';
import { groupsOf, nodesOf, preview } from '../support/previews.ts';
import { manifestPath, told } from '../support/proof.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { type Field, grantTo, makeField, member, revoking, SECRET } from '../support/scope-grants.ts';
import { createScopeType, createScopeValue, SCOPE_TYPES, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const BULK = '/api/v1/nodes/bulk';
const WEB = { configurationName: 'web' };
const refused = (work: Parameters<typeof expectProblem>[0]) =>
  expectProblem(work, 403, 'beyond_own_permissions');

describe('restricted parameters that reach nodes', () => {
  const hawser = started(startHawser);
  let field: Field;
  let ofProd: { scopeTypeId: string; scopeValueId: string };
  /** They have the tag of their name; the last one has none. */
  let nodes: Record<'dev' | 'prod' | 'none', NodeUnderTest>;

  before(async () => {
    field = await makeField(hawser);
    ofProd = { scopeTypeId: field.type, scopeValueId: field.prod };
    nodes = {
      dev: await hawser.registerNode('dev.example.org'),
      prod: await hawser.registerNode('prod.example.org'),
      none: await hawser.registerNode('none.example.org'),
    };
    await tagNode(hawser, nodes.dev.nodeId, field.dev);
    await tagNode(hawser, nodes.prod.nodeId, field.prod);
    for (const node of Object.values(nodes)) await assign(hawser, node, 'web');
  });

  const freeNode = async (name: string, scopeValueId?: string) => {
    const node = await hawser.registerNode(`${name}.example.org`);
    if (scopeValueId !== undefined) await tagNode(hawser, node.nodeId, scopeValueId);
    return node;
  };
  const nodeRoutes = ({ nodeId }: NodeUnderTest) =>
    ['/parameters/provenance', '/parameters/resolution', '/configuration', '/configuration/checksum'].map(
      (path) => `/api/v1/nodes/${nodeId}${path}`,
    );

  it('hide what is about a node from who may not read every scope that is merged for it', async () => {
    const { team, keeper } = field;
    for (const path of [...nodeRoutes(nodes.prod), `${configurationPath(nodes.prod)}/bundle`]) {
      expect((await expectProblem(team.get(path), 404, 'not_found')).text, path).to.not.include(SECRET);
      expect((await keeper.get(path)).status, path).to.equal(200);
    }
    for (const path of nodeRoutes(nodes.dev)) await ok(200, team.get(path));
    const checksum = await told(nodes.prod);
    await eventually(() => ok(200, keeper.get(manifestPath(checksum))));
    await expectProblem(team.get(manifestPath(checksum)), 404, 'not_found');
  });

  it('are left out of previews, and counted among what is not visible', async () => {
    const value = await createScopeValue(hawser, await createScopeType(hawser, 'Region'), 'eu');
    const nodeIds = Object.values(nodes).map(({ nodeId }) => nodeId);
    const seen = async (who: Client) => {
      const made = await preview(who, [{ kind: 'Tag', nodeIds, scopeValueId: value }]);
      const shown: { fqdn: string }[] = await nodesOf(who, made);
      return { notVisible: made.counts.notVisible, shown: shown.map(({ fqdn }) => fqdn) };
    };
    expect(await seen(field.team)).to.deep.equal({
      notVisible: 1,
      shown: ['dev.example.org', 'none.example.org'],
    });
    expect((await seen(field.keeper)).notVisible).to.equal(0);
    // What a node would get counts as what it gets.
    const made = await preview(field.team, [
      { kind: 'SetTags', nodeIds: [nodes.none.nodeId], scopeValueIds: [field.prod] },
    ]);
    expect(made.counts).to.deep.include({ changed: 0, notVisible: 2 });
  });

  it('are given to no node by who may not read them: by assigning or tagging, one by one or in bulk', async () => {
    const { team } = field;
    const [tagged, open] = [await freeNode('tagged', field.prod), await freeNode('open')];
    await expectNothingAudited(hawser, async () => {
      await refused(team.put(configurationPath(tagged), WEB));
      await refused(team.post(`/api/v1/nodes/${nodes.none.nodeId}/tags`, { scopeValueId: field.prod }));
      await refused(team.put(`/api/v1/nodes/${nodes.dev.nodeId}/tags`, { scopeValueIds: [field.prod] }));
      await refused(
        team.post('/api/v1/nodes', {
          fqdn: 'to-come.example.org',
          assignment: WEB,
          scopeValueIds: [field.dev],
        }),
      );
    });
    const nodeIds = [tagged.nodeId, open.nodeId];
    const inBulk = async (body: object) => {
      const { done, failed } = await ok(200, team.post(BULK, { nodeIds, ...body }));
      return { done, failed: failed.map(({ nodeId, code }: Record<string, string>) => [nodeId, code]) };
    };
    expect(await inBulk({ action: 'Assign', ...WEB })).to.deep.equal({
      ...{ done: 1, failed: [[tagged.nodeId, 'beyond_own_permissions']] },
    });
    // What it has already is free, and so is a tag that gives it no file.
    await ok(204, team.put(configurationPath(nodes.prod), { ...WEB, majorVersion: 1 }));
    const idle = await createScopeValue(hawser, field.type, 'idle');
    await ok(201, team.post(`/api/v1/nodes/${open.nodeId}/tags`, { scopeValueId: idle }));
  });

  it('are not published to nodes by a composite with a child that is new to them', async () => {
    await publishConfiguration(hawser.admin, 'base', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    await publishWithChildren(hawser.admin, 'farm', '1.0.0', ['base']);
    const node = await freeNode('on-farm');
    await assign(hawser, node, 'farm', { isComposite: true });
    for (const [on, name, level] of [
      ['configuration', 'base', 'Read'],
      ['composite', 'farm', 'Manage'],
    ] as const)
      await grantAs(field.team, on, name, level);
    const draft = async (version: string) => {
      await ok(201, addCompositeDraft(hawser.admin, 'farm', version));
      await ok(201, addChild(hawser.admin, 'farm', version, 'web'));
      return `${compositeVersionOf('farm', version)}/publish`;
    };
    await tagNode(hawser, node.nodeId, field.prod);
    const path = await draft('1.1.0');
    await refused(field.team.put(path));
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${node.nodeId}/tags/${field.prod}`));
    await ok(200, field.team.put(path));
  });

  const grantAs = async (
    { userId: principalId }: Person,
    on: 'configuration' | 'composite',
    name: string,
    level: string,
  ) => {
    const base = on === 'composite' ? 'composite-configurations' : 'configurations';
    const body = { principalType: 'User', principalId, level };
    await ok(204, hawser.admin.put(`/api/v1/${base}/${name}/permissions`, body));
  };

  describe('when a node joins', () => {
    let joiner: Person;
    before(async () => {
      joiner = await makeUser(hawser, {
        username: 'joiner',
        permissions: [
          ...(['nodes.read', 'nodes.write', 'nodes.assign-configuration'] as const),
          ...(['registration-keys.manage', 'server.settings.write', 'server.settings.read'] as const),
        ],
        grants: [{ on: 'configuration', name: 'web', level: 'Read' }],
      });
    });

    const assignment = { configurationName: 'web' };
    const makeKey = (profile: object) => joiner.post(KEYS, { profile });

    it('are in no key and no rule of who may not read them', async () => {
      await refused(makeKey({ assignment, scopeValueIds: [field.prod] }));
      // Other rules may tag the node with anything.
      for (const rule of [
        { fqdnPattern: 'a-*', assignment, scopeValueIds: [] },
        { fqdnPattern: 'a-*', assignment: null, scopeValueIds: [field.prod] },
      ])
        await refused(joiner.put(RULES, [rule]));
      await ok(201, makeKey({ assignment, scopeValueIds: [field.dev] }));
    });

    it('a key does not give them by what it assigns together with what a rule tags', async () => {
      const { key } = await ok(201, makeKey({ assignment, scopeValueIds: [] }));
      const rule = { fqdnPattern: 'p-*.example.org', assignment: null, scopeValueIds: [field.prod] };
      await ok(200, hawser.admin.put(RULES, [rule]));
      await expectProblem(tryRegister(hawser, key, 'p-1.example.org'), 403, 'registration_key_rejected');
      await expectProblem(hawser.admin.get('/api/v1/nodes/p-1.example.org'), 404, 'not_found');
      const node = await registerBy(hawser, key, 'd-1.example.org');
      expect(await belongings(hawser, node.nodeId)).to.deep.equal({ assigned: 'web', tags: [] });
      await grantTo(hawser.admin, joiner, 'Read', ofProd);
      const other = await registerBy(hawser, key, 'p-2.example.org');
      expect(await belongings(hawser, other.nodeId)).to.deep.equal({ assigned: 'web', tags: [field.prod] });
      await ok(204, hawser.admin.delete(revoking(joiner, ofProd)));
      await ok(200, hawser.admin.put(RULES, []));
    });

    it('and a key goes by the marks of the moment at which it is used', async () => {
      const heir = await member(hawser);
      await grantTo(hawser.admin, heir, 'Read', { ...ofProd, restricted: false });
      const { key } = await ok(201, makeKey({ assignment, scopeValueIds: [field.prod] }));
      await registerBy(hawser, key, 'q-1.example.org');
      await grantTo(hawser.admin, heir, 'Read', { ...ofProd, restricted: true });
      await expectProblem(tryRegister(hawser, key, 'q-2.example.org'), 403, 'registration_key_rejected');
    });
  });

  it('stay hidden in what was kept, whatever the value is called since', async () => {
    const { team, keeper } = field;
    const checksum = await told(nodes.prod);
    await eventually(() => ok(200, keeper.get(manifestPath(checksum))));
    const heir = await member(hawser);
    await grantTo(hawser.admin, heir, 'Read', { ...ofProd, restricted: false });
    const nodeIds = [nodes.prod.nodeId];
    const made = await preview(team, [{ kind: 'Unassign', nodeIds }]);
    expect(await groupsOf(team, made)).to.have.length(1);
    await grantTo(hawser.admin, heir, 'Read', { ...ofProd, restricted: true });
    const values = `${SCOPE_TYPES}/${field.type}/values`;
    await ok(200, hawser.admin.put(`${values}/${field.prod}`, { value: 'production' }));
    await createScopeValue(hawser, field.type, 'prod');
    await saveParameters(hawser, {
      ...{ configuration: 'web', scopeType: 'Environment', value: 'prod' },
      content: 'parameters: {note: open}\n',
    });
    await expectProblem(team.get(manifestPath(checksum)), 404, 'not_found');
    const shown = await ok(200, keeper.get(manifestPath(checksum)));
    expect(shown.parts[0].parameters[1]).to.have.keys(
      ...['scopeTypeName', 'scopeValue', 'version', 'tagObjectId', 'checksum'],
    );
    expect(await groupsOf(team, made)).to.deep.equal([]);
    const { counts } = await ok(200, team.get(`/api/v1/previews/${made.id}`));
    expect(counts).to.include({ changed: 0 });
    await grantTo(hawser.admin, team, 'Read', ofProd);
    expect(await groupsOf(team, made)).to.have.length(1);
    await ok(204, hawser.admin.delete(revoking(team, ofProd)));
  });

  it('are cloned by who may read all scopes that have files, and by nobody else', async () => {
    const scopes = ['configurations.grants', 'parameters.grants'];
    const refs = async ({ session }: Person) => {
      const token = await createToken(hawser.client(), session, scopes);
      const authorization = `Basic ${Buffer.from(`git:${token}`).toString('base64')}`;
      return hawser
        .client()
        .get('/git/parameters/web.git/info/refs?service=git-upload-pack', { Authorization: authorization });
    };
    const partial = await expectProblem(refs(field.team), 403, 'partial_read');
    expect(partial.text).to.include('parameter-files').and.to.not.include(SECRET);
    expect((await refs(field.keeper)).status).to.equal(200);
    const stranger = await makeUser(hawser, { username: 'stranger', permissions: ['nodes.read'] });
    await expectProblem(refs(stranger), 404, 'not_found');
    await grantTo(hawser.admin, stranger, 'Read', ofProd);
    await expectProblem(refs(stranger), 403, 'partial_read');
  });
});
