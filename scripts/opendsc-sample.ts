/**
 * Makes a small OpenDSC site in a new folder, to try the move with: `npm run opendsc-sample -- FOLDER`. The folder gets what a
 * server has, and in `agent` what the agent of one of its nodes has.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeClientCertificate } from '../test/support/client-certificates.ts';
import { type Named, OpenDscSite } from '../test/support/opendsc/site.ts';

const NODE = 'web-01.example.org';
/** Shorter than a new password may be. */
const PASSWORD = 'open sesame';

async function main(): Promise<void> {
  const [given] = process.argv.slice(2);
  if (given === undefined) throw new Error('usage: npm run opendsc-sample -- FOLDER');
  const folder = resolve(given);
  if (existsSync(folder)) throw new Error(`${folder} is there already`);
  // OpenDSC's agent has a key of this kind.
  const { cert, key } = await makeClientCertificate({ commonName: NODE, rsa: true });
  const site = new OpenDscSite();
  const configurations = addConfigurations(site);
  addPeople(site, configurations.web);
  const node = addNodes(site, configurations, cert);
  const { location, files } = await site.write({ folder });
  // The database names the file all the same.
  rmSync(join(files, 'configurations/web/v0.9.0/main.dsc.yaml'));
  writeAgent(join(folder, 'agent'), { nodeId: node.id, pem: `${cert}${key}\n` });
  console.log(`The database is ${location}, and the files are in ${files}.`);
}

interface Configurations {
  web: Named;
  composite: Named;
  production: Named;
}

function addConfigurations(site: OpenDscSite): Configurations {
  const environment = site.scopeType({ name: 'Environment', precedence: 1, valueMode: 'Restricted' });
  const production = site.scopeValue(environment, 'production');
  const baseline = site.configuration({ name: 'baseline' });
  site.version(baseline, { files: { 'main.dsc.yaml': documentOf('clock') } });
  const web = site.configuration({ name: 'web', columns: { Description: 'Web servers' } });
  for (const version of ['0.9.0', '1.0.0', '1.1.0'])
    site.version(web, { version, files: { 'main.dsc.yaml': documentOf(`site ${version}`) } });
  const composite = site.composite({ name: 'web-server' });
  site.compositeVersion(composite, {}, { configuration: baseline }, { configuration: web });
  const give = (values: string, scope: object = {}) =>
    site.parameters({ configuration: web, text: `parameters: { ${values} }\n`, ...scope });
  give('port: 8080, workers: 2');
  give('workers: 8', { scopeType: environment, value: 'production' });
  give('port: 9090', { scopeType: site.nodeScope, value: NODE });
  return { web, composite, production };
}

const documentOf = (resource: string) => `$schema: https://aka.ms/dsc/schemas/v3/bundled/config/document.json
parameters:
  port: { type: int, defaultValue: 80 }
  workers: { type: int, defaultValue: 1 }
resources:
  - name: ${resource}
    type: Microsoft/OSInfo
`;

function addPeople(site: OpenDscSite, web: Named): void {
  const alice = site.user({ username: 'alice', password: PASSWORD });
  const team = site.group({ name: 'Web team' });
  const operator = site.rowsOf('Roles').find((role) => role['Name'] === 'Operator');
  site.member({ user: alice, group: team });
  site.member({ group: team, role: { id: String(operator?.['Id']), name: 'Operator' } });
  site.grant({ configuration: web, group: team, level: 'Modify' });
  site.add('PersonalAccessTokens', { UserId: alice.id, Name: 'build server' });
  site.registrationKey('the key in the image', { Description: 'for the image' });
}

function addNodes(site: OpenDscSite, { composite, production }: Configurations, certificate: string): Named {
  const given = { assignment: { composite }, tags: [production] };
  site.node({ fqdn: 'web-02.example.org', ...given });
  return site.node({ fqdn: NODE, certificate, ...given });
}

/** OpenDSC's agent keeps its certificate without a password. */
function writeAgent(folder: string, { nodeId, pem }: { nodeId: string; pem: string }): void {
  const certificates = join(folder, 'certs');
  mkdirSync(certificates, { recursive: true, mode: 0o700 });
  const source = join(certificates, 'client.pem');
  writeFileSync(source, pem, { mode: 0o600 });
  const target = join(certificates, 'client.pfx');
  execFileSync('openssl', ['pkcs12', '-export', '-passout', 'pass:', '-in', source, '-out', target]);
  rmSync(source);
  const settings = { LCM: { ConfigurationSource: 'Pull', PullServer: { NodeId: nodeId } } };
  writeFileSync(join(folder, 'appsettings.json'), `${JSON.stringify(settings, null, 2)}\n`);
}

await main();
