// full: SQLite, PostgreSQL
/** `hawser import-opendsc`: a site of OpenDSC moves, and what people, nodes and git find afterwards. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { auditEntries } from '../support/audit.ts';
import { makeClient } from '../support/client.ts';
import { type ClientCertificate, makeClientCertificate } from '../support/client-certificates.ts';
import { MAIN } from '../support/configurations.ts';
import { itOnPostgres } from '../support/engine.ts';
import { type Hawser, signIn, startHawser } from '../support/hawser.ts';
import {
  countsOf,
  importInto,
  reportOf,
  sourceWords,
  type Written,
  write,
} from '../support/opendsc/moving.ts';
import { type Named, NEVER, OpenDscSite } from '../support/opendsc/site.ts';
import { pullBundle, pullParameters } from '../support/parameter-files.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { runHawser, spawnHawser } from '../support/spawned.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 2, 1, 9, 30, 0, 123);
const METRICS_TOKEN = 'm'.repeat(40);
const KEY = 'c2l4dGVlbiBieXRlcyBhbmQgc2l4dGVlbiBtb3JlISE=';

/** As OpenDSC makes it of the `parameters` block that was uploaded. */
const UPLOADED = JSON.stringify({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    parameters: {
      type: 'object',
      properties: { port: { type: 'integer', minimum: 1 }, name: { type: 'string', enum: ['a', 'b'] } },
      required: ['port', 'name'],
      additionalProperties: false,
    },
  },
  required: ['parameters'],
  additionalProperties: false,
});

/** One site with some of every kind. */
class Site {
  readonly source = new OpenDscSite();
  readonly identity: ClientCertificate;
  node!: Named;
  farmNode!: Named;
  web!: Named;

  private constructor(identity: ClientCertificate) {
    this.identity = identity;
  }

  static async make(): Promise<Site> {
    const site = new Site(await makeClientCertificate({ commonName: 'web-1.example.org' }));
    site.fill();
    return site;
  }

  private fill(): void {
    const { source } = this;
    const region = source.scopeType({ name: 'Region', precedence: 5 });
    const eu = source.scopeValue(region, 'eu', { Description: 'Europe' });
    const zone = source.scopeType({ name: 'Zone', precedence: 7, valueMode: 'Unrestricted' });
    this.web = source.configuration({ name: 'web', columns: { Description: 'nginx', CreatedAt: START } });
    const versions = ['1.0.0', '1.1.0', '2.0.0-rc.1'];
    versions.forEach((version, at) => {
      const files = { [MAIN]: `$schema: x\n# ${version}\nresources: []\n`, 'files/motd': `${version}\n` };
      source.version(this.web, { version, files, createdAt: START + at * DAY });
    });
    source.version(this.web, {
      version: '3.0.0',
      status: 'Draft',
      createdAt: START + 9 * DAY,
      createdBy: 'dora',
    });
    const base = source.configuration({ name: 'base' });
    source.version(base, { version: '1.0.0' });
    const farm = source.composite({ name: 'farm', columns: { Description: 'all of it' } });
    source.compositeVersion(
      farm,
      { version: '1.0.0' },
      { configuration: this.web, version: '1.0.0' },
      { configuration: base },
    );
    this.node = source.node({
      fqdn: 'WEB-1.example.org',
      certificate: this.identity.cert,
      assignment: { configuration: this.web, prereleaseChannel: 'rc' },
      tags: [eu],
      columns: { Status: 'Compliant', LcmStatus: 'Idle', LastCheckIn: START + DAY },
    });
    this.farmNode = source.node({ fqdn: 'farm-1.example.org', assignment: { composite: farm } });
    const { nodeScope } = source;
    source.parameters({ configuration: this.web, text: 'parameters:\n  port: 80\n  name: all\n' });
    source.parameters({
      configuration: this.web,
      scopeType: region,
      value: 'eu',
      text: 'parameters:\n  name: eu\n',
    });
    source.parameters({ configuration: this.web, scopeType: zone, value: 'a', isPassthrough: true });
    const ambiguous = 'parameters:\n  name: all\n  zip: 01067\n  isOn: yes\n';
    source.parameters({ configuration: this.web, scopeType: zone, value: 'b', text: ambiguous });
    const own = { configuration: this.web, scopeType: nodeScope, value: 'WEB-1.example.org' };
    source.parameters({ ...own, text: '{"parameters":{"port":8080}}' });
    source.schema(this.web, { SchemaVersion: '9.0.0', GeneratedJsonSchema: UPLOADED, CreatedAt: NEVER });
    source.add('ConfigurationSettings', { ConfigurationId: this.web.id, RetentionKeepVersions: 5 });
    this.addPeople();
  }

