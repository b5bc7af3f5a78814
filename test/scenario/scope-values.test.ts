// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { defineScopeValue } from '../../src/deeds/define-scope-value.ts';
import { HOUR } from '../../src/lib/clock.ts';
import { systemActor } from '../../src/security/audit.ts';
import { addVersion, MAIN } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, poll, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { doDeed, RING_SETTING, rollOut, rolloutsOf, step } from '../support/rollouts.ts';
import {
  clearScopes,
  createScopeType,
  createScopeValue,
  DEFAULT_ID,
  generation,
  NODE_ID,
  SCOPE_TYPES,
  scopeAudit,
  tagNode,
} from '../support/scopes.ts';
import { started } from '../support/started.ts';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const MEMBERS = ['id', 'scopeTypeId', 'value', 'description', 'order', 'createdAt', 'updatedAt'];

describe('scope values', () => {
  const hawser = started(startHawser);
  let site: string;
  let role: string;
  const valuesOf = (scopeTypeId: string) => `${SCOPE_TYPES}/${scopeTypeId}/values`;
  const list = async (scopeTypeId = site) => (await hawser.admin.get(valuesOf(scopeTypeId))).json;

  const changesNothing = async (work: () => Promise<unknown>) => {
    const state = async () => [await list(), await list(role), await scopeAudit(hawser)];
    const before = await state();
    await work();
    expect(await state()).to.deep.equal(before);
  };

  beforeEach(async () => {
    await clearScopes(hawser);
    site = await createScopeType(hawser, 'Site');
    role = await createScopeType(hawser, 'Role', { valueMode: 'Restricted' });
  });

  it('are created, read and listed by value', async () => {
    const body = { value: 'munich', description: 'the south' };
    const reply = await hawser.admin.post(`${valuesOf(site)}/`, body);
    expect(reply.status).to.equal(201);
    expect(reply.json).to.have.all.keys(MEMBERS);
    expect(reply.json).to.include({ ...body, scopeTypeId: site });
    expect(reply.json.updatedAt).to.equal(reply.json.createdAt);
    expect(reply.headers['location']).to.equal(`${valuesOf(site)}/${reply.json.id}`);
    const plain = await hawser.admin.post(valuesOf(site), { value: 'berlin' });
    expect(plain.json.description).to.equal(null);
    const read = await hawser.admin.get(`${valuesOf(site)}/${reply.json.id}`);
    expect(read.json).to.deep.equal(reply.json);
    expect(read.headers['etag']).to.be.a('string');
    const slashed = await hawser.admin.get(`${valuesOf(site)}/`);
    expect(slashed.json).to.deep.equal([plain.json, reply.json]);
    expect([reply.json.order, plain.json.order]).to.deep.equal([0, 1]);
    expect(slashed.headers['x-total-count']).to.equal('2');
    const second = await hawser.admin.get(`${valuesOf(site)}?take=1&skip=1`);
    expect(second.json).to.deep.equal([reply.json]);
    expect(await list(role), 'another type').to.deep.equal([]);
    expect((await scopeAudit(hawser)).at(-2)).to.deep.equal({
      action: 'scope_value.created',
      resourceId: reply.json.id,
      actor: 'admin',
      details: { scopeType: 'Site', value: 'munich' },
    });
  });

  it('are unique in any case within their type', async () => {
    await createScopeValue(hawser, site, 'Berlin');
    await changesNothing(async () => {
      for (const value of ['Berlin', 'berlin', 'BERLIN']) {
        await expectProblem(await hawser.admin.post(valuesOf(site), { value }), 409, 'name_taken', value);
      }
    });
    await createScopeValue(hawser, role, 'berlin');
    const posts = ['paris', 'PARIS'].map((value) => hawser.admin.post(valuesOf(site), { value }));
    const statuses = (await Promise.all(posts)).map(({ status }) => status);
    expect(statuses.sort(), 'at once').to.deep.equal([201, 409]);
  });

  it('take another order as a whole, or stay as they are', async () => {
    const make = (value: string, type = site) => createScopeValue(hawser, type, value);
    const [dev, prod, test] = [await make('dev'), await make('prod'), await make('test')];
    const foreign = await make('foreign', role);
    const reorder = (ids: unknown, type = site) =>
      hawser.admin.put(`${valuesOf(type)}/reorder`, { scopeValueIds: ids });
    type Value = { value: string; order: number };
    const names = async () =>
      (await list()).sort((a: Value, b: Value) => a.order - b.order).map(({ value }: Value) => value);
    expect(await names()).to.deep.equal(['dev', 'prod', 'test']);
    const reply = await reorder([dev, test, prod]);
    expect(reply.status).to.equal(200);
    expect(reply.json.map(({ value }: Value) => value)).to.deep.equal(['dev', 'test', 'prod']);
    expect(reply.json).to.have.deep.members(await list());
    expect(await names()).to.deep.equal(['dev', 'test', 'prod']);
    expect((await scopeAudit(hawser)).at(-1)).to.deep.include({
      ...{ action: 'scope_type.values_reordered', resourceId: site },
      details: { name: 'Site', from: ['dev', 'prod', 'test'], to: ['dev', 'test', 'prod'] },
    });
    await changesNothing(async () => {
      expect((await reorder([dev, test, prod])).status).to.equal(200);
      for (const ids of [[], [dev, test], [dev, test, test], [dev, test, prod, dev], [dev, test, foreign]])
        await expectProblem(await reorder(ids), 400, 'incomplete_order: incomplete_order');
      await expectInvalid(reorder('all'));
      await expectProblem(await reorder([], UNKNOWN), 404, 'not_found');
      await expectProblem(await reorder([], NODE_ID), 409, 'system_scope_type');
    });
    await make('later');
    expect(await names()).to.deep.equal(['dev', 'test', 'prod', 'later']);
  });

  it('refuse what breaks the form', async () => {
    const faults: [unknown, string][] = [
      [{}, '/value'],
      ...['', 'x'.repeat(65), 'a b', 'a/b', '../x', 'a.lock', 'ü', 'a\n'].map((value): [unknown, string] => [
        { value },
        '/value',
      ]),
      [{ value: null }, '/value'],
      [{ value: 7 }, '/value'],
      [{ value: 'a', description: 'x'.repeat(4_001) }, '/description'],
      [{ value: 'a', scopeTypeId: role }, '/scopeTypeId'],
    ];
    await changesNothing(async () => {
      for (const [body, path] of faults) {
        await expectInvalid(hawser.admin.post(valuesOf(site), body), path, JSON.stringify(body));
      }
    });
    await createScopeValue(hawser, site, '-'.repeat(64));
  });

  it('of the system types there are none', async () => {
    for (const id of [DEFAULT_ID, NODE_ID]) {
      expect(await list(id)).to.deep.equal([]);
      await expectProblem(await hawser.admin.post(valuesOf(id), { value: 'x' }), 409, 'system_scope_type');
      expect(await list(id)).to.deep.equal([]);
    }
  });

  it('can be described anew', async () => {
    const id = await createScopeValue(hawser, site, 'berlin');
    const path = `${valuesOf(site)}/${id}`;
    const before = (await hawser.admin.get(path)).json;
    hawser.clock.advance(HOUR);
    const reply = await hawser.admin.put(path, { description: 'the capital' });
    expect(reply.status).to.equal(200);
    const { updatedAt } = reply.json;
    expect(reply.json).to.deep.equal({ ...before, description: 'the capital', updatedAt });
    expect(updatedAt).to.not.equal(before.updatedAt);
    expect((await hawser.admin.get(path)).json).to.deep.equal(reply.json);
    expect((await scopeAudit(hawser)).at(-1)).to.deep.include({
      action: 'scope_value.updated',
      resourceId: id,
      details: { scopeType: 'Site', value: 'berlin', description: { from: null, to: 'the capital' } },
    });
    await changesNothing(async () => {
      hawser.clock.advance(HOUR);
      expect((await hawser.admin.put(path, { description: 'the capital' })).status).to.equal(200);
      for (const body of [{ value: 'no name' }, { description: 1 }, { name: 'x' }]) {
        await expectInvalid(await hawser.admin.put(path, body));
      }
      const same = await hawser.admin.put(path, { description: 'the capital', value: 'berlin' });
      expect(same.status).to.equal(200);
      const stale = { json: { description: 'x' }, headers: { 'If-Match': '"stale"' } };
      await expectProblem(await hawser.admin.call('PUT', path, stale), 412, 'precondition_failed');
    });
    expect((await hawser.admin.put(path, { description: null })).json.description).to.equal(null);
  });

  it('are deleted, unless a node is tagged with them', async () => {
    const node = await hawser.registerNode('web-01.example.org');
    const id = await createScopeValue(hawser, site, 'berlin');
    const path = `${valuesOf(site)}/${id}`;
    await tagNode(hawser, node.nodeId, id);
    await changesNothing(async () => {
      await expectProblem(await hawser.admin.delete(path), 409, 'in_use');
    });
    await hawser.admin.delete(`/api/v1/nodes/${node.nodeId}/tags/${id}`);
    const before = await generation(hawser);
    expect((await hawser.admin.delete(path)).status).to.equal(204);
    expect(await generation(hawser)).to.be.greaterThan(before);
    expect(await list()).to.deep.equal([]);
    await expectProblem(await hawser.admin.delete(path), 404, 'not_found');
    expect((await scopeAudit(hawser)).at(-1)).to.deep.include({
      action: 'scope_value.deleted',
      resourceId: id,
      details: { scopeType: 'Site', value: 'berlin' },
    });
    await createScopeValue(hawser, site, 'BERLIN');
  });

  it('that do not exist, or not of this type, answer 404', async () => {
    const id = await createScopeValue(hawser, site, 'berlin');
    const paths = [
      ...[UNKNOWN, 'berlin', '1', '%00'].map((unknown) => `${valuesOf(site)}/${unknown}`),
      ...[role, UNKNOWN, 'Site', NODE_ID].map((other) => `${valuesOf(other)}/${id}`),
    ];
    await changesNothing(async () => {
      for (const path of paths) {
        await expectProblem(await hawser.admin.get(path), 404, 'not_found', path);
        await expectProblem(await hawser.admin.put(path, { description: 'x' }), 404, 'not_found', path);
        await expectProblem(await hawser.admin.delete(path), 404, 'not_found', path);
      }
      for (const unknown of [UNKNOWN, 'Site', 'reorder']) {
        await expectProblem(await hawser.admin.get(valuesOf(unknown)), 404, 'not_found');
        await expectProblem(await hawser.admin.post(valuesOf(unknown), { value: 'x' }), 404, 'not_found');
      }
    });
  });

  it('that a parameter file defines on the way are made once, as first spelled', async () => {
    const type = { id: site, name: 'Site' };
    const define = (value: string) =>
      withDatabase(hawser, ({ write }) =>
        write
          .transaction()
          .execute((trx) => defineScopeValue(trx, systemActor(hawser.clock.now()), type, value)),
      );
    const first = await define('Berlin');
    expect((await define('berlin')).id).to.equal(first.id);
    expect((await list()).map(({ value }: { value: string }) => value)).to.deep.equal(['Berlin']);
    const created = (await scopeAudit(hawser)).filter(({ action }) => action === 'scope_value.created');
    expect(created).to.have.length(1);
  });

  describe('with parameter files', () => {
    const CONFIGURATIONS_TOO = ['shop', 'till'];
    const CONFIGURATION = { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } };
    let berlin: string;
    let node: NodeUnderTest;
    let path: string;
    let nodes = 0;
    const refsOf = (name = 'shop') =>
      hawser.git(`parameters/${name}.git`, 'for-each-ref', '--format=%(refname)').trim().split('\n');
    const save = (version: string, publish = true, value = 'berlin', configuration = 'shop') =>
      saveParameters(hawser, {
        ...{ configuration, scopeType: 'Site', value, version, publish },
        content: `parameters: {at: "${version}"}`,
      });

    before(async () => {
      for (const name of CONFIGURATIONS_TOO) await publishConfiguration(hawser.admin, name, CONFIGURATION);
    });
    beforeEach(async () => {
      node = await hawser.registerNode(`named-${++nodes}.example.org`);
      await assign(hawser, node, 'shop');
      berlin = await createScopeValue(hawser, site, 'berlin');
      path = `${valuesOf(site)}/${berlin}`;
      await tagNode(hawser, node.nodeId, berlin);
      for (const version of ['1.0.0', '1.0.1']) await save(version);
      await save('1.0.2', false);
      await save('1.0.0', true, 'berlin', 'till');
    });
    afterEach(async () => {
      await hawser.admin.delete(`/api/v1/nodes/${node.nodeId}/tags/${berlin}`);
      await ok(204, hawser.admin.delete(`${SCOPE_TYPES}/${site}?withParameters=true`));
      for (const name of CONFIGURATIONS_TOO) expect(refsOf(name).join('')).to.equal('');
    });

    it('get another name, which all repositories take over at once', async () => {
      const before = await poll(node);
      const reply = await hawser.admin.put(path, { value: 'spree', description: 'moved' });
      expect([reply.status, reply.json.value, reply.json.id]).to.deep.equal([200, 'spree', berlin]);
      expect((await poll(node)).json.checksum).to.equal(before.json.checksum);
      expect(refsOf()).to.deep.equal([
        ...['refs/heads/Site', 'refs/heads/draft/Site/spree/1.0.2'],
        ...['refs/tags/Site/spree/v1.0.0', 'refs/tags/Site/spree/v1.0.1'],
        ...['refs/tags/renamed/Site/berlin/v1.0.0', 'refs/tags/renamed/Site/berlin/v1.0.1'],
      ]);
      expect(refsOf('till')).to.include('refs/tags/Site/spree/v1.0.0');
      const show = (...args: string[]) => hawser.git('parameters/shop.git', ...args);
      expect(show('ls-tree', '-r', '--name-only', 'Site')).to.equal('spree/parameters.yaml\n');
      expect(show('show', 'Site:spree/parameters.yaml')).to.contain('1.0.1');
      expect(show('show', 'renamed/Site/berlin/v1.0.1:berlin/parameters.yaml')).to.contain('1.0.1');
      expect(show('log', '-1', '--format=%an %s', 'Site')).to.equal('admin Site/berlin is Site/spree\n');
      expect(show('fsck', '--strict')).to.not.contain('error');
      expect((await scopeAudit(hawser)).at(-1)).to.deep.include({
        action: 'scope_value.updated',
        details: {
          ...{ scopeType: 'Site', value: 'berlin', renamed: { from: 'berlin', to: 'spree' } },
          description: { from: null, to: 'moved' },
        },
      });
      await save('1.0.2', true, 'spree');
      expect(await pullParameters(node)).to.contain('1.0.2');
      await hawser.restart();
      expect((await list())[0].value).to.equal('spree');
      expect(refsOf().filter((name) => name.includes('/berlin/'))).to.have.length(2);
      expect((await hawser.admin.get('/health/ready')).json.problems ?? []).to.deep.equal([]);
    });

    it('keep the tags of each name that they had', async () => {
      for (const value of ['spree', 'berlin', 'havel', 'berlin', 'Berlin'])
        await ok(200, hawser.admin.put(path, { value }));
      expect(refsOf('till')).to.include.members([
        ...['refs/tags/Site/Berlin/v1.0.0', 'refs/tags/renamed/Site/havel/v1.0.0'],
        ...['', '.2', '.3'].map((number) => `refs/tags/renamed/Site/berlin/v1.0.0${number}`),
      ]);
      expect(await pullParameters(node)).to.contain('1.0.1');
    });

    it('keep their name where another has it, and while a step of a rollout is for them', async () => {
      await createScopeValue(hawser, site, 'munich');
      const refs = refsOf();
      await changesNothing(async () => {
        for (const value of ['munich', 'MUNICH'])
          await expectProblem(hawser.admin.put(path, { value }), 409, 'name_taken');
        for (const value of ['no name', '', 'a/b'])
          await expectInvalid(hawser.admin.put(path, { value }), '/value');
      });
      const canary = await createScopeValue(hawser, role, 'canary');
      const other = await createScopeValue(hawser, role, 'other');
      await tagNode(hawser, node.nodeId, canary);
      await ok(200, hawser.admin.put(RING_SETTING, { rolloutScopeType: 'role' }));
      await ok(201, addVersion(hawser.admin, 'shop', { version: '1.1.0' }));
      const rollout = { steps: [step('canary', { bakeTime: '1.00:00:00' }), step(null)] };
      await ok(201, rollOut(hawser.admin, 'shop', '1.1.0', rollout));
      const [ring, type] = [`${valuesOf(role)}/${canary}`, `${SCOPE_TYPES}/${role}`];
      await changesNothing(async () => {
        await expectProblem(hawser.admin.put(ring, { value: 'spree' }), 409, 'in_use');
        await expectProblem(hawser.admin.put(type, { name: 'Place' }), 409, 'in_use');
      });
      await ok(200, hawser.admin.put(`${valuesOf(role)}/${other}`, { value: 'another' }));
      await ok(200, doDeed(hawser.admin, `${rolloutsOf('shop')}/1.1.0`, 'complete'));
      expect(refsOf()).to.deep.equal(refs);
      await ok(200, hawser.admin.put(type, { name: 'Place' }));
      expect((await ok(200, hawser.admin.get(RING_SETTING))).rolloutScopeType).to.equal('Place');
      await ok(200, hawser.admin.put(RING_SETTING, { rolloutScopeType: null }));
    });

    it('go with their files where that is asked, and who may manage them', async () => {
      await ok(200, hawser.admin.put(path, { value: 'spree' }));
      const all = `${path}?withParameters=true`;
      await expectProblem(hawser.admin.delete(all), 409, 'in_use');
      await ok(204, hawser.admin.delete(`/api/v1/nodes/${node.nodeId}/tags/${berlin}`));
      const refs = refsOf();
      await changesNothing(async () => {
        await expectProblem(hawser.admin.delete(path), 409, 'in_use');
        const person = await makeUser(hawser, {
          username: 'half',
          permissions: ['scopes.admin-override'],
          grants: [{ on: 'parameters', name: 'shop', level: 'Manage' }],
        });
        await expectProblem(person.delete(all), 403, 'forbidden');
        await expectInvalid(hawser.admin.delete(`${path}?withParameters=perhaps`));
      });
      expect(refsOf()).to.deep.equal(refs);
      await createScopeValue(hawser, site, 'munich');
      await save('1.0.0', true, 'munich');
      await ok(204, hawser.admin.delete(all));
      expect(refsOf()).to.deep.equal(['refs/heads/Site', 'refs/tags/Site/munich/v1.0.0']);
      expect(hawser.git('parameters/shop.git', 'log', '--format=%s', 'Site')).to.equal(
        'Site/spree is gone\n',
      );
      await createScopeValue(hawser, site, 'spree');
      expect(await pullParameters(node)).to.equal(null);
    });
  });
});
