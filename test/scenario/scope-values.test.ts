// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { defineScopeValue } from '../../src/api/scope-types/queries.ts';
import { HOUR } from '../../src/lib/clock.ts';
import { systemActor } from '../../src/security/audit.ts';
import { withDatabase } from '../support/database.ts';
import { startHawser } from '../support/hawser.ts';
import { expectInvalid, expectProblem } from '../support/replies.ts';
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
      for (const body of [{ value: 'other' }, { description: 1 }, { description: 'x', value: 'berlin' }]) {
        await expectInvalid(await hawser.admin.put(path, body));
      }
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
});
