// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { withDatabase } from '../support/database.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import {
  clearScopes,
  createScopeType,
  createScopeValue,
  DEFAULT_ID,
  generation,
  NODE_ID,
  SCOPE_TYPES,
  scopeAudit,
} from '../support/scopes.ts';
import { started } from '../support/started.ts';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const MEMBERS = [
  ...['nodeId', 'scopeValueId', 'scopeTypeId', 'scopeTypeName', 'scopeValue', 'precedence', 'assignedAt'],
];

describe('tags of nodes', () => {
  const hawser = started(startHawser);
  let web: NodeUnderTest;
  let db: NodeUnderTest;
  let ids: { site: string; role: string; berlin: string; munich: string; server: string };
  const tagsOf = (node: NodeUnderTest) => `/api/v1/nodes/${node.nodeId}/tags`;
  const list = async (node = web) => (await hawser.admin.get(tagsOf(node))).json;
  const tag = (scopeValueId: unknown, node = web) => hawser.admin.post(tagsOf(node), { scopeValueId });
  const untag = (scopeValueId: string, node = web) => hawser.admin.delete(`${tagsOf(node)}/${scopeValueId}`);

  const changesNothing = async (work: () => Promise<unknown>) => {
    const state = async () => [await list(), await scopeAudit(hawser), await generation(hawser)];
    const before = await state();
    await work();
    expect(await state()).to.deep.equal(before);
  };

  before(async () => {
    web = await hawser.registerNode('web-01.example.org');
    db = await hawser.registerNode('db-01.example.org');
  });
  beforeEach(async () => {
    await clearScopes(hawser);
    const site = await createScopeType(hawser, 'Site');
    const role = await createScopeType(hawser, 'Role');
    ids = {
      site,
      role,
      berlin: await createScopeValue(hawser, site, 'berlin'),
      munich: await createScopeValue(hawser, site, 'munich'),
      server: await createScopeValue(hawser, role, 'server'),
    };
  });

  it('are given, listed by precedence and shown with the node', async () => {
    const second = await tag(ids.server);
    const reply = await hawser.admin.post(`${tagsOf(web)}/`, { scopeValueId: ids.berlin });
    expect(reply.status).to.equal(201);
    expect(reply.headers['location']).to.equal(`${tagsOf(web)}/${ids.berlin}`);
    expect(reply.json).to.have.all.keys(MEMBERS);
    const named = { scopeTypeId: ids.site, scopeTypeName: 'Site', scopeValue: 'berlin', precedence: 1 };
    expect(reply.json).to.include({ nodeId: web.nodeId, scopeValueId: ids.berlin, ...named });
    expect(reply.json.assignedAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const slashed = await hawser.admin.get(`${tagsOf(web)}/`);
    expect(slashed.json).to.deep.equal([reply.json, second.json]);
    expect(slashed.headers['x-total-count']).to.equal('2');
    const page = await hawser.admin.get(`${tagsOf(web)}?take=1`);
    expect(page.json).to.deep.equal([reply.json]);
    expect(page.headers['link']).to.equal(`<${tagsOf(web)}?take=1&skip=1>; rel="next"`);
    const details = await hawser.admin.get(`/api/v1/nodes/${web.nodeId}`);
    expect(details.json.tags).to.deep.equal(slashed.json);
    expect(await list(db), 'the other node').to.deep.equal([]);
    expect((await scopeAudit(hawser)).at(-1)).to.deep.equal({
      action: 'node.tagged',
      resourceId: web.nodeId,
      actor: 'admin',
      details: { scopeType: 'Site', scopeValue: 'berlin', scopeValueId: ids.berlin },
    });
  });

  it('name their value in either case of its digits', async () => {
    const reply = await tag(ids.berlin.toUpperCase());
    expect(reply.status).to.equal(201);
    expect(reply.json.scopeValueId).to.equal(ids.berlin);
  });

  it('follow the order of scope types', async () => {
    await tag(ids.berlin);
    await tag(ids.server);
    const order = { scopeTypeIds: [DEFAULT_ID, ids.role, ids.site, NODE_ID] };
    await ok(200, hawser.admin.put(`${SCOPE_TYPES}/reorder`, order));
    const shown = (await list()).map((entry: Record<string, unknown>) => [
      entry['scopeTypeName'],
      entry['precedence'],
    ]);
    expect(shown).to.deep.equal([
      ['Role', 1],
      ['Site', 2],
    ]);
  });

  it('are one of each scope type', async () => {
    await tag(ids.berlin);
    await changesNothing(async () => {
      await expectProblem(await tag(ids.munich), 409, 'scope_type_already_tagged');
      await expectProblem(await tag(ids.berlin), 409, 'scope_type_already_tagged', 'the same one');
    });
    expect((await tag(ids.berlin, db)).status, 'another node').to.equal(201);
    await ok(204, untag(ids.berlin));
    await ok(201, tag(ids.munich));
  });

  it('are one of each scope type, also for two who give them at once', async () => {
    const both = await Promise.all([tag(ids.berlin), tag(ids.munich)]);
    expect(both.map(({ status }) => status).sort()).to.deep.equal([201, 409]);
    expect(await list()).to.have.length(1);
    const same = await Promise.all([1, 2, 3].map(() => tag(ids.server)));
    expect(same.map(({ status }) => status).sort()).to.deep.equal([201, 409, 409]);
    const tagged = (await scopeAudit(hawser)).filter(({ action }) => action === 'node.tagged');
    expect(tagged).to.have.length(2);
  });

  it('refuse what is no scope value', async () => {
    await changesNothing(async () => {
      for (const id of [UNKNOWN, ids.site, DEFAULT_ID])
        await expectProblem(await tag(id), 404, 'not_found', id);
      for (const id of ['berlin', '', null, 5, `${ids.berlin}x`]) {
        const reply = await tag(id);
        await expectProblem(reply, 400, 'validation_failed', String(id));
        expect(reply.json.errors[0].path).to.equal('/scopeValueId');
      }
      for (const body of [{}, { scopeValueId: ids.berlin, note: 'x' }, []]) {
        await expectProblem(await hawser.admin.post(tagsOf(web), body), 400, 'validation_failed');
      }
    });
  });

  it('of a node that does not exist answer 404', async () => {
    for (const id of [UNKNOWN, 'gone.example.org', '1']) {
      const path = `/api/v1/nodes/${id}/tags`;
      await expectProblem(await hawser.admin.get(path), 404, 'not_found');
      await expectProblem(await hawser.admin.post(path, { scopeValueId: ids.berlin }), 404, 'not_found');
      await expectProblem(await hawser.admin.delete(`${path}/${ids.berlin}`), 404, 'not_found');
    }
  });

  it('are taken away', async () => {
    await tag(ids.berlin);
    await changesNothing(async () => {
      for (const id of [ids.munich, ids.server, UNKNOWN, 'berlin']) {
        await expectProblem(await untag(id), 404, 'not_found', id);
      }
      await expectProblem(await untag(ids.berlin, db), 404, 'not_found', 'the other node');
    });
    await ok(204, hawser.admin.delete(`${tagsOf(web)}/${ids.berlin}/`));
    expect(await list()).to.deep.equal([]);
    await expectProblem(await untag(ids.berlin), 404, 'not_found', 'again');
    expect((await scopeAudit(hawser)).at(-1)).to.deep.equal({
      action: 'node.untagged',
      resourceId: web.nodeId,
      actor: 'admin',
      details: { scopeType: 'Site', scopeValue: 'berlin', scopeValueId: ids.berlin },
    });
  });

  it('find nodes in the list', async () => {
    await tag(ids.berlin);
    await tag(ids.server);
    await tag(ids.server, db);
    const names = async (query: string) =>
      (await hawser.admin.get(`/api/v1/nodes?${query}`)).json.map((node: { fqdn: string }) => node.fqdn);
    expect(await names(`scopeValueId=${ids.berlin}`)).to.deep.equal([web.fqdn]);
    expect(await names(`scopeValueId=${ids.server}`)).to.deep.equal([db.fqdn, web.fqdn]);
    expect(await names(`scopeValueId=${ids.server}&fqdn=web`)).to.deep.equal([web.fqdn]);
    expect(await names(`scopeValueId=${ids.munich}`)).to.deep.equal([]);
    await untag(ids.server);
    expect(await names(`scopeValueId=${ids.server}`)).to.deep.equal([db.fqdn]);
  });

  it('raise the generation, and go with their node', async () => {
    const rises = async (work: () => Promise<unknown>) => {
      const before = await generation(hawser);
      await work();
      expect(await generation(hawser)).to.be.greaterThan(before);
    };
    const app = await hawser.registerNode('app-01.example.org');
    await rises(() => tag(ids.berlin, app));
    await rises(() => untag(ids.berlin, app));
    await tag(ids.berlin, app);
    await rises(() =>
      withDatabase(hawser, ({ write }) => write.deleteFrom('nodes').where('id', '=', app.nodeId).execute()),
    );
    const value = await hawser.admin.delete(`${SCOPE_TYPES}/${ids.site}/values/${ids.berlin}`);
    expect(value.status, 'nothing is tagged with it any more').to.equal(204);
  });

  it('are the same after a restart', async () => {
    await tag(ids.berlin);
    await tag(ids.server);
    const before = await list();
    await hawser.restart();
    expect(await list()).to.deep.equal(before);
  });
});
