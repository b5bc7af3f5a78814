// full: SQLite
/** Grants on the parameters of one scope: what they open, what a restricted value keeps closed, and who may give them. */

import { expect } from 'chai';
import { auditedDuring } from '../support/audit.ts';
import type { Client, Reply } from '../support/client.ts';
import { addVersion, MAIN, publish } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { itOnPostgres } from '../support/engine.ts';
import { startHawser } from '../support/hawser.ts';
import { saveParameters } from '../support/parameter-files.ts';
import { makeUser, type Person } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import {
  type Field,
  granting,
  grantTo,
  listed,
  makeField,
  member,
  PERMISSIONS,
  revoking,
  SECRET,
  WEB,
} from '../support/scope-grants.ts';
import { routesOf } from '../support/scope-routes.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, NODE_ID, SCOPE_TYPES } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const NOBODY = '00000000-0000-4000-8000-000000000000';

describe('grants on the parameters of a scope', () => {
  const hawser = started(startHawser);
  let field: Field;
  let ofDev: { scopeTypeId: string; scopeValueId: string };
  let ofProd: { scopeTypeId: string; scopeValueId: string };

  before(async () => {
    field = await makeField(hawser);
    ofDev = { scopeTypeId: field.type, scopeValueId: field.dev };
    ofProd = { scopeTypeId: field.type, scopeValueId: field.prod };
  });

  const routes = (value: string | null) =>
    routesOf(hawser, { ...field, type: value === null ? DEFAULT_ID : field.type, value });
  /** The problem of each route of a scope, or its success, by the level that the route asks for. */
  const outcomes = async (client: Client, value: string | null) => {
    const found: Record<string, Set<number>> = {};
    for (const { level, name, call } of await routes(value)) {
      const reply: Reply = await call(client);
      expect(reply.status, `${name}: ${reply.text}`).to.be.oneOf([200, 201, 204, 403, 404]);
      if (reply.status >= 400) expect(reply.text).to.not.include(SECRET);
      const set = found[level] ?? new Set();
      found[level] = set.add(reply.status === 403 || reply.status === 404 ? reply.status : 200);
    }
    return Object.fromEntries(
      Object.entries(found).map(([level, statuses]) => [level, [...statuses].join()]),
    );
  };
  const nothing = { Read: '404', Modify: '404', Manage: '404' };
  const reads = { Read: '200', Modify: '403', Manage: '403' };
  const modifies = { Read: '200', Modify: '200', Manage: '403' };
  const manages = { Read: '200', Modify: '200', Manage: '200' };

  it('open every route of that scope up to their level, and no other', async () => {
    const { team, keeper } = field;
    expect(await outcomes(team, 'dev')).to.deep.equal(modifies);
    expect(await outcomes(team, null)).to.deep.equal(reads);
    expect(await outcomes(team, 'prod')).to.deep.equal(nothing);
    expect(await outcomes(keeper, 'prod')).to.deep.equal(manages);
    expect(await outcomes(keeper, 'dev')).to.deep.equal(reads);
    expect(await outcomes(hawser.admin, 'prod')).to.deep.equal(manages);
  });

  it('leave out of lists what may not be read', async () => {
    expect(await listed(field.team)).to.deep.equal(['Default', 'dev']);
    expect(await listed(field.keeper)).to.deep.equal(['Default', 'dev', 'prod']);
  });

  it('are asked for by previews of a file, too', async () => {
    const wish = (scopeValue: string) => {
      const change = {
        kind: 'SetParameters',
        configurationName: 'web',
        scopeTypeName: 'Environment',
        scopeValue,
      };
      return { changes: [{ ...change, version: '9.0.0', content: 'parameters: {}\n' }] };
    };
    await expectProblem(field.team.post('/api/v1/previews', wish('prod')), 404, 'not_found');
    for (const who of [field.team, field.keeper])
      expect((await who.post('/api/v1/previews', wish('dev'))).status).to.be.oneOf([201, 202]);
    const { id } = (await field.keeper.post('/api/v1/previews', wish('prod'))).json;
    await ok(200, field.keeper.get(`/api/v1/previews/${id}`));
    await ok(204, hawser.admin.delete(revoking(field.keeper, ofProd)));
    await expectProblem(field.keeper.get(`/api/v1/previews/${id}`), 404, 'not_found');
    await grantTo(hawser.admin, field.keeper, 'Manage', ofProd);
  });

  itOnPostgres('are not marked restricted beside a server of a release that knows no marks', async () => {
    const put = (restricted: boolean) =>
      hawser.admin.put(PERMISSIONS, granting(field.team, 'Modify', { ...ofDev, restricted }));
    const older = { id: NOBODY, version: '0.2.0', host: 'old', seen_at: new Date() };
    await withDatabase(hawser, async ({ write }) => {
      await write.insertInto('servers').values(older).execute();
      try {
        await expectProblem(put(true), 503, 'upgrade_incomplete', 'old');
        await ok(204, put(false));
      } finally {
        await write.deleteFrom('servers').where('id', '=', NOBODY).execute();
      }
    });
    await ok(204, put(true));
    await ok(204, put(false));
  });

  it('on a type count for all values but restricted ones, and for nothing else', async () => {
    const builder = await makeUser(hawser, { username: 'builder', permissions: ['nodes.read'] });
    expect(await outcomes(builder, 'dev')).to.deep.equal(nothing);
    await grantTo(hawser.admin, builder, 'Modify', { scopeTypeId: field.type });
    expect(await outcomes(builder, 'dev')).to.deep.equal(modifies);
    expect(await outcomes(builder, 'prod')).to.deep.equal(nothing);
    expect(await outcomes(builder, null)).to.deep.equal(nothing);
    await expectProblem(builder.get(WEB), 404, 'not_found');
    expect(await listed(builder)).to.deep.equal(['dev']);
    await saveParameters(hawser, {
      ...{ configuration: 'web', scopeType: 'Environment', value: 'test' },
      content: 'parameters: {note: new}\n',
    });
    expect(await outcomes(builder, 'test')).to.deep.equal(modifies);
  });

  it('do not end the fall back to the configuration, and one is taken away alone', async () => {
    const somebody = await makeUser(hawser, {
      username: 'somebody',
      grants: [{ on: 'configuration', name: 'web', level: 'Modify' }],
    });
    await grantTo(hawser.admin, somebody, 'Read', ofDev);
    expect(await outcomes(somebody, 'dev')).to.deep.equal(modifies);
    await grantTo(hawser.admin, somebody, 'Manage', ofDev);
    expect(await outcomes(somebody, 'dev')).to.deep.equal(manages);
    await ok(204, hawser.admin.delete(revoking(somebody, ofDev)));
    await expectProblem(hawser.admin.delete(revoking(somebody, ofDev)), 404, 'not_found');
    expect(await outcomes(somebody, 'dev')).to.deep.equal(modifies);
  });

  it('never give a token more than its owner has there', async () => {
    const { team, keeper } = field;
    const all = ['configurations.grants', 'parameters.grants'];
    expect(await outcomes(await keeper.withToken(...all), 'prod')).to.deep.equal(manages);
    expect(await outcomes(await keeper.withToken('configurations.grants'), 'prod')).to.deep.equal(nothing);
    expect(await outcomes(await keeper.withToken('configurations.grants'), 'dev')).to.deep.equal(reads);
    expect(await outcomes(await team.withToken(...all), 'prod')).to.deep.equal(nothing);
    expect(await outcomes(await team.withToken('configurations.grants'), 'dev')).to.deep.equal(reads);
    expect(await outcomes(await team.withToken('nodes.read'), 'dev')).to.deep.equal(nothing);
  });

  it('are listed with their scope and its mark', async () => {
    const rows: Record<string, unknown>[] = await ok(200, hawser.admin.get(`${PERMISSIONS}?take=1000`));
    const ofKeeper = rows.find(({ principalId }) => principalId === field.keeper.userId);
    expect(ofKeeper).to.deep.include({
      ...{ level: 'Manage', ...ofProd, restricted: true },
      ...{ scopeTypeName: 'Environment', scopeValue: 'prod' },
    });
    expect(rows.find(({ principalId }) => principalId === field.team.userId)).to.deep.include({
      ...ofDev,
      restricted: false,
    });
    // Who manages one scope sees the grants on it.
    const own: Record<string, unknown>[] = await ok(200, field.keeper.get(PERMISSIONS));
    expect(new Set(own.map(({ scopeValueId }) => scopeValueId))).to.deep.equal(new Set([field.prod]));
    await expectProblem(field.team.get(PERMISSIONS), 403, 'forbidden');
  });

  it('are refused for scopes that are none, and change nothing then', async () => {
    const other = await createScopeType(hawser, 'Region');
    const eu = await createScopeValue(hawser, other, 'eu');
    const put = (given: object) =>
      hawser.admin.put(PERMISSIONS, { ...granting(field.team, 'Read'), ...given });
    const audited = await auditedDuring(hawser, async () => {
      await expectInvalid(put({ scopeValueId: field.dev }), '/scopeTypeId');
      await expectInvalid(put({ scopeTypeId: field.type, scopeValueId: eu }), '/scopeValueId');
      await expectInvalid(put({ scopeTypeId: NODE_ID, scopeValueId: eu }), '/scopeValueId');
      await expectInvalid(put({ scopeTypeId: DEFAULT_ID, scopeValueId: field.dev }), '/scopeValueId');
      await expectInvalid(put({ restricted: true }), '/restricted');
      await expectInvalid(put({ scopeTypeId: field.type, restricted: true }), '/restricted');
      await expectProblem(put({ scopeTypeId: NOBODY }), 404, 'not_found');
      await expectProblem(put({ scopeTypeId: field.type, scopeValueId: NOBODY }), 404, 'not_found');
      await expectProblem(put({ ...ofDev, principalId: NOBODY }), 404, 'not_found');
      await expectProblem(
        hawser.admin.delete(revoking(field.team, { ...ofDev, scopeValueId: NOBODY })),
        404,
        'not_found',
      );
    });
    expect(audited).to.deep.equal([]);
    await ok(204, hawser.admin.delete(`${SCOPE_TYPES}/${other}`));
  });

  describe('are given, marked and taken away', () => {
    let manager: Person;
    before(async () => {
      manager = await makeUser(hawser, {
        username: 'manager',
        permissions: ['groups.manage'],
        grants: [{ on: 'configuration', name: 'web', level: 'Manage' }],
      });
    });

    const deeds = (who: Client, on: object) => [
      who.put(PERMISSIONS, granting(field.team, 'Read', on)),
      who.put(PERMISSIONS, granting(field.team, 'Read', { ...on, restricted: true })),
      who.put(PERMISSIONS, granting(field.team, 'Read', { ...on, restricted: false })),
      who.delete(revoking(field.keeper, on)),
    ];

    it('by who manages the very value, and by nobody else', async () => {
      const audited = await auditedDuring(hawser, async () => {
        for (const reply of deeds(manager, ofProd)) await expectProblem(reply, 403, 'beyond_own_permissions');
        for (const reply of deeds(field.team, ofProd)) await expectProblem(reply, 403, 'forbidden');
        for (const reply of deeds(field.keeper, ofDev)) await expectProblem(reply, 403, 'forbidden');
        const general = field.keeper.put(PERMISSIONS, granting(field.keeper, 'Manage'));
        await expectProblem(general, 403, 'forbidden');
      });
      expect(audited).to.deep.equal([]);
      const guest = await member(hawser);
      const [entry] = await auditedDuring(hawser, () => grantTo(field.keeper, guest, 'Modify', ofProd));
      expect(entry).to.include({ action: 'parameters.granted' });
      expect(await outcomes(guest, 'prod')).to.deep.equal(modifies);
      await ok(204, field.keeper.delete(revoking(guest, ofProd)));
      expect(await outcomes(guest, 'prod')).to.deep.equal(nothing);
    });

    it('by a group only to those whom its giver could give the same', async () => {
      const group = await ok(201, hawser.admin.post('/api/v1/groups', { name: 'keepers' }));
      const to = { principalType: 'Group', principalId: group.id, level: 'Read' };
      await ok(204, hawser.admin.put(PERMISSIONS, { ...to, ...ofProd }));
      const members = (who: Client, userIds: string[]) =>
        who.put(`/api/v1/groups/${group.id}/members`, { userIds });
      await expectProblem(members(manager, [manager.userId]), 403, 'beyond_own_permissions');
      expect(await outcomes(manager, 'prod')).to.deep.equal(nothing);
      await grantTo(hawser.admin, manager, 'Read', ofProd);
      await ok(200, members(manager, [field.team.userId]));
      expect(await outcomes(field.team, 'prod')).to.deep.equal(reads);
      await ok(204, hawser.admin.delete(`/api/v1/groups/${group.id}`));
      expect(await outcomes(field.team, 'prod')).to.deep.equal(nothing);
      await ok(204, hawser.admin.delete(revoking(manager, ofProd)));
    });

    it('and the mark outlives all grants, until somebody says otherwise', async () => {
      const heir = await member(hawser);
      await ok(204, hawser.admin.delete(revoking(field.keeper, ofProd)));
      for (const who of [field.team, field.keeper, manager])
        expect(await outcomes(who, 'prod')).to.deep.equal(nothing);
      // What says nothing of the mark leaves it.
      await grantTo(hawser.admin, heir, 'Read', { ...ofProd, restricted: null });
      expect(await outcomes(field.team, 'prod')).to.deep.equal(nothing);
      await grantTo(hawser.admin, heir, 'Read', { ...ofProd, restricted: false });
      expect(await outcomes(field.team, 'prod')).to.deep.equal(reads);
      expect(await outcomes(manager, 'prod')).to.deep.equal(manages);
      await grantTo(manager, field.keeper, 'Manage', { ...ofProd, restricted: true });
      expect(await outcomes(manager, 'prod')).to.deep.equal(nothing);
    });

    it('of Default, whose mark closes it like that of a value', async () => {
      const ofDefault = { scopeTypeId: DEFAULT_ID };
      await grantTo(hawser.admin, field.keeper, 'Modify', { ...ofDefault, restricted: true });
      expect(await outcomes(field.team, null)).to.deep.equal(nothing);
      expect(await outcomes(field.keeper, null)).to.deep.equal(modifies);
      await grantTo(hawser.admin, field.keeper, 'Modify', { ...ofDefault, restricted: false });
      await ok(204, hawser.admin.delete(revoking(field.keeper, ofDefault)));
      expect(await outcomes(field.team, null)).to.deep.equal(reads);
    });
  });

  it('follow a value to its new name, and a new value of the old one has none of them', async () => {
    const path = `${SCOPE_TYPES}/${field.type}/values`;
    await ok(200, hawser.admin.put(`${path}/${field.prod}`, { value: 'production' }));
    expect(await outcomes(field.team, 'production')).to.deep.equal(nothing);
    expect(await outcomes(field.keeper, 'production')).to.deep.equal(manages);
    const again = await createScopeValue(hawser, field.type, 'prod');
    const wish = { configuration: 'web', scopeType: 'Environment', value: 'prod' };
    await saveParameters(hawser, { ...wish, content: 'parameters: {note: open}\n' });
    expect(await outcomes(field.team, 'prod')).to.deep.equal(reads);
    expect(await outcomes(field.keeper, 'prod')).to.deep.equal(reads);
    await ok(204, hawser.admin.delete(`${path}/${again}?withParameters=true`));
    await ok(200, hawser.admin.put(`${path}/${field.prod}`, { value: 'prod' }));
  });

  it('of a node are of that node: neither its mark nor a grant passes to the next one of its name', async () => {
    const fqdn = 'own.example.org';
    const { nodeId } = await hawser.registerNode(fqdn);
    const wish = { configuration: 'web', scopeType: 'Node', value: fqdn };
    await saveParameters(hawser, { ...wish, content: `parameters: {note: ${SECRET}}\n` });
    const onNode = () => routesOf(hawser, { ...field, type: NODE_ID, value: fqdn });
    const statusOf = async (who: Client) => (await onNode())[0]?.call(who).then(({ status }) => status);
    await grantTo(hawser.admin, field.keeper, 'Manage', {
      ...{ scopeTypeId: NODE_ID, scopeValueId: nodeId, restricted: true },
    });
    expect(await statusOf(field.keeper)).to.equal(200);
    expect(await statusOf(field.team)).to.equal(404);
    await ok(204, hawser.admin.delete(`/api/v1/nodes/${nodeId}`));
    expect(await statusOf(field.team)).to.equal(404);
    await hawser.registerNode(fqdn);
    expect(await statusOf(field.keeper)).to.equal(404);
    expect(await statusOf(field.team)).to.equal(404);
    // The mark of a node that is gone can still be taken away.
    await grantTo(hawser.admin, field.keeper, 'Read', {
      ...{ scopeTypeId: NODE_ID, scopeValueId: nodeId, restricted: false },
    });
    expect(await statusOf(field.team)).to.equal(200);
  });

  describe('at last', () => {
    it('tell who publishes the configuration that a file of a restricted scope breaks its schema, and not why', async () => {
      const author = await makeUser(hawser, {
        username: 'author',
        grants: [{ on: 'configuration', name: 'web', level: 'Modify' }],
      });
      const document =
        '$schema: x\nparameters: {note: {type: string, allowedValues: [default]}}\nresources: []\n';
      await ok(201, addVersion(hawser.admin, 'web', { version: '1.1.0' }, { files: { [MAIN]: document } }));
      const refused = await expectProblem(publish(author, 'web', '1.1.0'), 409, 'incompatible_parameters');
      const affected: { scopeValue: string | null; needsMigration: boolean; errors: unknown[] }[] =
        refused.json.compatibilityReport.affectedParameterFiles;
      const of = (value: string) => affected.find(({ scopeValue }) => scopeValue === value);
      expect(of('prod')).to.deep.include({ needsMigration: true, errors: [] });
      expect(of('dev')?.errors).to.have.length(1);
    });

    it('do not go with a deletion of the value for which its files may not be managed', async () => {
      const eraser = await makeUser(hawser, {
        username: 'eraser',
        permissions: ['scopes.admin-override'],
        grants: [{ on: 'configuration', name: 'web', level: 'Manage' }],
      });
      const value = (id: string) => `${SCOPE_TYPES}/${field.type}/values/${id}?withParameters=true`;
      await expectProblem(eraser.delete(value(field.prod)), 403, 'forbidden');
      await ok(204, eraser.delete(value(field.dev)));
      await expectProblem(
        eraser.delete(`${SCOPE_TYPES}/${field.type}?withParameters=true`),
        403,
        'forbidden',
      );
    });
  });
});
