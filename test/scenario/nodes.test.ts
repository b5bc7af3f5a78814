import { expect } from 'chai';
import { MINUTE, SECOND } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Client, Reply } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { withDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import {
  createKey,
  type Hawser,
  type NodeUnderTest,
  publishConfiguration,
  startHawser,
} from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';

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
  'offeredVersion',
  'running',
];

describe('operators list and read nodes', () => {
  let hawser: Hawser;
  let web: NodeUnderTest;
  let db: NodeUnderTest;
  let scopeValueId: string;

  before(async () => {
    hawser = await startHawser();
    // Not in the order of their names.
    web = await hawser.registerNode('web-01.example.org');
    db = await hawser.registerNode('db-01.example.org');
    await hawser.registerNode('app-1.example.org');
    await publishConfiguration(hawser.admin, 'base', { '2.3.4': { 'main.dsc.yaml': 'x' } });
    const body = { configurationName: 'base', majorVersion: 2 };
    expect((await hawser.admin.put(`${NODES}/${web.nodeId}/configuration`, body)).status).to.equal(204);
    scopeValueId = await prepareRows(hawser, web.nodeId, db.nodeId);
  });

  after(() => hawser.close());

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

  for (const [query, expected] of [
    ['?fqdn=01', ['db-01', 'web-01']],
    ['?fqdn=WEB', ['web-01']],
    ['?fqdn=example.org', ['app-1', 'db-01', 'web-01']],
    ['?fqdn=nowhere', []],
    ['?fqdn=%25', []],
    ['?fqdn=_', []],
    ['?fqdn=web_01', []],
    ['?fqdn=%27%20or%201%3D1--', []],
    ['?status=NonCompliant', ['db-01']],
    ['?status=noncompliant', ['db-01']],
    ['?status=Unknown', ['app-1', 'web-01']],
    ['?lcmStatus=Idle', ['db-01']],
    ['?configurationName=base', ['web-01']],
    ['?configurationName=BASE', []],
    ['?configurationName=bas', []],
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
    ['?sort=-createdAt', ['app-1', 'db-01', 'web-01']],
    ['?sort=status', ['db-01', 'app-1', 'web-01']],
    ['?sort=-status', ['app-1', 'web-01', 'db-01']],
    ['?fqdn=db&configurationName=base', []],
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
    '?take=0',
    '?take=1001',
    '?take=ten',
    '?take=1.5',
    '?skip=-1',
    '?skip=',
    '?status=Error&status=Unknown',
    '?sort=id',
    '?sort=fqdn,status',
    '?sort=fqdn&sort=status',
    '?evidence=Seen',
    '?unassigned=1',
    '?certificateExpiring=soon',
  ]) {
    it(`answers 400 to ${query}`, async () => {
      const reply = await list(query);
      expect(reply.status).to.equal(400);
      expect(reply.json.code).to.equal('validation_failed');
      expect(reply.json.errors[0].path).to.match(/^\/\w+$/);
    });
  }

  it('pages, with the total and a link to the next page that keeps the filters', async () => {
    const first = await list('?fqdn=example&take=2');
    expect(first.json.length).to.equal(2);
    expect(first.headers['x-total-count']).to.equal('3');
    const next = /^<([^>]+)>; rel="next"$/.exec(String(first.headers['link']))?.[1];
    const second = await hawser.admin.get(next ?? '');
    expect(second.status).to.equal(200);
    expect(second.json.map((node: { fqdn: string }) => node.fqdn)).to.deep.equal(['web-01.example.org']);
    expect(second.headers['link']).to.equal(undefined);
    const beyond = await list('?skip=9');
    expect(beyond.json).to.deep.equal([]);
    expect(beyond.headers['x-total-count']).to.equal('3');
  });

  it('shows certificate, assignment and tags in the detail, which has an ETag', async () => {
    const reply = await hawser.admin.get(`${NODES}/${web.nodeId}/`);
    expect(reply.status).to.equal(200);
    expect(reply.json).to.have.all.keys(...SUMMARY, 'certificate', 'assignment', 'tags', 'running');
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
    const etag = String(reply.headers['etag']);
    const again = await hawser.admin.get(`${NODES}/${web.nodeId}`, { 'If-None-Match': etag });
    expect(again.status).to.equal(304);
    expect((await details(db)).assignment).to.equal(null);
    expect((await details(db)).tags).to.deep.equal([]);
  });

  for (const id of [newId(), 'web-09.example.org', '1', '%00', '..%2Fregister'] as const) {
    it(`answers 404 to the id ${id}`, async () => {
      const reply = await hawser.admin.get(`${NODES}/${id}`);
      expect(reply.status).to.equal(404);
      expect(reply.json.code).to.equal('not_found');
    });
  }

  it('knows ids in lower case only', async () => {
    expect((await hawser.admin.get(`${NODES}/${web.nodeId.toUpperCase()}`)).status).to.equal(404);
  });

  it('wants nodes.read', async () => {
    const stranger = await makeUser(hawser, { username: 'stranger', permissions: ['nodes.write'] });
    expect((await stranger.get(NODES)).status).to.equal(403);
    expect((await stranger.get(`${NODES}/${web.nodeId}`)).status).to.equal(403);
    const reader = await makeUser(hawser, { username: 'reader', permissions: ['nodes.read'] });
    expect((await reader.get(NODES)).status).to.equal(200);
    expect((await hawser.client().get(NODES)).status).to.equal(401);
  });
});

