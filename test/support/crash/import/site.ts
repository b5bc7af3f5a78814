/** A site of OpenDSC with some of every kind, and with things that are left out. */

import { type Named, NEVER, OpenDscSite } from '../../opendsc/site.ts';
import { hashPassword } from '../../opendsc/values.ts';

export const SOURCE_PASSWORD = 'the password of admin there';

const MAIN = 'main.dsc.yaml';
const START = Date.UTC(2026, 2, 1, 9, 30, 0, 123);
const DAY = 86_400_000;
/** More than is written in one step. */
const LARGE = 'a line of a large file\n'.repeat(5_000);

const JSON_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    parameters: { type: 'object', properties: { port: { type: 'integer' } }, required: ['port'] },
  },
};

export function makeSite(): OpenDscSite {
  const site = new OpenDscSite();
  const scopes = addScopes(site);
  const configurations = addConfigurations(site);
  const people = addPeople(site);
  addGrants(site, configurations, people);
  addSettings(site, configurations);
  addNodes(site, configurations, scopes);
  addParameters(site, configurations.web, scopes);
  return site;
}

type Scopes = ReturnType<typeof addScopes>;
type Configurations = ReturnType<typeof addConfigurations>;
type People = ReturnType<typeof addPeople>;

function addScopes(site: OpenDscSite) {
  const region = site.scopeType({ name: 'Region', precedence: 5 });
  const north = site.scopeValue(region, 'north', { Description: 'where it is cold' });
  const south = site.scopeValue(region, 'south');
  const zone = site.scopeType({ name: 'Zone', precedence: 7, valueMode: 'Unrestricted' });
  return { region, north, south, zone };
}

function addConfigurations(site: OpenDscSite) {
  const web = site.configuration({ name: 'web', columns: { Description: 'nginx', CreatedAt: START } });
  ['1.0.0', '1.1.0', '2.0.0-rc.1'].forEach((version, at) => {
    const files = { [MAIN]: `$schema: x\n# ${version}\nresources: []\n`, 'files/large': LARGE };
    site.version(web, { version, files, createdAt: START + at * DAY, createdBy: 'dora' });
  });
  site.version(web, { version: '3.0.0', status: 'Draft', createdAt: START + 9 * DAY });
  // Our rule for versions leaves it out.
  site.version(web, { version: '4', createdAt: START + 10 * DAY });
  const base = site.configuration({ name: 'base', columns: { UseServerManagedParameters: false } });
  for (const version of ['1.0.0', '1.0.1']) site.version(base, { version });
  const farm = site.composite({ name: 'farm', columns: { Description: 'all of it' } });
  const children = [{ configuration: web, version: '1.0.0' }, { configuration: base }] as const;
  site.compositeVersion(farm, { version: '1.0.0' }, ...children);
  site.compositeVersion(farm, { version: '1.1.0', status: 'Draft' }, children[1]);
  return { web, base, farm };
}

function addPeople(site: OpenDscSite) {
  Object.assign(site.rowsOf('Users')[0] ?? {}, hashPassword(SOURCE_PASSWORD));
  const alice = site.user({ username: 'alice' });
  const robot = site.user({ username: 'robot', accountType: 'ServiceAccount' });
  site.user({ username: 'gone', columns: { IsActive: false, AccessFailedCount: 3 } });
  const team = site.group({ name: 'Web team', columns: { Description: 'the web' } });
  const deployer = site.role({ name: 'Deployer', permissions: ['nodes.read', 'moon.reach'] });
  site.member({ user: alice, group: team });
  site.member({ group: team, role: deployer });
  site.member({ user: robot, role: deployer });
  site.add('ExternalGroupMappings', { ExternalGroupId: 'web-team', Provider: 'keycloak', GroupId: team.id });
  return { alice, team };
}

function addGrants(site: OpenDscSite, { web, farm }: Configurations, { alice, team }: People): void {
  site.grant({ configuration: web, group: team, level: 'Modify' });
  site.grant({ composite: farm, user: alice, level: 'Manage' });
  site.grant({ parametersOf: web, user: alice, level: 'Read' });
}

function addSettings(site: OpenDscSite, { base }: Configurations): void {
  site.settings('ServerSettings', { StalenessMultiplier: 3, RetentionKeepDays: 365 });
  site.settings('ValidationSettings', { DefaultParameterValidation: 'Warn' });
  const at = Date.UTC(2026, 1, 1);
  site.add('ConfigurationSettings', { ConfigurationId: base.id, RetentionKeepVersions: 3, UpdatedAt: at });
  site.registrationKey('c2l4dGVlbiBieXRlcyBhbmQgc2l4dGVlbiBtb3JlISE=', { Description: 'rack 7', MaxUses: 3 });
  site.registrationKey('YW5vdGhlciBrZXkgd2l0aCB0aGlydHkgdHdvIGJ5dGU=', {
    Description: 'old',
    IsRevoked: true,
  });
}

function addNodes(site: OpenDscSite, { web, farm }: Configurations, { north, south }: Scopes): void {
  const assignment = { configuration: web, prereleaseChannel: 'rc' };
  const columns = { Status: 'Compliant', LcmStatus: 'Idle', LastCheckIn: START + DAY };
  site.node({ fqdn: 'WEB-1.example.org', assignment, tags: [north], mode: 'Monitor', columns });
  site.node({
    fqdn: 'web-2.example.org',
    assignment: { configuration: web, majorVersion: 1 },
    tags: [south],
  });
  site.node({ fqdn: 'farm-1.example.org', assignment: { composite: farm } });
  // Names that are no ASCII are written in punycode here.
  site.node({ fqdn: 'bücher.example.org', tags: [north] });
}

function addParameters(site: OpenDscSite, web: Named, { region, zone }: Scopes): void {
  const of = { configuration: web };
  site.parameters({ ...of, text: 'parameters:\n  port: 80\n  name: all\n' });
  site.parameters({ ...of, version: '1.1.0', text: 'parameters:\n  port: 81\n', status: 'Draft' });
  site.parameters({ ...of, scopeType: region, value: 'north', text: 'parameters:\n  name: north\n' });
  site.parameters({ ...of, scopeType: zone, value: 'a', isPassthrough: true });
  site.parameters({ ...of, scopeType: zone, value: 'b', text: 'parameters:\n  name: b\n' });
  const { nodeScope } = site;
  const own = { ...of, scopeType: nodeScope, value: 'WEB-1.example.org' };
  site.parameters({ ...own, text: '{"parameters":{"port":8080}}' });
  site.parameters({ ...of, scopeType: nodeScope, value: 'nowhere.example.org' });
  site.schema(web, {
    GeneratedJsonSchema: JSON.stringify(JSON_SCHEMA),
    SchemaVersion: '1.0.0',
    CreatedAt: NEVER,
  });
}
