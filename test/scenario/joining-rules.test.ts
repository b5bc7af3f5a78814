// everyday: SQLite; full: PostgreSQL
/** Rules that give something to nodes when they register, by their names. */

import { expect } from 'chai';
import { auditEntries } from '../support/audit.ts';
import { publishWithChildren } from '../support/composites.ts';
import { MAIN } from '../support/configurations.ts';
import { createKey, publishConfiguration, startHawser } from '../support/hawser.ts';
import {
  belongings,
  type JoiningValues,
  keyGiving,
  makeScopes,
  newName,
  RULES,
  registerBy,
  tryRegister,
} from '../support/joining.ts';
import { saveParameters } from '../support/parameter-files.ts';
import { grant, makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { createScopeValue, SCOPE_TYPES } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const NOBODY = '00000000-0000-4000-8000-000000000000';

describe('the rules for nodes that register', () => {
  const hawser = started(startHawser);
  const files = { [MAIN]: '$schema: x\nresources: []\n' };
  const web = { configurationName: 'web', isComposite: false };
  let environment: string;
  let values: JoiningValues;

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': files, '2.0.0': files });
    await publishConfiguration(hawser.admin, 'db', { '1.0.0': files });
    await publishWithChildren(hawser.admin, 'site', '1.0.0', ['web']);
    ({ environment, values } = await makeScopes(hawser));
  });
  afterEach(() => put([]));

  const put = (rules: unknown) => hawser.admin.put(RULES, rules);
  const set = (...rules: object[]) => ok(200, put(rules));
  const read = () => ok(200, hawser.admin.get(RULES));
  const check = (...fqdns: string[]) => ok(200, hawser.admin.post(`${RULES}/check`, { fqdns }));
  const rule = (fqdnPattern: string, scopeValueIds: string[] = [], assignment: object | null = null) => ({
    ...{ fqdnPattern, scopeValueIds, assignment },
  });
  const whole = (assignment: object) => ({
    majorVersion: null,
    prereleaseChannel: null,
    version: null,
    ...assignment,
  });
  const join = async (fqdn = newName(), key?: string) => {
    const { nodeId } = await registerBy(hawser, key ?? (await createKey(hawser.admin)), fqdn);
    return belongings(hawser, nodeId);
  };

  it('are none at first, are replaced as a whole, and are in the audit trail', async () => {
    expect(await read()).to.deep.equal([]);
    const first = rule('A-*.Example.org', [values.prod], { ...web, majorVersion: 1 });
    const shown = {
      ...first,
      fqdnPattern: 'a-*.example.org',
      assignment: whole({ ...web, majorVersion: 1 }),
    };
    const second = rule('*.example.org', [values.eu, values.test]);
    expect(await set(first, second)).to.deep.equal([shown, second]);
    expect(await read()).to.deep.equal([shown, second]);
    await set(second);
    expect(await read()).to.deep.equal([second]);
    const [entry] = await auditEntries(hawser, 'action=settings.changed');
    expect(entry?.details).to.deep.include({
      settings: 'joining-rules',
      removed: ['a-*.example.org'],
      added: [],
    });
  });

  it('add tags of types that have none yet, and the first assignment counts', async () => {
    await set(
      rule('web-*.example.org', [values.prod]),
      rule('*-1.example.org', [values.test, values.us], { configurationName: 'db' }),
      rule('*.example.org', [values.eu], { configurationName: 'site', isComposite: true }),
    );
    expect(await check('WEB-1.example.org', 'web-2.example.org', 'x.org', 'no name')).to.deep.equal([
      {
        fqdn: 'WEB-1.example.org',
        scopeValueIds: [values.prod, values.us],
        assignment: whole({ configurationName: 'db', isComposite: false }),
      },
      {
        fqdn: 'web-2.example.org',
        scopeValueIds: [values.prod, values.eu],
        assignment: whole({ configurationName: 'site', isComposite: true }),
      },
      { fqdn: 'x.org', scopeValueIds: [], assignment: null },
      { fqdn: 'no name', scopeValueIds: [], assignment: null },
    ]);
    const has = { assigned: 'db', tags: [values.prod, values.us].sort() };
    expect(await join('WEB-1.example.org')).to.deep.equal(has);
    const node = await registerBy(hawser, await createKey(hawser.admin), 'other.org');
    expect(await belongings(hawser, node.nodeId)).to.deep.equal({ assigned: null, tags: [] });
  });

  it('come after the profile of the key, and after what an expected node was given', async () => {
    await set(rule('*.example.org', [values.test, values.us], { configurationName: 'db' }));
    const key = await keyGiving(hawser, { assignment: web, scopeValueIds: [values.prod] });
    expect(await join(newName(), key)).to.deep.equal({
      assigned: 'web',
      tags: [values.prod, values.us].sort(),
    });
    const tags = await keyGiving(hawser, { scopeValueIds: [values.eu] });
    expect(await join(newName(), tags)).to.deep.equal({
      assigned: 'db',
      tags: [values.test, values.eu].sort(),
    });
    const fqdn = newName();
    await ok(201, hawser.admin.post('/api/v1/nodes', { fqdn, assignment: web, scopeValueIds: [values.us] }));
    const { nodeId } = await registerBy(hawser, key, fqdn);
    expect(await belongings(hawser, nodeId)).to.deep.equal({
      assigned: 'web',
      tags: [values.us, values.prod].sort(),
    });
  });

  it('act at registration alone', async () => {
    const node = await registerBy(hawser, await createKey(hawser.admin));
    await set(rule('*.example.org', [values.prod], web));
    const registrationKey = await createKey(hawser.admin, { allowReregistration: true });
    await ok(200, node.client.post('/api/v1/nodes/register', { registrationKey, fqdn: node.fqdn }));
    await ok(200, tryRegister(hawser, registrationKey, node.fqdn));
    expect(await belongings(hawser, node.nodeId)).to.deep.equal({ assigned: null, tags: [] });
  });

  it('leave out what is gone', async () => {
    await publishConfiguration(hawser.admin, 'passing', { '1.0.0': files });
    const staging = await createScopeValue(hawser, environment, 'staging');
    await set(
      rule('*.example.org', [staging, values.eu], { configurationName: 'passing' }),
      rule('*.example.org', [values.test], { configurationName: 'db' }),
    );
    await ok(204, hawser.admin.delete('/api/v1/configurations/passing'));
    await ok(204, hawser.admin.delete(`${SCOPE_TYPES}/${environment}/values/${staging}`));
    const left = rule('*.example.org', [values.eu]);
    expect((await read())[0]).to.deep.equal(left);
    expect(await join()).to.deep.equal({ assigned: 'db', tags: [values.test, values.eu].sort() });
  });

  it('are refused with faults, and stay as they are', async () => {
    const good = rule('keep-*.example.org', [values.prod]);
    await set(good);
    await expectProblem(put([good, rule('x', [NOBODY])]), 404, 'not_found');
    await expectProblem(put([good, rule('x', [], { configurationName: 'nothing' })]), 404, 'not_found');
    await expectProblem(put([rule('x', [], { ...web, majorVersion: 7 })]), 409, 'no_eligible_version');
    await expectInvalid(put([good, rule('x', [values.prod, values.test])]), '/1/scopeValueIds');
    const { json } = await put([good, rule('x'), rule('Y-*.org', [], { configurationName: 'nothing' })]);
    expect(json.detail).to.equal('Rule 3, for y-*.org: No configuration of this name');
    for (const pattern of ['', 'a b', 'a..b', null, 3])
      await expectInvalid(put([{ ...good, fqdnPattern: pattern }]), '/0/fqdnPattern');
    for (const body of [{}, 'x', [1], [{ scopeValueIds: [] }], Array(1_001).fill(good)])
      await expectProblem(put(body), 400, 'validation_failed');
    const names = Array(1_001).fill('a.org');
    await expectInvalid(hawser.admin.post(`${RULES}/check`, { fqdns: names }), '/fqdns');
    expect(await read()).to.deep.equal([good]);
    expect(await set(...Array(1_000).fill(good))).to.have.length(1_000);
  });

  it('need the settings, and new ones what their members need', async () => {
    await set(rule('old-*.example.org', [values.prod], whole(web)));
    const permissions = ['server.settings.read', 'server.settings.write'] as const;
    const clerk = await makeUser(hawser, { username: 'clerk', permissions });
    const assigner = await makeUser(hawser, {
      username: 'assigner',
      permissions: [...permissions, 'nodes.assign-configuration', 'nodes.write'],
    });
    const reader = await makeUser(hawser, { username: 'reader', permissions: ['server.settings.read'] });
    const rules = await ok(200, clerk.get(RULES));
    const again = [rule('new.example.org'), ...rules];
    await ok(200, clerk.put(RULES, again));
    await expectProblem(clerk.put(RULES, [...again, rule('x', [values.prod])]), 403, 'forbidden');
    await expectProblem(clerk.put(RULES, [...again, rule('x', [], web)]), 403, 'forbidden');
    await expectProblem(assigner.put(RULES, [...again, rule('x', [], web)]), 404, 'not_found');
    await grant(hawser, assigner, 'web', 'Read');
    await ok(200, assigner.put(RULES, [...again, rule('x', [values.us], web)]));
    await saveParameters(hawser, {
      ...{ configuration: 'db', scopeType: 'Region', value: 'eu' },
      content: 'parameters:\n  secret: of-eu\n',
    });
    await expectProblem(assigner.put(RULES, [rule('x', [values.eu])]), 403, 'beyond_own_permissions');
    await expectProblem(reader.put(RULES, []), 403, 'forbidden');
    await ok(200, reader.post(`${RULES}/check`, { fqdns: [] }));
    await expectProblem(hawser.client().get(RULES), 401, 'unauthenticated');
    await expectProblem((await makeUser(hawser, { username: 'nobody' })).get(RULES), 403, 'forbidden');
  });

  it('do not let tags of a key give values that its maker may not read', async () => {
    await saveParameters(hawser, {
      ...{ configuration: 'db', scopeType: 'Environment', value: 'prod' },
      content: 'parameters:\n  secret: of-prod\n',
    });
    const permissions = ['registration-keys.manage', 'nodes.write'] as const;
    const tagger = await makeUser(hawser, { username: 'tagger', permissions });
    const { key } = await ok(
      201,
      tagger.post('/api/v1/admin/registration-keys', { profile: { scopeValueIds: [values.prod] } }),
    );
    await set(rule('db-*.example.org', [], { configurationName: 'db' }));
    await expectProblem(tryRegister(hawser, key, newName('db')), 403, 'registration_key_rejected');
    expect(await join(newName('web'), key)).to.deep.equal({ assigned: null, tags: [values.prod] });
  });
});
