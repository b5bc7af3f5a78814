/**
 * Makes a small site of an OpenDSC server in a new folder, to try the move with: `npm run opendsc-sample -- FOLDER`. The folder
 * gets the database, the files, and in `agent` the key and the certificate of one of its nodes.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeClientCertificate } from '../test/support/client-certificates.ts';
import { OpenDscSite } from '../test/support/opendsc/site.ts';

const NODE = 'web-01.example.org';

async function main(): Promise<void> {
  const [given] = process.argv.slice(2);
  if (given === undefined) throw new Error('usage: npm run opendsc-sample -- FOLDER');
  const folder = resolve(given);
  const { cert, key } = await makeClientCertificate({ commonName: NODE });
  const id = await fill(cert).write({ folder });
  const agent = join(folder, 'agent');
  mkdirSync(agent);
  writeFileSync(join(agent, 'client.crt'), cert);
  writeFileSync(join(agent, 'client.key'), key, { mode: 0o600 });
  console.log(`The database is ${id.location}, and the files are in ${id.files}.`);
}

function fill(certificate: string): OpenDscSite {
  const site = new OpenDscSite();
  const region = site.scopeType({ name: 'Region', precedence: 10 });
  const eu = site.scopeValue(region, 'eu');
  const web = site.configuration({ name: 'web' });
  for (const version of ['1.0.0', '1.1.0'])
    site.version(web, { version, files: { 'main.dsc.yaml': `# ${version}\nresources: []\n` } });
  site.version(web, { version: 'test build' });
  const base = site.configuration({ name: 'base' });
  site.version(base, { version: '1.0.0' });
  const farm = site.composite({ name: 'farm' });
  site.compositeVersion(farm, { version: '1.0.0' }, { configuration: web }, { configuration: base });
  site.parameters({ configuration: web, text: 'parameters:\n  port: 80\n' });
  site.parameters({ configuration: web, scopeType: region, value: 'eu', text: 'parameters:\n  port: 81\n' });
  site.parameters({
    configuration: web,
    scopeType: site.nodeScope,
    value: NODE,
    text: 'parameters:\n  name: one\n',
  });
  site.user({ username: 'alice', password: 'correct horse battery' });
  const id = '5f0e8c1a-7b26-4d3f-9a41-0c2d6e8b9f10';
  site.node({ id, fqdn: NODE, certificate, assignment: { configuration: web }, tags: [eu] });
  site.node({ fqdn: 'farm-01.example.org', assignment: { composite: farm } });
  return site;
}

await main();