  private addPeople(): void {
    const { source } = this;
    const alice = source.user({ username: 'alice', password: 'correct horse battery' });
    source.user({ username: 'locked', columns: { LockoutEnd: Date.UTC(2099, 0, 1), AccessFailedCount: 5 } });
    source.user({ username: 'gone', columns: { IsActive: false } });
    const robot = source.user({ username: 'robot', accountType: 'ServiceAccount' });
    const team = source.group({ name: 'Web team', columns: { Description: 'the web' } });
    const deployer = source.role({ name: 'Deployer', permissions: ['nodes.read', 'moon.reach'] });
    source.member({ user: alice, group: team });
    source.member({ group: team, role: deployer });
    source.member({ user: robot, role: deployer });
    source.grant({ configuration: this.web, group: team, level: 'Modify' });
    source.grant({ parametersOf: this.web, user: alice, level: 'Read' });
    source.registrationKey(KEY, { Description: 'rack 7', MaxUses: 3, CurrentUses: 1 });
    source.settings('ServerSettings', { StalenessMultiplier: 3, RetentionKeepDays: 365 });
  }
}

const KINDS_OF_SITE = {
  'scope types': [4, 2, 2, 0, 0],
  'scope values': [1, 1, 0, 0, 0],
  configurations: [2, 2, 0, 0, 0],
  versions: [5, 5, 0, 0, 0],
  schemas: [1, 1, 0, 0, 0],
  'parameter files': [5, 5, 0, 0, 0],
  composites: [1, 1, 0, 0, 0],
  'composite versions': [1, 1, 0, 0, 0],
  groups: [3, 1, 2, 0, 0],
  roles: [4, 1, 3, 0, 0],
  grants: [2, 2, 0, 0, 0],
  'registration keys': [1, 1, 0, 0, 0],
  nodes: [2, 2, 0, 0, 0],
  tags: [1, 1, 0, 0, 0],
  assignments: [2, 2, 0, 0, 0],
} as const;

type Counted = keyof typeof KINDS_OF_SITE;

