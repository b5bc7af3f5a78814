// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { newId } from '../../src/lib/ids.ts';
import type { Reply } from '../support/client.ts';
import { withDatabase } from '../support/database.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const NODES = '/api/v1/nodes';
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SUMMARY = [
  'id',
  'fqdn',
  'configurationName',
  'status',
  'lcmStatus',
  'isStale',
  'lastCheckIn',
  'createdAt',
  'configurationSource',
  'configurationMode',
  'configurationModeInterval',
  'reportCompliance',
  'desiredConfigurationMode',
  'desiredConfigurationModeInterval',
  'desiredReportCompliance',
  'parameterProblems',
  'statusSince',
  'statusReason',
  'offeredVersion',
  'running',
];

describe('operators list and read nodes', () => {
  const hawser = started(startHawser);
  let web: NodeUnderTest;
  let db: NodeUnderTest;
  let scopeValueId: string;

  before(async () => {
    // Not in the order of their names.
    web = await hawser.registerNode('web-01.example.org');
    db = await hawser.registerNode('db-01.example.org');
    await hawser.registerNode('app-1.example.org');
    await publishConfiguration(hawser.admin, 'base', { '2.3.4': { 'main.dsc.yaml': 'x' } });
    const body = { configurationName: 'base', majorVersion: 2 };
    await ok(204, hawser.admin.put(`${NODES}/${web.nodeId}/configuration`, body));
    scopeValueId = await prepareRows(hawser, web.nodeId, db.nodeId);
  });

  const list = (query = ''): Promise<Reply> => hawser.admin.get(`${NODES}${query}`);
  const names = async (query: string): Promise<string[]> => {
    const reply = await list(query);
    expect(reply.status, query).to.equal(200);
    const found = reply.json.map((node: { fqdn: string }) => node.fqdn.split('.')[0]);
    expect(reply.headers['x-total-count']).to.equal(String(found.length));
    return found;
  };
  const details = async (node: NodeUnderTest): Promise<Reply['json']> =>
    (await hawser.admin.get(`${NODES}/${node.nodeId}`)).json;

  it('lists all by name, each with every member, null where there is nothing', async () => {
    expect(await names('')).to.deep.equal(['app-1', 'db-01', 'web-01']);
    const [app] = (await list()).json;
    expect(app).to.have.all.keys(SUMMARY);
    expect(app).to.deep.include({
      configurationName: null,
      status: 'Unknown',
      lcmStatus: 'Unknown',
      isStale: false,
      lastCheckIn: null,
      configurationSource: 'Pull',
      configurationMode: null,
      configurationModeInterval: null,
      reportCompliance: null,
      desiredConfigurationMode: null,
      desiredConfigurationModeInterval: null,
      desiredReportCompliance: null,
      offeredVersion: null,
      running: null,
    });
    expect(app.createdAt).to.match(TIMESTAMP);
  });

  // A test of the list in test/unit/api compares all filters with what each node is.
  for (const [query, expected] of [
    ['?fqdn=01', ['db-01', 'web-01']],
    ['?fqdn=WEB', ['web-01']],
    ['?fqdn=web_01', []],
    ['?fqdn=%27%20or%201%3D1--', []],
    ['?status=noncompliant', ['db-01']],
    ['?status=Unknown', ['app-1', 'web-01']],
    ['?lcmStatus=Idle', ['db-01']],
    ['?configurationName=base', ['web-01']],
    ['?configurationName=BASE', []],
    ['?stale=true', []],
    ['?stale=FALSE', ['app-1', 'db-01', 'web-01']],
    ['?fqdn=01&status=Unknown&configurationName=base', ['web-01']],
    ['?unassigned=true', ['app-1', 'db-01']],
    ['?unassigned=false', ['web-01']],
    ['?version=2.3.4', ['web-01']],
    ['?version=2.3', []],
    ['?evidence=Told', []],
    ['?certificateExpiring=true', []],
    ['?certificateExpiring=false&unassigned=true', ['app-1', 'db-01']],
    ['?sort=-fqdn', ['web-01', 'db-01', 'app-1']],
    ['?sort=createdAt', ['web-01', 'db-01', 'app-1']],
    ['?sort=status', ['db-01', 'app-1', 'web-01']],
  ] as [string, string[]][]) {
    it(`filters ${query}`, async () => {
      expect(await names(query)).to.deep.equal(expected);
    });
  }

  it('filters by scope value, with the other filters too', async () => {
    expect(await names(`?scopeValueId=${scopeValueId}`)).to.deep.equal(['web-01']);
    expect(await names(`?scopeValueId=${scopeValueId}&fqdn=db`)).to.deep.equal([]);
    expect(await names(`?scopeValueId=${newId()}`)).to.deep.equal([]);
  });

  for (const query of [
    '?status=Fine',
    '?status=',
    '?lcmStatus=Compliant',
    '?stale=yes',
    '?scopeValueId=1',
    '?status=Error&status=Unknown',
    '?sort=id',
    '?sort=fqdn,status',
    '?sort=fqdn&sort=status',
    '?evidence=Seen',
    '?unassigned=1',
    '?certificateExpiring=soon',
  ]) {
    it(`answers 400 to ${query}`, async () => {
      const reply = await expectProblem(list(query), 400, 'validation_failed');
      expect(reply.json.errors[0].path).to.match(/^\/\w+$/);
    });
  }

  it('shows certificate, assignment and tags in the detail', async () => {
    const reply = await hawser.admin.get(`${NODES}/${web.nodeId}/`);
    expect(reply.status).to.equal(200);
    expect(reply.json).to.have.all.keys(
      ...SUMMARY,
      'certificate',
      'assignment',
      'tags',
      'running',
      'statusCause',
      'lastReport',
    );
    expect(reply.json.certificate).to.have.all.keys(
      ...['thumbprint', 'awaiting', 'subject', 'notBefore', 'notAfter', 'pendingThumbprint'],
    );
    expect(reply.json.certificate).to.include({
      thumbprint: web.identity.thumbprint,
      awaiting: null,
      subject: 'CN=web-01.example.org',
      pendingThumbprint: null,
    });
    expect(reply.json.certificate.notBefore).to.match(TIMESTAMP);
    expect(reply.json.certificate.notAfter).to.match(TIMESTAMP);
    expect(reply.json.assignment).to.deep.equal({
      configurationName: 'base',
      isComposite: false,
      majorVersion: 2,
      prereleaseChannel: null,
      version: null,
      resolvedVersion: '2.3.4',
      pinnedToWithdrawn: false,
    });
    const [tag, ...others] = reply.json.tags;
    expect(others).to.deep.equal([]);
    expect(tag).to.have.all.keys(
      'nodeId',
      'scopeValueId',
      'scopeTypeId',
      'scopeTypeName',
      'scopeValue',
      'precedence',
      'assignedAt',
    );
    expect(tag).to.include({ nodeId: web.nodeId, scopeValueId, scopeTypeName: 'Site', scopeValue: 'berlin' });
    expect((await details(db)).assignment).to.equal(null);
    expect((await details(db)).tags).to.deep.equal([]);
  });
});

/** What the routes for reports, LCM status and tags would have written. @returns the scope value's id */
async function prepareRows(hawser: Hawser, webId: string, dbId: string): Promise<string> {
  const [typeId, valueId, now] = [newId(), newId(), Date.now()];
  const times = { description: null, created_at: now, updated_at: now };
  await withDatabase(hawser, async ({ write }) => {
    const type = { id: typeId, name: 'Site', name_key: 'site', precedence: 7, is_system: 0, is_enabled: 1 };
    await write
      .insertInto('scope_types')
      .values({ ...type, ...times, value_mode: 'Unrestricted' })
      .execute();
    await write
      .insertInto('scope_values')
      .values({ id: valueId, scope_type_id: typeId, value: 'berlin', value_key: 'berlin', ...times })
      .execute();
    const tag = { node_id: webId, scope_type_id: typeId, scope_value_id: valueId, assigned_at: now };
    await write.insertInto('node_tags').values(tag).execute();
    const state = { status: 'NonCompliant', lcm_status: 'Idle' };
    await write.updateTable('nodes').set(state).where('id', '=', dbId).execute();
  });
  return valueId;
}