describe('a node that calls is seen, and one that does not becomes stale', () => {
  let hawser: Hawser;

  before(async () => {
    hawser = await startHawser();
  });

  after(() => hawser.close());

  const seen = async (nodeId: string): Promise<Reply['json']> =>
    (await hawser.admin.get(`${NODES}/${nodeId}`)).json;
  const stale = async (value: boolean): Promise<string[]> =>
    (await hawser.admin.get(`${NODES}?stale=${value}`)).json.map((node: { fqdn: string }) => node.fqdn);
  const poll = (client: Client, nodeId: string) => client.get(`${NODES}/${nodeId}/configuration/checksum`);

  async function registerWithInterval(fqdn: string, interval: string | null) {
    const identity = await makeClientCertificate({ commonName: fqdn });
    const client = hawser.client(identity);
    const registrationKey = await createKey(hawser.admin);
    const body = { registrationKey, fqdn, configurationModeInterval: interval };
    const reply = await client.post(`${NODES}/register`, body);
    expect(reply.status).to.equal(200);
    return { nodeId: String(reply.json.nodeId), identity, client };
  }

  it('notes a poll soon, whatever it is answered', async () => {
    const { nodeId, client } = await registerWithInterval('seen.example.org', null);
    expect((await seen(nodeId)).lastCheckIn).to.equal(null);
    const now = hawser.clock.now();
    expect((await poll(client, nodeId)).status).to.equal(404);
    await eventually(async () => {
      const { lastCheckIn } = await seen(nodeId);
      expect(Date.parse(lastCheckIn ?? '')).to.be.within(now, hawser.clock.now());
    });
  });

  it('is stale after twice its own interval without a call, and not a moment before', async () => {
    const { nodeId, client } = await registerWithInterval('quarter.example.org', 'PT15M');
    const silent = await registerWithInterval('silent.example.org', 'PT1S');
    const unknown = await registerWithInterval('unknown.example.org', null);
    await poll(client, nodeId);
    await poll(unknown.client, unknown.nodeId);
    // Written at the close.
    await hawser.restart();
    hawser.clock.advance(29 * MINUTE);
    expect((await seen(nodeId)).isStale).to.equal(false);
    hawser.clock.advance(MINUTE + SECOND);
    expect((await seen(nodeId)).isStale).to.equal(true);
    expect(await stale(true)).to.deep.equal(['quarter.example.org']);
    expect(await stale(false)).to.include.members(['silent.example.org', 'unknown.example.org']);
    // Either one is unknown: the last call here, the interval there.
    expect((await seen(silent.nodeId)).isStale).to.equal(false);
    expect((await seen(unknown.nodeId)).isStale).to.equal(false);
  });

  it('has its last call still after a restart, and is fresh again with the next one', async () => {
    const { nodeId, client, identity } = await registerWithInterval('restarted.example.org', '00:10:00');
    const before = hawser.clock.now();
    await poll(client, nodeId);
    await hawser.restart();
    const { lastCheckIn } = await seen(nodeId);
    expect(Date.parse(lastCheckIn)).to.be.within(before, hawser.clock.now());
    hawser.clock.advance(21 * MINUTE);
    expect((await seen(nodeId)).isStale).to.equal(true);
    await poll(hawser.client(identity), nodeId);
    await hawser.restart();
    expect((await seen(nodeId)).isStale).to.equal(false);
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
