// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { unprotected } from '../support/change-sets.ts';
import type { Client, Reply } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, create } from '../support/configurations.ts';
import { startHawser } from '../support/hawser.ts';
import { etagOf, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const SERVER = '/api/v1/settings/validation';
const DEFAULTS = {
  requireSemVer: true,
  defaultParameterValidationMode: 'Strict',
  // As servers under test have it (test/support/unchecked-documents.ts).
  defaultDocumentChecks: 'None',
  allowConfigurationOverride: true,
  allowParameterValidationOverride: true,
  pushIdentity: 'Any',
};
const settingsOf = (name: string) => `${CONFIGURATIONS}/${name}/settings`;
const retentionOf = (name: string) => `${settingsOf(name)}/retention`;

const INHERITED = {
  isOverridden: false,
  requireSemVer: true,
  parameterValidationMode: 'Strict',
  documentChecks: 'None',
  variables: 'Off',
  protection: unprotected(),
  signing: { require: 'Off', allowedSigners: '', unsigned: { versions: 0, nodes: 0 } },
};
const NO_RETENTION = {
  isOverridden: false,
  enabled: null,
  keepVersions: null,
  keepDays: null,
  keepReleaseVersions: null,
};

function putIf(client: Client, path: string, etag: string, json: unknown): Promise<Reply> {
  return client.call('PUT', path, { json, headers: { 'If-Match': etag } });
}

describe('a configuration has settings of its own', () => {
  const hawser = started(startHawser);

  before(async () => {
    for (const name of ['web', 'levels', 'match', 'forbidden']) await ok(201, create(hawser.admin, name));
  });

  const get = (name = 'web') => ok(200, hawser.admin.get(settingsOf(name)));
  const put = (json: unknown, name = 'web') => hawser.admin.put(settingsOf(name), json);

  it("which are the server's at first", async () => {
    expect(await get()).to.deep.equal(INHERITED);
  });

  it('by any subset, of which null is inherited again', async () => {
    const loose = { ...INHERITED, isOverridden: true, requireSemVer: false };
    expect(await ok(200, put({ requireSemVer: false }))).to.deep.equal(loose);
    expect(await get()).to.deep.equal(loose);
    const both = { ...loose, parameterValidationMode: 'Warn' };
    expect(await ok(200, put({ parameterValidationMode: 'wARN' }))).to.deep.equal(both);
    expect(await ok(200, put({}))).to.deep.equal(both);
    await hawser.restart();
    expect(await get()).to.deep.equal(both);
    const mode = { ...INHERITED, isOverridden: true, parameterValidationMode: 'Warn' };
    expect(await ok(200, put({ requireSemVer: null }))).to.deep.equal(mode);
    expect(await ok(200, put({ parameterValidationMode: null }))).to.deep.equal(INHERITED);
    const same = { ...INHERITED, isOverridden: true, parameterValidationMode: 'None' };
    expect(await ok(200, put({ requireSemVer: true, parameterValidationMode: 'None' }))).to.deep.equal(same);
    const reply = await hawser.admin.delete(settingsOf('web'));
    expect([reply.status, reply.bytes.length]).to.deep.equal([204, 0]);
    expect(await get()).to.deep.equal(INHERITED);
    await ok(204, hawser.admin.delete(settingsOf('web')));
  });

  it('but none of other names or values', async () => {
    const bad = [
      { parameterValidationMode: 'strictly' },
      { parameterValidationMode: 1 },
      { parameterValidationMode: '' },
      { requireSemVer: 'false' },
      { requireSemVer: 0 },
      { isOverridden: true },
      { requireSemVer: false, keepVersions: 1 },
      { defaultParameterValidationMode: 'Warn' },
      [],
      null,
      'x',
    ];
    for (const json of bad) await expectProblem(put(json), 400, 'validation_failed', JSON.stringify(json));
    expect(await get()).to.deep.equal(INHERITED);
  });

  it('of no configuration that is not there', async () => {
    for (const path of [settingsOf('nothing'), retentionOf('nothing')]) {
      await expectProblem(hawser.admin.get(path), 404, 'not_found');
      await expectProblem(hawser.admin.put(path, {}), 404, 'not_found');
      await expectProblem(hawser.admin.delete(path), 404, 'not_found');
    }
  });

  it("which are the server's from the first version on", async () => {
    await ok(200, hawser.admin.put(SERVER, { requireSemVer: false, defaultParameterValidationMode: 'Warn' }));
    await ok(201, create(hawser.admin, 'first', { version: 'winter' }));
    const inherited = { ...INHERITED, requireSemVer: false, parameterValidationMode: 'Warn' };
    expect(await get('first')).to.deep.equal(inherited);
    await ok(200, hawser.admin.put(SERVER, DEFAULTS));
    await expectProblem(create(hawser.admin, 'second', { version: 'winter' }), 400, 'validation_failed');
    expect(await get('first')).to.deep.equal(INHERITED);
  });

  it("where the server's settings let it, member by member and at once", async () => {
    const name = 'forbidden';
    const restrict = (json: object) => ok(200, hawser.admin.put(SERVER, json));
    await ok(200, put({ requireSemVer: false, parameterValidationMode: 'None' }, name));
    await restrict({ allowConfigurationOverride: false, defaultParameterValidationMode: 'Warn' });
    const mode = { ...INHERITED, isOverridden: true, parameterValidationMode: 'None' };
    expect(await get(name)).to.deep.equal(mode);
    await expectProblem(addVersion(hawser.admin, name, { version: 'winter' }), 400, 'validation_failed');
    for (const requireSemVer of [true, false]) {
      await expectProblem(put({ requireSemVer }, name), 409, 'override_not_allowed');
    }
    const both = put({ parameterValidationMode: 'Strict', requireSemVer: false }, name);
    await expectProblem(both, 409, 'override_not_allowed');
    expect(await get(name), 'all or nothing').to.deep.equal(mode);
    await ok(200, put({ parameterValidationMode: 'Warn' }, name));
    await restrict({ allowParameterValidationOverride: false });
    const none = { ...INHERITED, parameterValidationMode: 'Warn' };
    expect(await get(name)).to.deep.equal(none);
    await expectProblem(put({ parameterValidationMode: 'None' }, name), 409, 'override_not_allowed');
    expect(await ok(200, put({}, name))).to.deep.equal(none);
    await restrict({ allowConfigurationOverride: true, defaultParameterValidationMode: 'Strict' });
    expect(await get(name)).to.include({ isOverridden: true, requireSemVer: false });
    await ok(201, addVersion(hawser.admin, name, { version: 'winter' }));
    await expectProblem(put({ parameterValidationMode: 'None' }, name), 409, 'override_not_allowed');
    // Nobody is kept from giving an override up.
    await ok(200, put({ parameterValidationMode: null }, name));
    await ok(200, hawser.admin.put(SERVER, DEFAULTS));
    expect(await get(name)).to.include({ requireSemVer: false, parameterValidationMode: 'Strict' });
    await restrict({ allowConfigurationOverride: false });
    await ok(204, hawser.admin.delete(settingsOf(name)));
    await ok(200, hawser.admin.put(SERVER, DEFAULTS));
    expect(await get(name)).to.deep.equal(INHERITED);
  });

  it('changed only as they were read, where that is said, by one of many at once', async () => {
    const path = settingsOf('match');
    const etag = await etagOf(hawser.admin, path);
    await expectProblem(
      putIf(hawser.admin, path, '"x"', { requireSemVer: false }),
      412,
      'precondition_failed',
    );
    const removal = hawser.admin.call('DELETE', path, { headers: { 'If-Match': '"x"' } });
    await expectProblem(removal, 412, 'precondition_failed');
    expect(await get('match')).to.deep.equal(INHERITED);
    const changes = [
      { requireSemVer: false },
      { parameterValidationMode: 'Warn' },
      { parameterValidationMode: 'None' },
    ];
    const replies = await Promise.all(changes.map((json) => putIf(hawser.admin, path, etag, json)));
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([200, 412, 412]);
    const done = replies.find(({ status }) => status === 200);
    expect(await get('match')).to.deep.equal(done?.json);
    const current = { headers: { 'If-Match': await etagOf(hawser.admin, path) } };
    await ok(204, hawser.admin.call('DELETE', path, current));
    expect(await etagOf(hawser.admin, path), 'as it was').to.equal(etag);
    await ok(304, hawser.admin.get(path, { 'If-None-Match': etag }));
  });
});

describe('a configuration has a retention of its own', () => {
  const hawser = started(startHawser);

  before(async () => {
    for (const name of ['web', 'levels', 'match']) await ok(201, create(hawser.admin, name));
  });

  const get = (name = 'web') => ok(200, hawser.admin.get(retentionOf(name)));
  const put = (json: unknown) => hawser.admin.put(retentionOf('web'), json);

  it('of which nothing is set at first', async () => {
    expect(await get()).to.deep.equal(NO_RETENTION);
  });

  it('by any subset, nought included, of which null is inherited again', async () => {
    const zero = { ...NO_RETENTION, isOverridden: true, keepVersions: 0 };
    expect(await ok(200, put({ keepVersions: 0 }))).to.deep.equal(zero);
    const more = { ...zero, keepDays: 0, enabled: false, keepReleaseVersions: false };
    const rest = { keepDays: 0, enabled: false, keepReleaseVersions: false };
    expect(await ok(200, put(rest))).to.deep.equal(more);
    expect(await ok(200, put({}))).to.deep.equal(more);
    await hawser.restart();
    expect(await get()).to.deep.equal(more);
    const highest = {
      keepVersions: 2_147_483_647,
      keepDays: 36_500,
      enabled: true,
      keepReleaseVersions: true,
    };
    expect(await ok(200, put(highest))).to.deep.equal({ isOverridden: true, ...highest });
    const left = { ...NO_RETENTION, isOverridden: true, keepDays: 36_500 };
    const nulls = { keepVersions: null, enabled: null, keepReleaseVersions: null };
    expect(await ok(200, put(nulls))).to.deep.equal(left);
    expect(await ok(200, put({ keepDays: null }))).to.deep.equal(NO_RETENTION);
    await ok(200, put(highest));
    const reply = await hawser.admin.delete(retentionOf('web'));
    expect([reply.status, reply.bytes.length]).to.deep.equal([204, 0]);
    expect(await get()).to.deep.equal(NO_RETENTION);
    await ok(204, hawser.admin.delete(retentionOf('web')));
  });

  it('apart from the other settings', async () => {
    await ok(200, put({ keepDays: 7 }));
    await ok(200, hawser.admin.put(settingsOf('web'), { requireSemVer: false }));
    expect(await get()).to.deep.equal({ ...NO_RETENTION, isOverridden: true, keepDays: 7 });
    await ok(204, hawser.admin.delete(retentionOf('web')));
    expect(await ok(200, hawser.admin.get(settingsOf('web')))).to.include({ requireSemVer: false });
    await ok(200, put({ keepDays: 7 }));
    await ok(204, hawser.admin.delete(settingsOf('web')));
    expect(await get()).to.include({ keepDays: 7 });
    await ok(204, hawser.admin.delete(retentionOf('web')));
  });

  it('but none of other names or values', async () => {
    const bad = [
      ...['keepVersions', 'keepDays'].flatMap((name) =>
        [-1, 1.5, '3', true, 1e300, {}].map((value) => ({ [name]: value })),
      ),
      { enabled: 'true' },
      { enabled: 1 },
      { keepReleaseVersions: 'no' },
      { isOverridden: true },
      { keepCount: 1 },
      { keepVersions: 1, scheduleIntervalHours: 24 },
      [],
      null,
    ];
    for (const json of bad) await expectProblem(put(json), 400, 'validation_failed', JSON.stringify(json));
    expect(await get()).to.deep.equal(NO_RETENTION);
  });

  it('changed only as it was read, where that is said, by one of many at once', async () => {
    const path = retentionOf('match');
    await expectProblem(putIf(hawser.admin, path, '"x"', { keepDays: 1 }), 412, 'precondition_failed');
    expect(await get('match')).to.deep.equal(NO_RETENTION);
    const etag = await etagOf(hawser.admin, path);
    const days = [1, 2, 3, 4].map((keepDays) => putIf(hawser.admin, path, etag, { keepDays }));
    const replies = await Promise.all(days);
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([200, 412, 412, 412]);
    expect(await get('match')).to.deep.equal(replies.find(({ status }) => status === 200)?.json);
    const removal = hawser.admin.call('DELETE', path, { headers: { 'If-Match': etag } });
    await expectProblem(removal, 412, 'precondition_failed');
  });
});
