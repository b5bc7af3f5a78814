// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { DAY } from '../../src/lib/clock.ts';
import { entriesDuring, expectNoEntry, onlyEntry, shortly } from '../support/audit-table.ts';
import { publishWithChildren } from '../support/composites.ts';
import { CONFIGURATIONS, MAIN } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { configurationId, poll, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { cleanUp, deletedBy, NOTHING_KEPT } from '../support/retention.ts';
import { createScopeType, createScopeValue, SCOPE_TYPES, tagNode } from '../support/scopes.ts';
import { startedForEach } from '../support/started.ts';
import { fileVersionOf, type NamedFile, offerFileAgain, withdrawFile } from '../support/withdrawals.ts';

const SCHEMA = 'parameters:\n  port: {type: int}\n  tls: {type: bool, defaultValue: false}\n';
const MAIN_FILE = { [MAIN]: `$schema: x\n${SCHEMA}resources: []\n` };
const portOf = (port: number) => `parameters:\n  port: ${port}\n`;

describe('withdrawing a parameter file', () => {
  const hawser = startedForEach(startHawser);
  let web: string;

  beforeEach(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': MAIN_FILE });
    web = await configurationId(hawser.admin, 'web');
    await save('1.0.0', 1);
    await save('1.1.0', 2);
  });

  const save = (version: string, port: number, more: object = {}) =>
    saveParameters(hawser, { configuration: 'web', version, content: portOf(port), ...more });
  const file = (version: string, more: Partial<NamedFile> = {}): NamedFile => ({
    ...{ configurationId: web, version },
    ...more,
  });
  const show = (version: string, more: Partial<NamedFile> = {}) =>
    ok(200, hawser.admin.get(fileVersionOf(file(version, more))));
  const effect = (version: string, more: Partial<NamedFile> = {}) =>
    ok(200, hawser.admin.put(fileVersionOf(file(version, more), '/withdraw', 'dryRun=true')));
  const refs = () => hawser.git('parameters/web.git', 'for-each-ref', '--format=%(refname:short)').trim();

  async function nodeOn(configurationName: string, more: object = {}) {
    const node = await hawser.registerNode(`n-${Math.random()}.example.org`);
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await ok(204, hawser.admin.put(path, { configurationName, ...more }));
    return node;
  }

  /** A scope type with one value, at which a node is. */
  async function siteOf(node: { nodeId: string }, value = 'north') {
    const scopeTypeId = await createScopeType(hawser, 'Site', { valueMode: 'Restricted' });
    const scopeValueId = await createScopeValue(hawser, scopeTypeId, value);
    await tagNode(hawser, node.nodeId, scopeValueId);
    return { scopeTypeId, scopeValueId, value };
  }

  it('gives nodes the next lower file, nothing where none is left, and the file again afterwards', async () => {
    const node = await nodeOn('web');
    const checksum = async () => (await ok(200, poll(node))).checksum;
    const both = await checksum();
    const before = await show('1.1.0');
    expect(before).to.include({ withdrawn: null, rollout: null, signature: null });
    expect(before.author).to.include({ name: 'admin' });
    const after = await ok(200, withdrawFile(hawser.admin, file('1.1.0'), 'the port is taken\r\n'));
    const withdrawn = { at: after.withdrawn.at, by: 'admin', reason: 'the port is taken' };
    expect(await show('1.1.0')).to.deep.equal({ ...before, withdrawn });
    expect({ ...after, content: before.content, access: before.access }).to.deep.equal({
      ...before,
      withdrawn,
    });
    expect(await pullParameters(node)).to.contain('port: 1');
    const [offered] = await eventually(async () => {
      const path = `/api/v1/nodes/${node.nodeId}/timeline?kinds=Offered&take=1`;
      const found = await ok(200, hawser.admin.get(path));
      expect(found[0]?.details.cause?.action).to.equal('parameters.version_withdrawn');
      return found;
    });
    expect(offered.actorName).to.equal('admin');
    await ok(200, withdrawFile(hawser.admin, file('1.0.0')));
    expect(await pullParameters(node)).to.equal(null);
    const path = `${CONFIGURATIONS}/web/parameter-files`;
    const list = await ok(200, hawser.admin.get(path));
    const told = list.map((each: typeof after) => [each.version, each.status, each.withdrawn?.reason]);
    expect(told).to.deep.equal([
      ['1.1.0', 'Published', 'the port is taken'],
      ['1.0.0', 'Published', 'bad'],
    ]);
    for (const version of ['1.0.0', '1.1.0']) await ok(204, offerFileAgain(hawser.admin, file(version)));
    expect(await checksum()).to.equal(both);
    expect(await show('1.1.0')).to.deep.equal(before);
    hawser.git('parameters/web.git', 'fsck', '--strict');
  });

  it('is refused to drafts, unknown versions and other levels, needs a reason, and heeds the ETag', async () => {
    await save('1.2.0', 3, { publish: false });
    const before = refs();
    await expectNoEntry(hawser, 409, () => withdrawFile(hawser.admin, file('1.2.0')));
    await expectProblem(withdrawFile(hawser.admin, file('1.2.0')), 409, 'not_published');
    await expectProblem(withdrawFile(hawser.admin, file('9.0.0')), 404, 'not_found');
    await expectProblem(offerFileAgain(hawser.admin, file('1.1.0')), 404, 'not_found');
    for (const reason of ['', ' \n', 'x'.repeat(1_001), 7])
      await expectInvalid(
        hawser.admin.put(fileVersionOf(file('1.1.0'), '/withdraw'), { reason }),
        '/reason',
        String(reason),
      );
    await expectProblem(
      hawser.admin.put(fileVersionOf(file('1.2.0'), '/withdraw', 'dryRun=true')),
      409,
      'not_published',
    );
    await expectInvalid(withdrawFile(hawser.admin, file('1.1.0', { value: 'prod' })), '/scopeValue');
    expect(refs()).to.equal(before);
    const { etag } = (await hawser.admin.get(fileVersionOf(file('1.1.0')))).headers;
    const seen = hawser.admin.with({ 'If-Match': String(etag) });
    await ok(200, withdrawFile(seen, file('1.1.0')));
    await expectProblem(offerFileAgain(seen, file('1.1.0')), 412, 'precondition_failed');
    expect((await show('1.1.0')).withdrawn).to.not.equal(null);
  });

  it('leaves one entry, an event about the configuration, and nothing the second time', async () => {
    const admin = hawser.client().with({ Cookie: hawser.session });
    const entry = await onlyEntry(hawser, admin, (client) => withdrawFile(client, file('1.1.0'), 'first'));
    const { commit } = entry.details;
    const named = { name: 'web', scopeType: 'Default', scopeValue: null, version: '1.1.0', commit };
    const about = { resource_type: 'Parameters', resource_id: web };
    expect(shortly(entry)).to.deep.equal({
      ...{ action: 'parameters.version_withdrawn', ...about },
      details: { ...named, reason: 'first' },
    });
    expect(hawser.git('parameters/web.git', 'rev-parse', 'Default/v1.1.0^{commit}').trim()).to.equal(commit);
    const { entries } = await entriesDuring(hawser, () =>
      withdrawFile(hawser.admin, file('1.1.0'), 'second'),
    );
    expect(entries).to.deep.equal([]);
    expect((await show('1.1.0')).withdrawn.reason).to.equal('first');
    const back = await onlyEntry(hawser, admin, (client) => offerFileAgain(client, file('1.1.0')));
    expect(shortly(back)).to.deep.equal({
      ...{ action: 'parameters.version_offered_again', ...about },
      details: named,
    });
    const ofFiles = await eventually(async () => {
      const events = await ok(200, hawser.admin.get('/api/v1/events'));
      const found = events.filter(({ type }: { type: string }) => type.startsWith('parameters.'));
      expect(found).to.have.length(4);
      return found;
    });
    expect(ofFiles.map((each: Record<string, string>) => `${each['type']} ${each['subject']}`)).to.deep.equal(
      ['published', 'published', 'withdrawn', 'offered_again'].map(
        (what) => `parameters.version_${what} configurations/web`,
      ),
    );
  });

  it('says before exactly which nodes would get what, by which way', async () => {
    await publishConfiguration(hawser.admin, 'db', { '1.0.0': MAIN_FILE });
    await publishWithChildren(hawser.admin, 'farm', '1.0.0', ['web', 'db']);
    await publishWithChildren(hawser.admin, 'rack', '1.0.0', [{ name: 'web', activeVersion: '1.0.0' }]);
    const here = await nodeOn('web');
    const site = await siteOf(here);
    await nodeOn('web', { version: '1.0.0' });
    await nodeOn('farm', { isComposite: true });
    await nodeOn('rack', { isComposite: true });
    await nodeOn('db');
    await saveParameters(hawser, {
      ...{ configuration: 'web', scopeType: 'Node', value: here.fqdn, content: portOf(9) },
    });
    await save('1.0.0', 5, { scopeType: 'Site', value: site.value });
    const all = { nodes: 4, direct: 2, viaComposites: 2 };
    expect(await effect('1.1.0')).to.deep.equal({ ...all, wouldGet: [{ version: '1.0.0', nodes: 4 }] });
    expect(await effect('1.0.0')).to.deep.equal({
      ...{ nodes: 0, direct: 0, viaComposites: 0, wouldGet: [] },
    });
    const one = { nodes: 1, direct: 1, viaComposites: 0, wouldGet: [{ version: null, nodes: 1 }] };
    expect(await effect('1.0.0', site)).to.deep.equal(one);
    const node = { scopeTypeId: '00000000-0000-0000-0000-000000000002', value: here.fqdn };
    expect(await effect('1.0.0', node)).to.deep.equal(one);
    await ok(200, withdrawFile(hawser.admin, file('1.0.0')));
    expect(await effect('1.1.0')).to.deep.equal({ ...all, wouldGet: [{ version: null, nodes: 4 }] });
    await ok(200, withdrawFile(hawser.admin, file('1.1.0')));
    expect(await effect('1.1.0')).to.deep.include({ nodes: 0, wouldGet: [] });
  });

  it('takes the file from the candidates: for the active one, what drafts are compared with, and the kept newest', async () => {
    await save('1.2.0', 3, { publish: false });
    await ok(200, withdrawFile(hawser.admin, file('1.1.0')));
    const set = `/api/v1/parameters/00000000-0000-0000-0000-000000000001/${web}`;
    expect((await ok(200, hawser.admin.get(`${set}/majors/1`))).version).to.equal('1.0.0');
    expect((await ok(200, hawser.admin.get(`${set}/majors`)))[0]).to.include({
      ...{ versionCount: 3, hasActive: true, latestVersion: '1.2.0' },
    });
    const { hunks } = await ok(200, hawser.admin.get(`${set}/compare?to=1.2.0`));
    const removed = hunks[0].lines.filter(({ kind }: { kind: string }) => kind === 'Removed');
    expect(removed.map(({ text }: { text: string }) => text.trim())).to.deep.equal(['port: 1']);
    const check = await ok(200, hawser.admin.get(fileVersionOf(file('1.2.0'), '/publish-check')));
    expect(check.comparedWith).to.equal('1.0.0');
    hawser.clock.advance(2 * DAY);
    const wish = { ...NOTHING_KEPT, keepVersions: 1 };
    const result = await cleanUp(hawser.admin, 'parameters', wish);
    expect(deletedBy(result)).to.deep.equal(['web/Default 1.1.0']);
    expect(refs().split('\n')).to.deep.equal(['Default', 'draft/Default/1.2.0', 'Default/v1.0.0']);
    await ok(200, withdrawFile(hawser.admin, file('1.0.0')));
    await expectProblem(hawser.admin.get(`${set}/majors/1`), 404, 'not_found');
    expect((await ok(200, hawser.admin.get(`${set}/majors`)))[0].hasActive).to.equal(false);
  });

  it('stays with the file when its value or its type gets another name', async () => {
    const node = await nodeOn('web');
    const site = await siteOf(node);
    for (const [version, port] of [
      ['1.0.0', 5],
      ['1.1.0', 6],
    ] as const)
      await save(version, port, { scopeType: 'Site', value: site.value });
    await ok(200, withdrawFile(hawser.admin, file('1.1.0', site), 'not here'));
    const renamed = { ...site, value: 'south' };
    const values = `${SCOPE_TYPES}/${site.scopeTypeId}/values/${site.scopeValueId}`;
    await ok(200, hawser.admin.put(values, { value: 'south' }));
    expect(await pullParameters(node)).to.contain('port: 5');
    await ok(200, hawser.admin.put(`${SCOPE_TYPES}/${site.scopeTypeId}`, { name: 'Hall' }));
    expect(await pullParameters(node)).to.contain('port: 5');
    expect((await show('1.1.0', renamed)).withdrawn).to.include({ by: 'admin', reason: 'not here' });
    expect(refs().split('\n')).to.include('withdrawn/Hall/south/v1.1.0');
    expect(refs()).to.not.contain('withdrawn/Site');
    await ok(204, offerFileAgain(hawser.admin, file('1.1.0', renamed)));
    expect(await pullParameters(node)).to.contain('port: 6');
    const gone = await hawser.admin.call('DELETE', `${values}?withParameters=true`);
    expect(gone.status).to.equal(409);
  });

  it('reserves the names of its folders of tags', async () => {
    for (const name of ['withdrawn', 'Withdrawn', 'renamed'])
      await expectProblem(hawser.admin.post(SCOPE_TYPES, { name }), 400, 'reserved_name');
    const id = await createScopeType(hawser, 'Site');
    await expectProblem(
      hawser.admin.put(`${SCOPE_TYPES}/${id}`, { name: 'withdrawn' }),
      400,
      'reserved_name',
    );
  });

  it('is told apart from what publishing would refuse, which a check says', async () => {
    const check = (version: string, more: Partial<NamedFile> = {}) =>
      ok(200, hawser.admin.get(fileVersionOf(file(version, more), '/publish-check')));
    const codes = ({ blockers }: { blockers: { code: string }[] }) => blockers.map(({ code }) => code);
    await save('1.2.0', 3, { publish: false });
    expect(await check('1.2.0')).to.deep.equal({
      ...{ canPublish: true, blockers: [], compatibility: null, findings: [], comparedWith: '1.1.0' },
    });
    const published = await check('1.1.0');
    expect([published.canPublish, ...codes(published)]).to.deep.equal([false, 'already_published']);
    await expectProblem(hawser.admin.get(fileVersionOf(file('7.0.0'), '/publish-check')), 404, 'not_found');
    const node = await nodeOn('web');
    const own = { scopeTypeId: '00000000-0000-0000-0000-000000000002', value: node.fqdn };
    await save('1.0.0', 4, { scopeType: 'Node', value: node.fqdn, publish: false });
    await ok(200, hawser.admin.call('PATCH', `${SCOPE_TYPES}/${own.scopeTypeId}/disable`));
    const off = await check('1.0.0', own);
    expect([off.canPublish, off.comparedWith, ...codes(off)]).to.deep.equal([
      ...[false, null, 'scope_type_disabled'],
    ]);
    const refused = hawser.admin.put(fileVersionOf(file('1.0.0', own), '/publish'));
    await expectProblem(refused, 409, 'scope_type_disabled');
  });
});
