// everyday: SQLite; full: PostgreSQL
/** Registration keys that say what a node becomes. */

import { expect } from 'chai';
import { auditEntries } from '../support/audit.ts';
import { MAIN } from '../support/configurations.ts';
import { createKey, publishConfiguration, startHawser } from '../support/hawser.ts';
import {
  belongings,
  type JoiningValues,
  KEYS,
  keyGiving,
  makeScopes,
  newName,
  REGISTER,
  registerBy,
  tryRegister,
} from '../support/joining.ts';
import { poll, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { grant, makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { createScopeValue, SCOPE_TYPES } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const NOBODY = '00000000-0000-4000-8000-000000000000';

describe('a registration key with a profile', () => {
  const hawser = started(startHawser);
  let values: JoiningValues;
  let environment: string;
  const web = { configurationName: 'web', isComposite: false };

  before(async () => {
    const files = { [MAIN]: '$schema: x\nresources: []\n' };
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': files, '2.0.0': files });
    ({ environment, values } = await makeScopes(hawser));
  });

  const create = (profile: unknown) => hawser.admin.post(KEYS, { profile });
  const keyOf = async (secret: string) =>
    (await ok(200, hawser.admin.get(`${KEYS}?take=1000`))).find(({ keyPrefix }: { keyPrefix: string }) =>
      secret.startsWith(keyPrefix),
    );

  it('shows it whole, and gives it to each node at its first poll', async () => {
    const profile = { assignment: { ...web, majorVersion: 1 }, scopeValueIds: [values.prod, values.eu] };
    const made = await ok(201, create({ ...profile, fqdnPattern: 'Web-*.example.org' }));
    const shown = {
      assignment: { ...profile.assignment, prereleaseChannel: null, version: null },
      scopeValueIds: profile.scopeValueIds,
      fqdnPattern: 'web-*.example.org',
    };
    expect(made.profile).to.deep.equal(shown);
    expect(await keyOf(made.key)).to.deep.include({ profile: shown, lastUsedAt: null, nodes: 0 });
    const node = await registerBy(hawser, made.key, newName('web'));
    expect((await ok(200, poll(node))).version).to.equal('1.0.0');
    const has = { assigned: 'web', tags: [values.prod, values.eu].sort() };
    expect(await belongings(hawser, node.nodeId)).to.deep.equal(has);
    const entries = await auditEntries(hawser, `resourceId=${node.nodeId}`);
    for (const { details } of entries) expect(details).to.include({ registrationKeyId: made.id });
    expect(entries.map(({ action }) => action)).to.include.members([
      'node.registered',
      'node.configuration_assigned',
      'node.tagged',
    ]);
  });

  it('registers names of its pattern alone', async () => {
    const key = await keyGiving(hawser, { fqdnPattern: 'db-*.example.org' });
    for (const fqdn of ['web-1.example.org', 'db-1.eu.example.org', 'db-1.example.com'])
      await expectProblem(tryRegister(hawser, key, fqdn), 403, 'registration_key_rejected');
    const node = await registerBy(hawser, key, 'DB-9.example.org');
    expect(await belongings(hawser, node.nodeId)).to.deep.equal({ assigned: null, tags: [] });
    expect((await keyOf(key)).currentUses).to.equal(1);
  });

  it('tells which nodes came by it and are left, and when the last one came', async () => {
    const [key, other] = [
      await keyGiving(hawser, { scopeValueIds: [values.test] }),
      await createKey(hawser.admin),
    ];
    const nodes = [await registerBy(hawser, key), await registerBy(hawser, key)];
    const stranger = await registerBy(hawser, other);
    const { id, nodes: count, lastUsedAt } = await keyOf(key);
    expect(count).to.equal(2);
    expect(Date.parse(lastUsedAt)).to.be.closeTo(hawser.clock.now(), 60_000);
    const listed = async (query: string) =>
      (await ok(200, hawser.admin.get(`/api/v1/nodes?${query}`))).map((node: { id: string }) => node.id);
    expect(await listed(`registrationKeyId=${id}`)).to.have.members(nodes.map(({ nodeId }) => nodeId));
    expect(await listed(`registrationKeyId=${(await keyOf(other)).id}`)).to.deep.equal([stranger.nodeId]);
    expect(await listed(`registrationKeyId=${NOBODY}`)).to.deep.equal([]);
    const filter = { registrationKeyId: id };
    const gone = { action: 'Delete', filter, expectedCount: 2 };
    expect(await ok(200, hawser.admin.post('/api/v1/nodes/bulk', gone))).to.include({ done: 2 });
    expect(await keyOf(key)).to.include({ nodes: 0, currentUses: 2 });
  });

  it('leaves a node that registers again as it is', async () => {
    const key = await keyGiving(
      hawser,
      { assignment: web, scopeValueIds: [values.prod] },
      { allowReregistration: true },
    );
    const node = await registerBy(hawser, await createKey(hawser.admin));
    await ok(200, node.client.post(REGISTER, { registrationKey: key, fqdn: node.fqdn }));
    await ok(200, tryRegister(hawser, key, node.fqdn));
    expect(await belongings(hawser, node.nodeId)).to.deep.equal({ assigned: null, tags: [] });
    expect((await keyOf(key)).nodes, 'it is the key of the node now').to.equal(1);
  });

  it('is refused with faults, and makes no key', async () => {
    const count = (await hawser.admin.get(KEYS)).headers['x-total-count'];
    await expectProblem(create({ assignment: { configurationName: 'nothing' } }), 404, 'not_found');
    await expectProblem(create({ assignment: { ...web, isComposite: true } }), 404, 'not_found');
    await expectProblem(create({ scopeValueIds: [NOBODY] }), 404, 'not_found');
    await expectProblem(create({ assignment: { ...web, majorVersion: 7 } }), 409, 'no_eligible_version');
    for (const fqdnPattern of ['', 'a b', 'a..b', 'x/y', '.', 7])
      await expectInvalid(create({ fqdnPattern }), '/profile/fqdnPattern', String(fqdnPattern));
    await expectProblem(create({ scopeValueIds: [values.prod, values.test] }), 400, 'validation_failed');
    for (const profile of [7, 'web', []]) await expectInvalid(create(profile), '/profile');
    expect((await hawser.admin.get(KEYS)).headers['x-total-count']).to.equal(count);
  });

  it('needs what assigning and tagging need, when it is made and when it is used', async () => {
    const permissions = ['registration-keys.manage', 'nodes.assign-configuration', 'nodes.write'] as const;
    const maker = await makeUser(hawser, { username: 'maker', permissions });
    const weak = await maker.withToken('registration-keys.manage', 'configurations.grants');
    const wish = { profile: { assignment: web, scopeValueIds: [values.prod] } };
    await expectProblem(maker.post(KEYS, wish), 404, 'not_found');
    await grant(hawser, maker, 'web', 'Read');
    await expectProblem(weak.post(KEYS, wish), 403, 'forbidden');
    await expectProblem(weak.post(KEYS, { profile: { scopeValueIds: [values.prod] } }), 403, 'forbidden');
    await ok(201, weak.post(KEYS, { profile: { fqdnPattern: 'a*' } }));
    const { key } = await ok(201, maker.post(KEYS, wish));
    const plain = await ok(201, maker.post(KEYS, { profile: { fqdnPattern: '*.example.org' } }));
    await registerBy(hawser, key);
    await grant(hawser, maker, 'web', null);
    const refused = newName();
    await expectProblem(tryRegister(hawser, key, refused), 403, 'registration_key_rejected');
    expect(await ok(200, hawser.admin.get(`/api/v1/nodes?fqdn=${refused}`))).to.deep.equal([]);
    const [entry] = await auditEntries(hawser, 'action=node.registration_refused');
    expect(entry?.details).to.include({ fqdn: refused, reason: 'registration key with a profile at fault' });
    await grant(hawser, maker, 'web', 'Read');
    await registerBy(hawser, key, refused);
    const { userId } = maker;
    await ok(204, hawser.admin.delete(`/api/v1/users/${userId}`));
    await expectProblem(tryRegister(hawser, key, newName()), 403, 'registration_key_rejected');
    await registerBy(hawser, plain.key);
  });

  it('is refused once something of it is gone, also if another one has the name', async () => {
    const files = { [MAIN]: '$schema: x\nresources: []\n' };
    await publishConfiguration(hawser.admin, 'short-lived', { '1.0.0': files });
    const staging = await createScopeValue(hawser, environment, 'staging');
    const byName = await keyGiving(hawser, { assignment: { configurationName: 'short-lived' } });
    const byValue = await keyGiving(hawser, { scopeValueIds: [staging] });
    await ok(204, hawser.admin.delete('/api/v1/configurations/short-lived'));
    await ok(204, hawser.admin.delete(`${SCOPE_TYPES}/${environment}/values/${staging}`));
    for (const key of [byName, byValue])
      await expectProblem(tryRegister(hawser, key, newName()), 403, 'registration_key_rejected');
    await publishConfiguration(hawser.admin, 'short-lived', { '1.0.0': files });
    await expectProblem(tryRegister(hawser, byName, newName()), 403, 'registration_key_rejected');
    expect((await keyOf(byName)).profile.assignment.configurationName).to.equal('short-lived');
  });

  it('gives all or nothing when several register at once by a key for three', async () => {
    const key = await keyGiving(hawser, { assignment: web, scopeValueIds: [values.test] }, { maxUses: 3 });
    const names = Array.from({ length: 8 }, () => newName());
    const replies = await Promise.all(names.map((fqdn) => tryRegister(hawser, key, fqdn)));
    const good = replies.filter(({ status }) => status === 200);
    expect(good).to.have.length(3);
    for (const { json } of good)
      expect(await belongings(hawser, json.nodeId)).to.deep.equal({ assigned: 'web', tags: [values.test] });
    expect(await keyOf(key)).to.include({ nodes: 3, currentUses: 3 });
  });

  it('brings the parameters of its tags', async () => {
    await saveParameters(hawser, {
      ...{ configuration: 'web', scopeType: 'Environment', value: 'prod' },
      content: 'parameters:\n  level: high\n',
    });
    const key = await keyGiving(hawser, { assignment: web, scopeValueIds: [values.prod] });
    expect(await pullParameters(await registerBy(hawser, key))).to.include('level: high');
  });
});
