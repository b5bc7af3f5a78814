// full: SQLite
/** What becomes of things of an OpenDSC server that count as one here, or that belong to others there. */

import { appendFileSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { checkMove, countsOf, Moving } from '../support/opendsc/moving.ts';
import { NEVER } from '../support/opendsc/site.ts';
import { pullParameters } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';

const LOW = '00000000-0000-4000-8000-000000000001';
const COUNTS_AS_SAME = 'Another one that counts as the same comes before it';

describe('an import from OpenDSC takes', () => {
  const moving = new Moving();

  const api = (path: string) => ok(200, moving.hawser.admin.get(`/api/v1/${path}`));
  const reasonsOf = (left: readonly { reason: string }[]) => left.map(({ reason }) => reason);

  it('the users, groups and roles of every server by their exact names', async () => {
    const mallory = moving.site.user({ username: 'Admin', columns: { Id: LOW } });
    const group = moving.site.group({ name: 'ADMINISTRATORS', columns: { Id: LOW } });
    moving.site.member({ user: mallory, group });
    const role = moving.site.role({ name: 'operator', permissions: ['users.manage'], columns: { Id: LOW } });
    const bob = moving.site.user({ username: 'bob' });
    moving.site.member({ user: bob, role });
    const operator = moving.site.rowsOf('Roles').find(({ Name }) => Name === 'Operator');
    moving.site.member({ user: bob, role: { id: String(operator?.['Id']), name: 'Operator' } });
    const { leftOut } = await moving.move();
    for (const kind of ['users', 'groups', 'roles'] as const)
      expect(reasonsOf(leftOut(kind)), kind).to.deep.equal([COUNTS_AS_SAME]);
    const users = await api('users');
    expect(users.map(({ username }: { username: string }) => username)).to.deep.equal(['admin', 'bob']);
    const { roles } = await api(`users/${bob.id}`);
    expect(roles.map(({ name }: { name: string }) => name)).to.deep.equal(['Operator']);
    const administrators = (await api('groups')).find(
      ({ name }: { name: string }) => name === 'Administrators',
    );
    const { members } = await api(`groups/${administrators.id}`);
    expect(members.map(({ username }: { username: string }) => username)).to.deep.equal(['admin']);
  });

  it('files of scope values and nodes with those of exactly their names', async () => {
    const region = moving.site.scopeType({ name: 'Region', precedence: 5 });
    const eu = moving.site.scopeValue(region, 'EU', { Id: LOW });
    moving.site.scopeValue(region, 'eu', { Id: LOW.replace(/1$/, '2') });
    const web = moving.site.configuration({ name: 'web' });
    moving.site.version(web);
    moving.site.parameters({
      configuration: web,
      scopeType: region,
      value: 'EU',
      text: 'parameters: {who: EU}\n',
    });
    const later = { configuration: web, version: '1.1.0' };
    moving.site.parameters({ ...later, scopeType: region, value: 'eu', text: 'parameters: {who: eu}\n' });
    const identity = await makeClientCertificate({ commonName: 'a.example.org' });
    const assignment = { configuration: web };
    const node = moving.site.node({
      fqdn: 'a.example.org',
      certificate: identity.cert,
      assignment,
      tags: [eu],
    });
    moving.site.node({ fqdn: 'A.example.org', id: LOW });
    const own = { scopeType: moving.site.nodeScope, text: 'parameters: {name: lower}\n' };
    moving.site.parameters({ configuration: web, ...own, value: 'a.example.org' });
    moving.site.parameters({ ...later, ...own, text: 'parameters: {name: upper}\n', value: 'A.example.org' });
    const { leftOut, written } = await moving.move();
    expect(reasonsOf(leftOut('nodes'))).to.deep.equal([COUNTS_AS_SAME]);
    expect(reasonsOf(leftOut('parameter files'))).to.deep.equal([
      'Its scope value Region/eu is left out',
      'Its node A.example.org is left out',
    ]);
    const { id: nodeId, name: fqdn } = node;
    const parameters = await pullParameters({
      nodeId,
      fqdn,
      identity,
      client: moving.hawser.client(identity),
    });
    expect(parameters).to.equal('parameters:\n  who: EU\n  name: lower\n');
    const { differences } = (await checkMove(moving.hawser, written)).report;
    expect(differences.map((each) => each.fqdn)).to.deep.equal(['A.example.org']);
  });

  it('the highest of several grants on parameters, and schemas that were uploaded alone', async () => {
    const web = moving.site.configuration({ name: 'web' });
    const alice = moving.site.user({ username: 'alice' });
    const grant = { PrincipalType: 'User', PrincipalId: alice.id };
    for (const [id, PermissionLevel] of [
      [LOW, 'Read'],
      [LOW.replace(/1$/, '2'), 'Manage'],
      [LOW.replace(/1$/, '3'), 'Manage'],
    ] as const) {
      moving.site.schema(web, { Id: id });
      moving.site.add('ParameterPermissions', { ParameterId: id, PermissionLevel, ...grant });
    }
    const schema = { SchemaVersion: '1.0.0', GeneratedJsonSchema: '{}', CreatedAt: NEVER } as const;
    const ofVersion = moving.site.schema(web, schema);
    const version = moving.site.version(web);
    Object.assign(moving.site.rowsOf('ConfigurationVersions').find(({ Id }) => Id === version.id) ?? {}, {
      ParameterSchemaId: ofVersion.id,
    });
    const { report } = await moving.move();
    expect(countsOf(report, 'grants')).to.deep.equal([3, 1, 2, 0, 0]);
    expect(countsOf(report, 'schemas')).to.deep.equal([0, 0, 0, 0, 0]);
    expect(await api('configurations/web/parameters/permissions')).to.have.nested.property(
      '0.level',
      'Manage',
    );
  });

  it('no assignment to a composite whose versions are skipped', async () => {
    const web = moving.site.configuration({ name: 'web' });
    moving.site.version(web);
    const farm = moving.site.composite({ name: 'farm' });
    moving.site.compositeVersion(farm, {}, { configuration: web });
    moving.site.node({ fqdn: 'a.example.org', assignment: { composite: farm } });
    const { leftOut } = await moving.move({ words: ['--skip', 'composite versions'] });
    expect(reasonsOf(leftOut('assignments'))).to.deep.equal([
      'No published version of the composite farm fits this assignment',
    ]);
  });

  it('folders that are links, and --check tells of a file that was left out', async () => {
    const web = moving.site.configuration({ name: 'web' });
    moving.site.version(web);
    moving.site.parameters({ configuration: web, text: 'parameters: {port: 80}\n' });
    moving.site.node({ fqdn: 'a.example.org', assignment: { configuration: web } });
    const elsewhere = mkdtempSync(join(tmpdir(), 'hawser-import-test-'));
    moving.folders.push(elsewhere);
    const { report, written } = await moving.move({
      spoil(files) {
        appendFileSync(join(files, 'parameters/web/Default/v1.0.0/parameters.yaml'), '  \n');
        renameSync(join(files, 'configurations'), join(elsewhere, 'configurations'));
        symlinkSync(join(elsewhere, 'configurations'), join(files, 'configurations'));
      },
    });
    expect(countsOf(report, 'versions')).to.deep.equal([1, 1, 0, 0, 0]);
    expect(countsOf(report, 'parameter files')).to.deep.equal([1, 0, 0, 0, 1]);
    const { differences } = (await checkMove(moving.hawser, written)).report;
    expect(differences.map(({ path, there, here }) => ({ path, there, here }))).to.deep.equal([
      { path: 'parameters.yaml', there: { parameters: { port: 80 } }, here: null },
    ]);
  });

  it('external logins of the providers that this server has', async () => {
    const alice = moving.site.user({ username: 'alice' });
    moving.site.add('ExternalLogins', { UserId: alice.id, Provider: 'Acme', ProviderKey: 'a-1' });
    moving.site.add('ExternalLogins', { UserId: alice.id, Provider: 'other', ProviderKey: 'a-2' });
    const secret = join(moving.hawser.folder, 'client-secret');
    writeFileSync(secret, 'a client secret\n', { mode: 0o600 });
    const provider = { name: 'acme', label: 'Acme', issuer: 'https://id.example.org', clientId: 'hawser' };
    const file = join(moving.hawser.folder, 'providers.json');
    writeFileSync(file, JSON.stringify([{ ...provider, clientSecretFile: secret, allowedGroups: ['*'] }]));
    const settings = { HAWSER_OIDC_FILE: file, HAWSER_PUBLIC_URL: 'https://hawser.example.org' };
    for (const { report } of [await moving.move({ settings }), await moving.move({ settings })])
      expect(report.notCarried.filter(({ count }) => count > 0)).to.deep.equal([
        { kind: 'external logins', count: 1, names: ['alice (other)'] },
      ]);
    const [identity, ...others] = await api(`users/${alice.id}/identities`);
    expect(others).to.deep.equal([]);
    expect(identity).to.include({ provider: 'acme', issuer: 'https://id.example.org', subject: 'a-1' });
  });
});
