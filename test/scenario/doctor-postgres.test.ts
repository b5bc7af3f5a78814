// full: PostgreSQL
/** What the doctor and `hawser verify` find in repositories that are in PostgreSQL. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { examine } from '../../src/operations/doctor/doctor.ts';
import type { Finding } from '../../src/operations/doctor/findings.ts';
import { MAIN } from '../support/configurations.ts';
import { changeRows, copySite } from '../support/database.ts';
import { databaseSettings, describeOnPostgres, placeOf } from '../support/engine.ts';
import { git, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { materialisedFolder } from '../support/materialised.ts';
import { assign, configurationPath, saveParameters } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import { runHawser } from '../support/spawned.ts';

const WEB = 'configurations/web';
const ID = "(select id from git_repositories where kind = 'configurations' and name = 'web')";

describeOnPostgres('repositories', () => {
  let hawser: Hawser;
  let folder: string;
  let checksum: string;
  /** The ids of objects of version 1.0.0. */
  let oids: { tag: string; commit: string; tree: string; blob: string };

  before(async () => {
    hawser = await startHawser();
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n', 'etc/motd': 'hello\n' },
      '1.1.0': { [MAIN]: '$schema: y\nresources: []\n' },
    });
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {}' });
    const node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web');
    const { checksum: offered } = await ok(200, node.client.get(`${configurationPath(node)}/checksum`));
    checksum = String(offered);
    await ok(200, node.client.get(configurationPath(node)));
    await hawser.server.close();
    const gitdir = await cacheOf(hawser.folder);
    const oidOf = (name: string) => git(gitdir, 'rev-parse', name).trim();
    oids = {
      tag: oidOf('v1.0.0'),
      commit: oidOf('v1.0.0^{commit}'),
      tree: oidOf('v1.0.0:etc'),
      blob: oidOf('v1.0.0:etc/motd'),
    };
  });
  after(async () => {
    await hawser.restart();
    await hawser.close();
  });
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-doctor-'));
    await copySite(hawser.folder, folder);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  async function cacheOf(place: string): Promise<string> {
    const { databaseUrl } = await placeOf(join(place, 'data'));
    return materialisedFolder(join(place, 'repos'), databaseUrl, `${WEB}.git`);
  }

  async function find(): Promise<Finding[]> {
    const dataDir = join(folder, 'data');
    const settings = {
      HAWSER_DATA_DIR: dataDir,
      HAWSER_REPOS_DIR: join(folder, 'repos'),
      HAWSER_SECRETS_KEY_FILE: join(dataDir, 'secrets.key'),
    };
    const config = readConfig({ ...settings, ...(await databaseSettings(dataDir)) });
    const checks = await examine({ config, now: Date.now(), progress: () => undefined });
    return checks.flatMap(({ findings }) => findings);
  }

  const told = async () => (await find()).map(({ severity, where, what }) => `${severity} ${where}: ${what}`);
  const change = async (...statements: string[]) =>
    changeRows(await placeOf(join(folder, 'data')), ...statements);
  const bytesOf = (oid: string) => `repository_id = ${ID} and oid = decode('${oid}', 'hex')`;

  it('without a fault have no findings, whatever the cache holds', async () => {
    await cacheOf(folder);
    expect(await told()).to.deep.equal([]);
    rmSync(join(folder, 'repos'), { recursive: true });
    expect((await told()).filter((each) => !each.includes('/repos'))).to.deep.equal([]);
  });

  for (const [type, name] of [
    ['blob', 'blob'],
    ['tree', 'tree'],
    ['commit', 'commit'],
    ['object', 'tag'],
  ] as const)
    it(`lack an object, also while the cache holds it: ${name}`, async () => {
      await cacheOf(folder);
      await change(
        ...['git_objects', 'git_object_parts'].map((table) => {
          return `delete from ${table} where ${bytesOf(oids[name])}`;
        }),
      );
      const [found, ...others] = await told();
      expect(others).to.deep.equal([]);
      expect(found).to.match(new RegExp(`^error ${WEB} refs/\\S+: the ${type} ${oids[name]} is missing$`));
    });

  it('hold a broken object', async () => {
    await change(`update git_object_parts set bytes = substr(bytes, 1, 5) where ${bytesOf(oids.blob)}`);
    expect((await told()).join('\n')).to.match(new RegExp(`^error .*: the blob ${oids.blob} is broken.*$`));
  });

  it('hold a broken object that no ref leads to: a warning', async () => {
    const oid = 'ab'.repeat(20);
    await change(`insert into git_objects (repository_id, oid, type, size)
      values (${ID}, decode('${oid}', 'hex'), 'blob', 3)`);
    expect((await told()).join('\n')).to.match(new RegExp(`^warning ${WEB} ${oid}: .*no ref leads to it$`));
  });

  it('have a tag that is no version: no fault', async () => {
    await change(`insert into git_refs select ${ID}, 'refs/tags/nightly', oid from git_refs
      where repository_id = ${ID} and name = 'refs/heads/main'`);
    expect((await told()).join('\n')).to.match(/^information .*refs\/tags\/nightly/);
  });

  it('have no row, or a row has none', async () => {
    await change(`update git_repositories set name = 'lost' where id = ${ID}`);
    const found = await told();
    // Without its schemas nobody knows which of its parameters are secrets.
    expect(
      found.filter((each) => /^warning parameters\/web .* searched for secrets/.test(each)),
    ).to.have.length(1);
    expect(found.filter((each) => each.startsWith('error'))).to.have.members([
      'error configurations/web: there is a row and no repository',
      'error configurations/lost: there is a repository and no row',
    ]);
  });

  it('are not those in the cache, so a tag that was made there is named', async () => {
    git(await cacheOf(folder), 'tag', 'v7.0.0', 'v1.0.0');
    const [found, ...others] = await find();
    expect(others).to.deep.equal([]);
    expect(found).to.include({ severity: 'warning', where: `${WEB} refs/tags/v7.0.0` });
    expect(found?.remedy).to.include('hawser adopt');
  });

  it('are looked at for a checksum without the cache', async () => {
    await cacheOf(folder);
    const verified = await runHawser(folder, {}, ['verify', checksum]);
    expect(verified.stdout, verified.stderr).to.equal('match\n');
    await change(`delete from git_refs where repository_id = ${ID} and name = 'refs/tags/v1.1.0'`);
    const differs = await runHawser(folder, {}, ['verify', checksum]);
    expect(differs.stdout).to.match(/the tag is not there any more/);
    expect(differs.code).to.equal(1);
  });

  it('are used by servers of two releases, and by more than the connections suffice for', async () => {
    const insert = (count: number, version: string, age = '0 s') =>
      `insert into servers select gen_random_uuid(), '${version}', now() - interval '${age}'
        from generate_series(1, ${count})`;
    await change('delete from servers', insert(1, '0.3.0'), insert(1, '0.2.0', '2 minutes'));
    expect(await told()).to.deep.equal([]);
    await change(insert(99, '0.4.0'));
    expect((await told()).map((each) => each.replace(/^.*?: /, ''))).to.satisfy((all: string[]) => {
      const [first = '', second = ''] = all;
      return /100 servers take up to 1000$/.test(first) && /: 1 of 0\.3\.0, 99 of 0\.4\.0$/.test(second);
    });
  });
});