describe('a site of OpenDSC that moves', () => {
  let site: Site;
  let written: Written;
  let hawser: Hawser;

  before(async () => {
    site = await Site.make();
    written = await write(site.source);
    hawser = await startHawser({ HAWSER_METRICS_TOKEN: METRICS_TOKEN });
  });
  after(async () => {
    await hawser.close();
    rmSync(written.files, { recursive: true });
  });

  /** How many nodes have not called yet, as the metrics say it. */
  const awaiting = async () => {
    const { text } = await hawser.client().get('/metrics', { Authorization: `Bearer ${METRICS_TOKEN}` });
    return /^hawser_nodes_awaiting (\d+)$/m.exec(text)?.[1];
  };

  const api = (path: string) => ok(200, hawser.admin.get(`/api/v1/${path}`));

  it('is described by a dry run, which writes nothing', async () => {
    const before = hawser.has('configurations/web.git');
    const ended = await importInto(hawser, written, {}, '--dry-run', '--json');
    const report = reportOf(ended);
    expect(ended.code).to.equal(0);
    for (const [kind, counts] of Object.entries(KINDS_OF_SITE))
      expect(countsOf(report, kind as Counted), kind).to.deep.equal(counts);
    expect(report.nodesAwaiting).to.equal(2);
    // The values themselves may be secrets.
    expect(report.ambiguous).to.deep.equal([
      { name: 'web Zone b 1.0.0', reason: 'line 3, column 8, and 1 more' },
    ]);
    expect(ended.stdout).to.not.include('01067');
    expect(await hawser.has('configurations/web.git')).to.equal(await before);
    for (const list of ['nodes', 'configurations', 'composite-configurations'])
      expect(await api(list), list).to.deep.equal([]);
  });

  itOnPostgres('is read with a password that is not on the command line', async () => {
    const url = new URL(written.location);
    const password = decodeURIComponent(url.password);
    url.password = '';
    const words = ['import-opendsc', '--database', url.href, '--files', written.files, '--dry-run'];
    expect((await runHawser(hawser.folder, {}, words)).code).to.equal(1);
    const { code, stderr } = await runHawser(hawser.folder, { PGPASSWORD: password }, words);
    expect(code, stderr).to.equal(0);
  });

  it('comes whole, and says the same as the dry run', async () => {
    const ended = await importInto(hawser, written, {}, '--json');
    const report = reportOf(ended);
    expect(ended.code).to.equal(0);
    for (const [kind, counts] of Object.entries(KINDS_OF_SITE))
      expect(countsOf(report, kind as Counted), kind).to.deep.equal(counts);
    expect(report.notCarried.filter(({ count }) => count > 0)).to.deep.equal([
      { kind: 'permissions that are unknown here', count: 1, names: ['Deployer: moon.reach'] },
    ]);
    expect(ended.stdout).to.not.include(KEY);
  });

  it('has its versions in git, with their dates, authors and order', async () => {
    const repository = 'configurations/web.git';
    const log = (ref: string) => hawser.git(repository, 'log', '--format=%s|%an|%aI', ref).trim().split('\n');
    expect(log('v1.1.0')).to.deep.equal([
      'web 1.1.0|OpenDSC|2026-03-02T09:30:00+00:00',
      'web 1.0.0|OpenDSC|2026-03-01T09:30:00+00:00',
    ]);
    expect(hawser.git(repository, 'rev-parse', 'main')).to.equal(
      hawser.git(repository, 'rev-parse', 'v1.1.0^{commit}'),
    );
    expect(hawser.git(repository, 'log', '-1', '--format=%an', 'draft/3.0.0').trim()).to.equal('dora');
    expect(hawser.git(repository, 'cat-file', '-t', 'v1.0.0').trim()).to.equal('tag');
    expect(hawser.git(repository, 'log', '-1', '--format=%b', 'v1.0.0')).to.include('imported from OpenDSC');
    expect(await api('configurations/web/versions/1.0.0')).to.deep.include({
      createdAt: '2026-03-01T09:30:00.123Z',
      publishedAt: '2026-03-01T09:30:00.123Z',
      createdBy: 'OpenDSC',
    });
  });

  it('serves a node what it got there, by the certificate that it has', async () => {
    const node = {
      nodeId: site.node.id,
      fqdn: 'web-1.example.org',
      identity: site.identity,
      client: hawser.client(site.identity),
    };
    expect(await api(`nodes/${node.nodeId}`)).to.deep.include({
      fqdn: 'web-1.example.org',
      status: 'Compliant',
      lcmStatus: 'Idle',
      lastCheckIn: new Date(START + DAY).toISOString(),
    });
    expect(await awaiting()).to.equal('2');
    const bundle = await pullBundle(node);
    expect(await awaiting()).to.equal('1');
    expect(bundle[MAIN]).to.equal('$schema: x\n# 2.0.0-rc.1\nresources: []\n');
    expect(bundle['files/motd']).to.equal('2.0.0-rc.1\n');
    expect(await pullParameters(node)).to.equal('parameters:\n  port: 8080\n  name: eu\n');
    const bound = await auditEntries(hawser, '?action=node.certificate_bound');
    expect(bound.map(({ resourceId }) => resourceId)).to.deep.equal([node.nodeId]);
    expect((await api(`nodes/${node.nodeId}`)).certificate.thumbprint).to.match(/^[0-9A-F]{64}$/);
  });

  it('lets its people in with their passwords, and nobody else', async () => {
    const user = makeClient(hawser.target());
    expect(await signIn(user, 'alice', 'correct horse battery')).to.be.a('string');
    user.close();
    const login = (username: string, password: string) =>
      hawser.client().post('/api/v1/auth/login', { username, password });
    await expectProblem(await login('alice', 'wrong'), 401, 'invalid_credentials');
    for (const name of ['locked', 'gone', 'robot'])
      await expectProblem(await login(name, 'correct horse'), 401, 'invalid_credentials');
  });

  it('keeps roles, groups, grants, keys and settings', async () => {
    const [group] = (await api('groups')).filter(({ name }: { name: string }) => name === 'Web team');
    const details = await api(`groups/${group.id}`);
    expect(details.members.map(({ username }: { username: string }) => username)).to.deep.equal(['alice']);
    expect(details.roles.map(({ name }: { name: string }) => name)).to.deep.equal(['Deployer']);
    const grants = await api('configurations/web/permissions');
    expect(
      grants.map(({ principalName, level }: Record<string, string>) => `${principalName} ${level}`),
    ).to.deep.equal(['Web team Modify']);
    const [key] = await api('admin/registration-keys');
    expect(key).to.include({ description: 'rack 7', maxUses: 3, currentUses: 1, isRevoked: false });
    expect(await api('configurations/web/settings/retention')).to.include({
      keepVersions: 5,
      keepDays: null,
    });
    const schema = await api('configurations/web/parameters?version=9.0.0');
    expect(schema.properties.parameters.properties.port).to.include({ type: 'integer', minimum: 1 });
    expect(await api('settings')).to.include({ stalenessMultiplier: 3 });
    expect((await api('scope-types')).map(({ name }: { name: string }) => name)).to.deep.equal([
      ...['Default', 'Region', 'Zone', 'Node'],
    ]);
  });

  it('registers new nodes with the keys that it had', async () => {
    const client = hawser.client(await makeClientCertificate({ commonName: 'new.example.org' }));
    await ok(200, client.post('/api/v1/nodes/register', { registrationKey: KEY, fqdn: 'new.example.org' }));
  });

  it('is there already when it is imported again, and stays as it is', async () => {
    const before = await auditEntries(hawser, '?take=1000');
    const report = reportOf(await importInto(hawser, written, {}, '--json'));
    for (const { kind, found, alreadyThere } of report.kinds) expect(alreadyThere, kind).to.equal(found);
    const after = await auditEntries(hawser, '?take=1000');
    expect(after.filter(({ actorName }) => actorName === 'import-opendsc')).to.deep.equal(
      before.filter(({ actorName }) => actorName === 'import-opendsc'),
    );
    expect(report.nodesAwaiting).to.equal(1);
  });

  it('awaits the certificate by which a node replaced its own there, unless it has called here', async () => {
    const { node, farmNode, identity, source } = site;
    const replaced = await makeClientCertificate({ commonName: 'farm-1.example.org' });
    source.replaceCertificate(farmNode, replaced.cert);
    source.replaceCertificate(node, (await makeClientCertificate({ commonName: 'web-1.example.org' })).cert);
    const again = await write(source);
    const ended = await importInto(hawser, again, {});
    rmSync(again.files, { recursive: true });
    expect(ended.code, ended.stderr).to.equal(0);
    expect(ended.stdout).to.match(/^There was nothing to import from /);
    expect(ended.stdout).to.match(/^ {2}nodes +2 +0 +2 +0 +0$/m);
    const awaited = await auditEntries(hawser, '?action=node.certificate_awaited');
    expect(awaited.map(({ resourceId }) => resourceId)).to.deep.equal([farmNode.id]);
    const checksum = (of: Named, certificate: ClientCertificate) =>
      hawser.client(certificate).get(`/api/v1/nodes/${of.id}/configuration/checksum`);
    await ok(200, checksum(farmNode, replaced));
    await ok(200, checksum(node, identity));
    expect(await awaiting()).to.equal('0');
  });

  it('gives doctor nothing to say', async () => {
    const { stdout, code } = await runHawser(hawser.folder, {}, ['doctor']);
    expect(code, stdout).to.equal(0);
    expect(stdout).to.include('0 errors');
  });
});

