// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { HOUR } from '../../src/lib/clock.ts';
import { MAIN } from '../support/configurations.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, poll, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
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
const MEMBERS = [
  ...['id', 'name', 'description', 'precedence', 'isSystem', 'isEnabled', 'valueMode'],
  ...['createdAt', 'updatedAt'],
];

interface Shown {
  id: string;
  name: string;
  precedence: number;
  updatedAt: string;
}

describe('scope types', () => {
  const hawser = started(startHawser);
  const list = async (): Promise<Shown[]> => (await hawser.admin.get(`${SCOPE_TYPES}?take=1000`)).json;
  const names = async () => (await list()).map(({ name }) => name);
  const reorder = (ids: unknown, slash = '') =>
    hawser.admin.put(`${SCOPE_TYPES}/reorder${slash}`, { scopeTypeIds: ids });
  const one = (id: string) => hawser.admin.get(`${SCOPE_TYPES}/${id}`);
  const patch = (id: string, change: string, headers: Record<string, string> = {}) =>
    hawser.admin.call('PATCH', `${SCOPE_TYPES}/${id}/${change}`, { headers });

  const expectDense = async () => {
    const types = await list();
    expect(types.map(({ precedence }) => precedence)).to.deep.equal(types.map((_, index) => index));
    expect(types[0]?.id).to.equal(DEFAULT_ID);
    expect(types.at(-1)?.id).to.equal(NODE_ID);
  };

  /** The call leaves all types, the audit trail and the generation as they are. */
  const changesNothing = async (work: () => Promise<unknown>) => {
    const before = [await list(), await scopeAudit(hawser), await generation(hawser)];
    await work();
    expect([await list(), await scopeAudit(hawser), await generation(hawser)]).to.deep.equal(before);
  };

  beforeEach(() => clearScopes(hawser));

  it('are Default and Node on a new server', async () => {
    const fresh = await startHawser();
    try {
      const reply = await fresh.admin.get(`${SCOPE_TYPES}/`);
      expect(reply.status).to.equal(200);
      expect(reply.headers['x-total-count']).to.equal('2');
      const [first, last] = reply.json;
      expect(first).to.have.all.keys(MEMBERS);
      const system = { isSystem: true, isEnabled: true, valueMode: 'Unrestricted' };
      expect(first).to.include({ id: DEFAULT_ID, name: 'Default', precedence: 0, ...system });
      expect(last).to.include({ id: NODE_ID, name: 'Node', precedence: 1, ...system });
      expect(first.createdAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(await scopeAudit(fresh)).to.deep.equal([]);
    } finally {
      await fresh.close();
    }
  });

  it('are placed just below Node as they are created', async () => {
    const reply = await hawser.admin.post(SCOPE_TYPES, { name: 'Environment', description: 'stages' });
    expect(reply.status).to.equal(201);
    expect(reply.headers['location']).to.equal(`${SCOPE_TYPES}/${reply.json.id}`);
    expect(reply.json).to.have.all.keys(MEMBERS);
    const own = { name: 'Environment', description: 'stages', precedence: 1, isSystem: false };
    expect(reply.json).to.include({ ...own, isEnabled: true, valueMode: 'Unrestricted' });
    expect(reply.json.updatedAt).to.equal(reply.json.createdAt);
    const second = await hawser.admin.post(`${SCOPE_TYPES}/`, { name: 'site_2-x', valueMode: 'restricted' });
    expect(second.json).to.include({ precedence: 2, valueMode: 'Restricted', description: null });
    expect(await names()).to.deep.equal(['Default', 'Environment', 'site_2-x', 'Node']);
    await expectDense();
    const read = await one(reply.json.id);
    expect(read.json).to.deep.equal(reply.json);
    expect(read.headers['etag']).to.be.a('string');
    expect((await scopeAudit(hawser))[0]).to.deep.equal({
      action: 'scope_type.created',
      resourceId: reply.json.id,
      actor: 'admin',
      details: { name: 'Environment', precedence: 1, valueMode: 'Unrestricted' },
    });
  });

  it('are listed in pages', async () => {
    await createScopeType(hawser, 'Environment');
    const page = await hawser.admin.get(`${SCOPE_TYPES}?take=1&skip=1`);
    expect(page.json.map(({ name }: Shown) => name)).to.deep.equal(['Environment']);
    expect(page.headers['x-total-count']).to.equal('3');
    expect(page.headers['link']).to.equal(`<${SCOPE_TYPES}?take=1&skip=2>; rel="next"`);
    await expectInvalid(await hawser.admin.get(`${SCOPE_TYPES}?take=0`));
  });

  it('refuse a name that is taken in any case, those of the system types too', async () => {
    await createScopeType(hawser, 'Environment');
    await changesNothing(async () => {
      for (const name of ['Environment', 'environment', 'ENVIRONMENT', 'default', 'Default', 'NODE']) {
        await expectProblem(await hawser.admin.post(SCOPE_TYPES, { name }), 409, 'name_taken', name);
      }
    });
  });

  it('refuse names that the repositories of parameters need for themselves', async () => {
    await changesNothing(async () => {
      for (const name of ['draft', 'schema', 'main', 'HEAD', 'Draft', 'SCHEMA', 'Main', 'head']) {
        const reply = await hawser.admin.post(SCOPE_TYPES, { name });
        await expectProblem(reply, 400, 'reserved_name', name);
        expect(reply.json.errors[0].path).to.equal('/name');
      }
    });
    await createScopeType(hawser, 'drafts');
  });

  it('refuse what breaks the form, and change nothing', async () => {
    const faults: [unknown, string][] = [
      [{}, '/name'],
      [{ name: '' }, '/name'],
      [{ name: null }, '/name'],
      [{ name: 5 }, '/name'],
      [{ name: 'x'.repeat(65) }, '/name'],
      ...['a b', 'a/b', 'a.b', '..', 'a\n', 'ä', 'a\u0000', ' a', 'Env.lock'].map(
        (name): [unknown, string] => [{ name }, '/name'],
      ),
      [{ name: 'a', valueMode: 'Free' }, '/valueMode'],
      [{ name: 'a', valueMode: 1 }, '/valueMode'],
      [{ name: 'a', description: 'x'.repeat(4_001) }, '/description'],
      [{ name: 'a', precedence: 0 }, '/precedence'],
      [{ name: 'a', isSystem: true }, '/isSystem'],
      [{ name: 'a', isEnabled: false }, '/isEnabled'],
    ];
    await changesNothing(async () => {
      for (const [body, path] of faults) {
        await expectInvalid(hawser.admin.post(SCOPE_TYPES, body), path, JSON.stringify(body));
      }
    });
    await createScopeType(hawser, 'x'.repeat(64), { description: null, valueMode: null });
  });

  it('get another name with the branches, tags and drafts of their files', async () => {
    const id = await createScopeType(hawser, 'Environment');
    await createScopeType(hawser, 'Site');
    const value = await createScopeValue(hawser, id, 'prod');
    await publishConfiguration(hawser.admin, 'shop', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    const node = await hawser.registerNode('named.example.org');
    await assign(hawser, node, 'shop');
    await tagNode(hawser, node.nodeId, value);
    const file = {
      configuration: 'shop',
      scopeType: 'Environment',
      value: 'prod',
      content: 'parameters: {a: 1}',
    };
    await saveParameters(hawser, file);
    await saveParameters(hawser, { ...file, version: '1.1.0', publish: false });
    const rename = (name: string, of = id) => hawser.admin.put(`${SCOPE_TYPES}/${of}`, { name });
    const before = (await poll(node)).json.checksum;
    await changesNothing(async () => {
      for (const name of ['site', 'default', 'NODE']) await expectProblem(rename(name), 409, 'name_taken');
      for (const name of ['draft', 'Renamed']) await expectProblem(rename(name), 400, 'reserved_name');
      await expectProblem(rename('Other', NODE_ID), 409, 'system_scope_type');
    });
    expect((await ok(200, rename('Stage'))).name).to.equal('Stage');
    expect((await poll(node)).json.checksum).to.equal(before);
    const refs = hawser.git('parameters/shop.git', 'for-each-ref', '--format=%(refname)').trim().split('\n');
    expect(refs).to.deep.equal([
      ...['refs/heads/Stage', 'refs/heads/draft/Stage/prod/1.1.0'],
      ...['refs/tags/Stage/prod/v1.0.0', 'refs/tags/renamed/Environment/prod/v1.0.0'],
    ]);
    await saveParameters(hawser, {
      ...file,
      scopeType: 'Stage',
      version: '1.1.0',
      content: 'parameters: {a: 2}',
    });
    expect(await pullParameters(node)).to.equal('parameters:\n  a: 2\n');
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${node.nodeId}/tags/${value}`));
    await ok(204, hawser.admin.delete(`${SCOPE_TYPES}/${id}?withParameters=true`));
    expect(hawser.git('parameters/shop.git', 'for-each-ref')).to.equal('');
  });

  it('can be described anew, but for those of the system', async () => {
    const id = await createScopeType(hawser, 'Environment', { description: 'before' });
    const before = (await one(id)).json;
    hawser.clock.advance(HOUR);
    const reply = await hawser.admin.put(`${SCOPE_TYPES}/${id}`, { description: 'after' });
    expect(reply.status).to.equal(200);
    expect(reply.json).to.deep.equal({
      ...before,
      description: 'after',
      updatedAt: reply.json.updatedAt,
    });
    expect(Date.parse(reply.json.updatedAt)).to.be.greaterThan(Date.parse(before.updatedAt));
    expect((await one(id)).json).to.deep.equal(reply.json);
    expect((await scopeAudit(hawser)).at(-1)).to.deep.include({
      action: 'scope_type.updated',
      resourceId: id,
      details: { name: 'Environment', description: { from: 'before', to: 'after' } },
    });
    await changesNothing(async () => {
      hawser.clock.advance(HOUR);
      await ok(200, hawser.admin.put(`${SCOPE_TYPES}/${id}/`, { description: 'after' }));
      for (const system of [DEFAULT_ID, NODE_ID]) {
        const refused = await hawser.admin.put(`${SCOPE_TYPES}/${system}`, { description: 'mine' });
        await expectProblem(refused, 409, 'system_scope_type');
      }
      for (const body of [
        { name: 'no name' },
        { description: 5 },
        { description: 'x', valueMode: 'Restricted' },
      ]) {
        await expectInvalid(await hawser.admin.put(`${SCOPE_TYPES}/${id}`, body));
      }
    });
    expect((await hawser.admin.put(`${SCOPE_TYPES}/${id}`, { description: null })).json.description).to.equal(
      null,
    );
  });

  it('refuse a change when If-Match names another state', async () => {
    const id = await createScopeType(hawser, 'Environment');
    const etag = String((await one(id)).headers['etag']);
    const put = (description: string) =>
      hawser.admin.call('PUT', `${SCOPE_TYPES}/${id}`, {
        json: { description },
        headers: { 'If-Match': etag },
      });
    expect((await put('one')).status).to.equal(200);
    await expectProblem(await put('two'), 412, 'precondition_failed');
    const node = String((await one(NODE_ID)).headers['etag']);
    expect((await patch(NODE_ID, 'disable', { 'If-Match': node })).status).to.equal(200);
    await expectProblem(await patch(NODE_ID, 'enable', { 'If-Match': node }), 412, 'precondition_failed');
    expect((await one(NODE_ID)).json.isEnabled).to.equal(false);
  });

  describe('when put into a new order', () => {
    let ids: { a: string; b: string; c: string };
    beforeEach(async () => {
      ids = {
        a: await createScopeType(hawser, 'A'),
        b: await createScopeType(hawser, 'B'),
        c: await createScopeType(hawser, 'C'),
      };
    });

    it('take it as a whole, with and without a trailing slash', async () => {
      const before = await list();
      hawser.clock.advance(HOUR);
      const reply = await reorder([DEFAULT_ID, ids.c, ids.b, ids.a, NODE_ID]);
      expect(reply.status).to.equal(200);
      expect(reply.json).to.deep.equal(await list());
      expect(await names()).to.deep.equal(['Default', 'C', 'B', 'A', 'Node']);
      await expectDense();
      const touched = reply.json.filter((type: Shown) =>
        before.every(({ id, updatedAt }) => id !== type.id || updatedAt !== type.updatedAt),
      );
      expect(
        touched.map(({ name }: Shown) => name),
        'B has not moved',
      ).to.deep.equal(['C', 'A']);
      expect((await reorder([DEFAULT_ID, ids.b, ids.c, ids.a, NODE_ID], '/')).status).to.equal(200);
      expect(await names()).to.deep.equal(['Default', 'B', 'C', 'A', 'Node']);
      expect((await scopeAudit(hawser)).at(-1)).to.deep.include({
        action: 'scope_type.reordered',
        details: { from: ['Default', 'C', 'B', 'A', 'Node'], to: ['Default', 'B', 'C', 'A', 'Node'] },
      });
    });

    it('write nothing where it is the order that they have', async () => {
      await changesNothing(async () => {
        hawser.clock.advance(HOUR);
        const reply = await reorder([DEFAULT_ID, ids.a, ids.b, ids.c, NODE_ID]);
        expect(reply.status).to.equal(200);
        expect(reply.json).to.deep.equal(await list());
      });
    });

    it('refuse what is no order of all of them', async () => {
      const { a, b, c } = ids;
      const faults: unknown[] = [
        [],
        [DEFAULT_ID, NODE_ID],
        [DEFAULT_ID, a, b, NODE_ID],
        [DEFAULT_ID, a, b, c],
        [a, b, c, NODE_ID],
        [DEFAULT_ID, a, b, b, NODE_ID],
        [DEFAULT_ID, a, b, c, c, NODE_ID],
        [DEFAULT_ID, a, b, c, NODE_ID, NODE_ID],
        [DEFAULT_ID, a, b, UNKNOWN, NODE_ID],
        [DEFAULT_ID, a, b, c, UNKNOWN, NODE_ID],
        [NODE_ID, a, b, c, DEFAULT_ID],
        [a, DEFAULT_ID, b, c, NODE_ID],
        [DEFAULT_ID, a, b, NODE_ID, c],
        [DEFAULT_ID, a, b, 'c', NODE_ID],
        [DEFAULT_ID, a, b, null, NODE_ID],
        DEFAULT_ID,
        null,
      ];
      await changesNothing(async () => {
        for (const fault of faults) {
          const reply = await expectInvalid(reorder(fault), undefined, JSON.stringify(fault));
          expect(reply.json.errors[0].path).to.match(/^\/scopeTypeIds/);
        }
        await expectInvalid(await hawser.admin.put(`${SCOPE_TYPES}/reorder`, {}));
        const extra = { scopeTypeIds: [DEFAULT_ID, c, b, a, NODE_ID], force: true };
        await expectInvalid(await hawser.admin.put(`${SCOPE_TYPES}/reorder`, extra));
      });
    });

    it('stay dense while others create, delete and reorder', async () => {
      const orders = [
        [DEFAULT_ID, ids.c, ids.b, ids.a, NODE_ID],
        [DEFAULT_ID, ids.b, ids.a, ids.c, NODE_ID],
      ];
      const replies = await Promise.all([
        reorder(orders[0]),
        ...[1, 2, 3, 4].map((n) => hawser.admin.post(SCOPE_TYPES, { name: `New${n}` })),
        hawser.admin.delete(`${SCOPE_TYPES}/${ids.b}`),
        reorder(orders[1]),
        ...[5, 6].map((n) => hawser.admin.post(SCOPE_TYPES, { name: `New${n}` })),
        hawser.admin.delete(`${SCOPE_TYPES}/${ids.a}`),
        reorder(orders[0]),
      ]);
      for (const reply of replies) expect(reply.status).to.be.oneOf([200, 201, 204, 400]);
      await expectDense();
      expect((await names()).sort()).to.deep.equal([
        ...['C', 'Default', 'New1', 'New2', 'New3', 'New4', 'New5', 'New6', 'Node'],
      ]);
    });
  });

  it('give a name to one of two who ask for it at once', async () => {
    const replies = await Promise.all(
      ['Site', 'SITE', 'site'].map((name) => hawser.admin.post(SCOPE_TYPES, { name })),
    );
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409]);
    await expectDense();
  });

  describe('when deleted', () => {
    it('take their values with them, and the rest closes up', async () => {
      const a = await createScopeType(hawser, 'A');
      const b = await createScopeType(hawser, 'B');
      const value = await createScopeValue(hawser, a, 'one');
      expect((await hawser.admin.delete(`${SCOPE_TYPES}/${a}`)).status).to.equal(204);
      expect(await names()).to.deep.equal(['Default', 'B', 'Node']);
      await expectDense();
      await expectProblem(await one(a), 404, 'not_found');
      await expectProblem(await hawser.admin.get(`${SCOPE_TYPES}/${a}/values/${value}`), 404, 'not_found');
      await expectProblem(await hawser.admin.delete(`${SCOPE_TYPES}/${a}`), 404, 'not_found');
      expect((await scopeAudit(hawser)).at(-1)).to.deep.include({
        action: 'scope_type.deleted',
        resourceId: a,
        details: { name: 'A', valueCount: 1 },
      });
      const again = await createScopeType(hawser, 'a');
      expect((await hawser.admin.get(`${SCOPE_TYPES}/${again}/values`)).json).to.deep.equal([]);
      expect((await hawser.admin.delete(`${SCOPE_TYPES}/${b}/`)).status, 'with a slash').to.equal(204);
    });

    it('stay while a node is tagged with a value of theirs', async () => {
      const node = await hawser.registerNode('web-01.example.org');
      const id = await createScopeType(hawser, 'Site');
      const value = await createScopeValue(hawser, id, 'berlin');
      await tagNode(hawser, node.nodeId, value);
      await changesNothing(async () => {
        await expectProblem(await hawser.admin.delete(`${SCOPE_TYPES}/${id}`), 409, 'in_use');
      });
      await hawser.admin.delete(`/api/v1/nodes/${node.nodeId}/tags/${value}`);
      expect((await hawser.admin.delete(`${SCOPE_TYPES}/${id}`)).status).to.equal(204);
    });

    it('stay if they are of the system', async () => {
      await changesNothing(async () => {
        for (const id of [DEFAULT_ID, NODE_ID]) {
          await expectProblem(await hawser.admin.delete(`${SCOPE_TYPES}/${id}`), 409, 'system_scope_type');
        }
      });
    });

    it('go once, however many ask', async () => {
      const id = await createScopeType(hawser, 'Site');
      await createScopeType(hawser, 'Other');
      const replies = await Promise.all([1, 2, 3].map(() => hawser.admin.delete(`${SCOPE_TYPES}/${id}`)));
      expect(replies.map(({ status }) => status).sort()).to.deep.equal([204, 404, 404]);
      await expectDense();
    });
  });

  it('of the system can be disabled and enabled', async () => {
    for (const id of [DEFAULT_ID, NODE_ID]) {
      const before = (await one(id)).json;
      hawser.clock.advance(HOUR);
      const disabled = await patch(id, 'disable');
      expect(disabled.status).to.equal(200);
      const { updatedAt } = disabled.json;
      expect(disabled.json).to.deep.equal({ ...before, isEnabled: false, updatedAt });
      expect(updatedAt).to.not.equal(before.updatedAt);
      expect((await one(id)).json).to.deep.equal(disabled.json);
      await changesNothing(async () => expect((await patch(id, 'disable/')).status).to.equal(200));
      const enabled = await patch(id, 'enable/');
      expect(enabled.json).to.include({ id, isEnabled: true });
      await changesNothing(async () => expect((await patch(id, 'enable')).status).to.equal(200));
    }
    const recorded = await scopeAudit(hawser);
    expect(recorded.map(({ action, resourceId }) => [action, resourceId])).to.deep.equal([
      ['scope_type.disabled', DEFAULT_ID],
      ['scope_type.enabled', DEFAULT_ID],
      ['scope_type.disabled', NODE_ID],
      ['scope_type.enabled', NODE_ID],
    ]);
  });

  it('that are not of the system can be neither', async () => {
    const id = await createScopeType(hawser, 'Site');
    await changesNothing(async () => {
      await expectProblem(await patch(id, 'disable'), 409, 'not_a_system_scope_type');
      await expectProblem(await patch(id, 'enable'), 409, 'not_a_system_scope_type');
    });
  });

  it('that do not exist answer 404', async () => {
    for (const id of [UNKNOWN, 'Default', '1', '..', '%00', `${DEFAULT_ID}x`]) {
      const replies = await Promise.all([
        one(id),
        hawser.admin.delete(`${SCOPE_TYPES}/${id}`),
        patch(id, 'enable'),
        patch(id, 'disable'),
        hawser.admin.put(`${SCOPE_TYPES}/${id}`, { description: 'x' }),
      ]);
      for (const reply of replies) await expectProblem(reply, 404, 'not_found', id);
    }
    // A path of its own, which takes nothing but PUT.
    await expectProblem(await one('reorder'), 405, 'method_not_allowed');
  });

  it('are the same after a restart', async () => {
    const a = await createScopeType(hawser, 'A');
    const b = await createScopeType(hawser, 'B', { valueMode: 'Restricted' });
    await reorder([DEFAULT_ID, b, a, NODE_ID]);
    await patch(NODE_ID, 'disable');
    const before = await list();
    await hawser.restart();
    expect(await list()).to.deep.equal(before);
    expect(await names()).to.deep.equal(['Default', 'B', 'A', 'Node']);
  });

  it('show their values in the order that was chosen', async () => {
    const type = await createScopeType(hawser, 'Ring');
    const make = (value: string) => createScopeValue(hawser, type, value);
    const scopeValueIds = [await make('late'), await make('early')].reverse();
    const shown = await ok(200, hawser.admin.put(`${SCOPE_TYPES}/${type}/values/reorder`, { scopeValueIds }));
    expect(shown.map(({ value }: { value: string }) => value)).to.deep.equal(['early', 'late']);
  });

  it('raise the generation with every change', async () => {
    const rises = async (work: () => Promise<unknown>) => {
      const before = await generation(hawser);
      await work();
      expect(await generation(hawser)).to.be.greaterThan(before);
    };
    let a = '';
    await rises(async () => {
      a = await createScopeType(hawser, 'A');
    });
    const b = await createScopeType(hawser, 'B');
    await rises(() => reorder([DEFAULT_ID, b, a, NODE_ID]));
    await rises(() => patch(DEFAULT_ID, 'disable'));
    await rises(() => patch(DEFAULT_ID, 'enable'));
    await rises(() => hawser.admin.delete(`${SCOPE_TYPES}/${a}`));
  });
});
