// full: SQLite
/** A site that a release wrote which knew no secrets: test/fixtures/site-before-secrets.tgz, with nodes and checksums in facts.json. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import type { Finding } from '../../src/operations/doctor/findings.ts';
import { makeClient, type Target } from '../support/client.ts';
import { MAIN } from '../support/configurations.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { configurationId, configurationPath, saveParameters } from '../support/parameter-files.ts';
import { uploadSchema } from '../support/parameter-schemas.ts';
import { ok } from '../support/replies.ts';
import { createScopeType } from '../support/scopes.ts';
import { runHawser, type Spawned, spawnHawser } from '../support/spawned.ts';
import { started } from '../support/started.ts';
import { unzipTexts } from '../support/unzip.ts';
import { withdrawFile } from '../support/withdrawals.ts';

interface Facts {
  old: Record<string, string>;
  first: string;
  parametersYaml: string;
  nodes: Record<string, { id: string; certPem: string; keyPem: string; checksum: string }>;
}

async function lookOf(folder: string): Promise<{ summary: string; findings: Finding[]; text: string }> {
  const { stdout, stderr } = await runHawser(folder, {}, ['doctor', '--json']);
  const checks = JSON.parse(stdout).checks as { name: string; summary: string; findings: Finding[] }[];
  const look = checks.find(({ name }) => name === 'secrets');
  if (look === undefined) throw new Error(`There is no look at secrets: ${stdout}`);
  return { ...look, text: stdout + stderr };
}

describe('a site of a release before secrets', () => {
  let folder: string;
  let facts: Facts;
  let server: Spawned;
  let target: Target;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-before-'));
    execFileSync('tar', ['-C', folder, '-xzf', join(PROJECT, 'test/fixtures/site-before-secrets.tgz')]);
    facts = JSON.parse(readFileSync(join(folder, 'facts.json'), 'utf8'));
    expect((await lookOf(folder)).summary).to.match(/values in the clear were not looked for$/);
    server = await spawnHawser(folder);
    target = await server.listening();
  });
  after(async () => {
    server.child.kill('SIGTERM');
    await server.ended;
    rmSync(folder, { recursive: true, force: true });
  });

  it('goes over with the checksums and the bytes that its nodes had', async () => {
    const texts: string[] = [];
    for (const [fqdn, { id, certPem: cert, keyPem: key, checksum }] of Object.entries(facts.nodes)) {
      const node = makeClient(target, { cert, key });
      const path = configurationPath({ nodeId: id });
      expect((await ok(200, node.get(`${path}/checksum`))).checksum, fqdn).to.equal(checksum);
      const bundle = await node.get(`${path}/bundle`);
      texts.push((await unzipTexts(bundle.bytes))['parameters.yaml'] ?? '');
    }
    expect(texts).to.include(facts.parametersYaml);
  });

  it('has its secrets in the clear counted by the doctor, which shows none', async () => {
    const { findings, text } = await lookOf(folder);
    const told = findings.map(({ severity, where, what }) => `${severity} ${where}: ${what}`);
    expect(told).to.deep.equal([
      'warning parameters/legacy: 4 secrets stand in the clear in its newest files',
    ]);
    for (const secret of [...Object.values(facts.old), facts.first]) expect(text).to.not.include(secret);
  });

  it('is not said to hold none where a file cannot be read', async () => {
    const objects = join(folder, 'repos/parameters/legacy.git/objects');
    const aside = `${objects}.aside`;
    execFileSync('cp', ['-a', objects, aside]);
    try {
      for (const name of readdirSync(objects))
        if (/^[0-9a-f]{2}$/.test(name)) rmSync(join(objects, name), { recursive: true });
      const { findings } = await lookOf(folder);
      expect(findings).to.not.deep.equal([]);
      for (const { severity, where, what } of findings) {
        expect(`${severity} ${where}`).to.match(/^warning parameters\/legacy/);
        expect(what).to.match(/cannot be searched/);
      }
    } finally {
      execFileSync('cp', ['-a', '-n', `${aside}/.`, objects]);
      rmSync(aside, { recursive: true });
    }
  });
});

describe('secrets in the clear', () => {
  const hawser = started(startHawser);

  it('are counted in the highest file of each scope and major that is published and not withdrawn', async () => {
    const { admin } = hawser;
    await createScopeType(hawser, 'Environment');
    await publishConfiguration(admin, 'late', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    const save = (version: string, names: string[], more = {}) =>
      saveParameters(hawser, {
        ...{ configuration: 'late', version, ...more },
        content: `parameters: {${names.map((name) => `${name}: open-words`).join(', ')}}\n`,
      });
    await save('2.0.0', ['a', 'b', 'c', 'free']);
    await save('2.1.0', ['a', 'b']);
    await save('2.2.0', ['a', 'b', 'c']);
    await save('3.0.0', ['a']);
    await save('2.0.0', ['c', 'free'], { scopeType: 'Environment', value: 'prod' });
    const id = await configurationId(admin, 'late');
    await ok(200, withdrawFile(admin, { configurationId: id, version: '2.2.0' }));
    const count = async () => (await lookOf(hawser.folder)).findings.map(({ what }) => what);
    expect(await count()).to.deep.equal([]);
    const types = { a: 'secureString', b: 'secureString', c: 'secureString', free: 'string' };
    const declared = Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }]));
    for (const version of ['2.0.0', '3.0.0']) await ok(200, uploadSchema(admin, 'late', version, declared));
    expect(await count()).to.deep.equal(['4 secrets stand in the clear in its newest files']);
    await save('2.3.0', ['a', 'b', 'c']);
    expect(await count()).to.deep.equal(['2 secrets stand in the clear in its newest files']);
  });
});