describe('the administrator of a site that moves', () => {
  let folder: string;
  let written: Written;

  before(async () => {
    written = await write(new OpenDscSite());
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-import-test-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  after(() => rmSync(written.files, { recursive: true }));

  const move = (settings: Record<string, string> = {}) =>
    runHawser(folder, { HAWSER_ADMIN_PASSWORD: '', ...settings }, [
      'import-opendsc',
      ...sourceWords(written),
    ]);

  /** What a sign-in with the password is answered with. */
  async function signInWith(password: string, settings: Record<string, string> = {}): Promise<number> {
    const server = await spawnHawser(folder, { HAWSER_ADMIN_PASSWORD: '', ...settings });
    try {
      const client = makeClient(await server.listening());
      const { status } = await client.post('/api/v1/auth/login', { username: 'admin', password });
      client.close();
      return status;
    } finally {
      server.child.kill('SIGTERM');
      await server.ended;
    }
  }

  it('signs in as there, where this server had only made a password', async () => {
    const { code, stdout } = await move();
    expect(code, stdout).to.equal(0);
    expect(existsSync(join(folder, 'data/initial-admin-password'))).to.equal(false);
    expect(await signInWith('admin')).to.equal(200);
  });

  it('keeps the password that was chosen here', async () => {
    const chosen = { HAWSER_ADMIN_PASSWORD: 'chosen by somebody' };
    const { code } = await move(chosen);
    expect(code).to.equal(0);
    expect(await signInWith('admin', chosen)).to.equal(401);
    expect(await signInWith('chosen by somebody', chosen)).to.equal(200);
  });
});
