import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { sqliteBackupSource } from '../../src/db/sqlite/backup-source.ts';
import {
  type BackupSource,
  forgetDeleted,
  type Owner,
  type Snapshot,
  takeSnapshot,
} from '../../src/db/sqlite/snapshot.ts';
import { AtomicFs } from '../../src/git/atomic-fs.ts';
import { DISK, type Disk } from '../../src/git/disk.ts';
import { ArchiveWriter, FORMAT, type Manifest } from '../../src/operations/backup/archive.ts';
import { backUp } from '../../src/operations/backup/backup.ts';
import { RepositoryCopies } from '../../src/operations/backup/repository-copies.ts';
import { makeClient } from '../support/client.ts';
import { CONFIGURATIONS, create, MAIN, publish } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, poll, saveParameters } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import { publishVersions } from '../support/retention.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, tagNode } from '../support/scopes.ts';
import { spawnHawser } from '../support/spawned.ts';
import { unzip } from '../support/unzip.ts';
import { offerAgain, withdraw, withdrawFile } from '../support/withdrawals.ts';

const text = (word: string) => `$schema: x\nresources: [] # ${word}\n`;

/** A backup taken apart, so that things happen between its steps that would have to be lucky otherwise. */
class Steps {
  readonly copies: RepositoryCopies;
  private readonly archive: ArchiveWriter;
  private readonly folder: string;
  readonly databases: string[] = [];
  private readonly since: Promise<number>;
  readonly source: BackupSource;

  constructor(hawser: Hawser) {
    this.source = sqliteBackupSource(hawser.dataDir);
    this.since = this.source.newestAuditEntry();
    this.folder = join(hawser.folder, 'steps');
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder);
    this.archive = new ArchiveWriter(join(this.folder, 'archive'));
    this.copies = new RepositoryCopies({
      reposDir: hawser.reposDir,
      searchPath: process.env['PATH'] ?? '',
      staging: this.folder,
      archive: this.archive,
    });
  }

  async snapshot(): Promise<Snapshot> {
    const target = join(this.folder, `database-${this.databases.length}`);
    this.databases.push(target);
    return takeSnapshot(this.source, target, await this.since);
  }

  /** What a restore would write, by path. */
  async finish(snapshot: Snapshot): Promise<Map<string, string>> {
    const counts = await this.copies.finish(snapshot);
    const createdAt = '2026-01-01T00:00:00.000Z';
    await this.archive.finish({ format: FORMAT, hawser: '', createdAt, migration: '', counts });
    const found = await unzip(await readFile(join(this.folder, 'archive')));
    const files = new Map(found.map(({ path, content }) => [path, content.toString('latin1')]));
    const { entries }: Manifest = JSON.parse(files.get('manifest.json') ?? '');
    return new Map(entries.map(({ path }) => [path, files.get(path) ?? '']));
  }
}

/** The first column of what the query finds. */
function valuesIn(database: string, query: string): unknown[] {
  const handle = new SqliteDatabase(database);
  try {
    return handle.prepare(query).pluck().all();
  } finally {
    handle.close();
  }
}

describe('a backup while things go', () => {
  let hawser: Hawser;

  before(async () => {
    hawser = await startHawser();
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
      '1.1.0': { [MAIN]: '$schema: x\nresources: [] # 1.1\n' },
    });
  });
  after(() => hawser.close());

  const idOf = async (name: string): Promise<string> =>
    (await ok(200, hawser.admin.get(`${CONFIGURATIONS}/${name}`))).id;
  const configOf = (files: Map<string, string>, name: string) =>
    files.get(`repos/configurations/${name}.git/config`);

  it('keeps a published version that goes after the first look, and takes up what comes', async () => {
    const steps = new Steps(hawser);
    await steps.copies.takePass(null);
    const gone = hawser.git('configurations/web.git', 'rev-parse', 'refs/tags/v1.0.0').trim();
    hawser.git('configurations/web.git', 'update-ref', '-d', 'refs/tags/v1.0.0');
    const form = { fields: { version: '2.0.0' }, files: { [MAIN]: 'two\n' } };
    await ok(201, hawser.admin.upload(`${CONFIGURATIONS}/web/versions`, form));
    hawser.git('configurations/web.git', 'gc', '--quiet', '--prune=now');
    const snapshot = await steps.snapshot();
    await steps.copies.takePass(snapshot);
    expect(steps.copies.missing(snapshot)).to.deep.equal([]);
    const files = await steps.finish(snapshot);
    const refs = files.get('repos/configurations/web.git/packed-refs');
    expect(refs).to.contain(`${gone} refs/tags/v1.0.0\n^`);
    expect(refs).to.contain(' refs/heads/draft/2.0.0\n');
    expect([...files.keys()].filter((path) => path.endsWith('web.git/objects/pack/'))).to.deep.equal([]);
    expect([...files.keys()].filter((path) => /web\.git\/.*\.pack$/.test(path))).to.have.length(2);
  });

  it('has a configuration that is deleted after the moment of the database', async () => {
    await ok(201, create(hawser.admin, 'leaving'));
    const id = await idOf('leaving');
    const steps = new Steps(hawser);
    await steps.copies.takePass(null);
    const snapshot = await steps.snapshot();
    await ok(204, hawser.admin.delete(`${CONFIGURATIONS}/leaving`));
    await steps.copies.takePass(snapshot);
    expect(steps.copies.missing(snapshot)).to.deep.equal([]);
    expect(configOf(await steps.finish(snapshot), 'leaving')).to.contain(id);
  });

  it('has neither row nor repository of one that is deleted before that', async () => {
    await ok(201, create(hawser.admin, 'left'));
    const steps = new Steps(hawser);
    await steps.copies.takePass(null);
    await ok(204, hawser.admin.delete(`${CONFIGURATIONS}/left`));
    const snapshot = await steps.snapshot();
    await steps.copies.takePass(snapshot);
    expect(snapshot.owners.map(({ name }) => name)).not.to.contain('left');
    const files = await steps.finish(snapshot);
    expect([...files.keys()].filter((path) => path.includes('left'))).to.deep.equal([]);
  });

  it('does not take another configuration of the same name for the one that the database knows', async () => {
    await ok(201, create(hawser.admin, 'again'));
    const [first, steps] = [await idOf('again'), new Steps(hawser)];
    await steps.copies.takePass(null);
    const snapshot = await steps.snapshot();
    await ok(204, hawser.admin.delete(`${CONFIGURATIONS}/again`));
    await ok(201, create(hawser.admin, 'again'));
    await steps.copies.takePass(snapshot);
    expect(steps.copies.missing(snapshot)).to.deep.equal([]);
    expect(configOf(await steps.finish(snapshot), 'again')).to.contain(first);
  });

  it('takes the other one, and nothing of the first, when the database knows the other one', async () => {
    const steps = new Steps(hawser);
    await steps.copies.takePass(null);
    await ok(204, hawser.admin.delete(`${CONFIGURATIONS}/again`));
    await ok(201, create(hawser.admin, 'again', {}, { files: { [MAIN]: 'another\n' } }));
    const snapshot = await steps.snapshot();
    await steps.copies.takePass(snapshot);
    expect(steps.copies.missing(snapshot)).to.deep.equal([]);
    const files = await steps.finish(snapshot);
    expect(configOf(files, 'again')).to.contain(await idOf('again'));
    expect([...files.keys()].filter((path) => /again\.git\/.*\.pack$/.test(path))).to.have.length(1);
  });

  it('leaves out parameters whose configuration it did not see', async () => {
    const steps = new Steps(hawser);
    await steps.copies.takePass(null);
    const snapshot = await steps.snapshot();
    // As when both are made between the look at configurations and the look at parameters.
    const folder = join(hawser.reposDir, 'parameters/late.git');
    cpSync(join(hawser.reposDir, 'configurations/web.git'), folder, { recursive: true });
    await steps.copies.takePass(snapshot);
    rmSync(folder, { recursive: true });
    const files = await steps.finish(snapshot);
    expect([...files.keys()].filter((path) => path.includes('late.git'))).to.deep.equal([]);
    expect(configOf(files, 'web')).to.not.equal(undefined);
  });

  it('forgets a configuration that came and went between its looks, and no other', async () => {
    const steps = new Steps(hawser);
    await steps.copies.takePass(null);
    await ok(201, create(hawser.admin, 'short'));
    const early = await steps.snapshot();
    await ok(204, hawser.admin.delete(`${CONFIGURATIONS}/short`));
    await steps.copies.takePass(early);
    expect(steps.copies.missing(early).map(({ name }) => name)).to.deep.equal(['short']);
    const database = steps.databases.at(-1) ?? '';
    const forget = (owners: readonly Owner[]) =>
      forgetDeleted(steps.source, database, { snapshot: early, owners });
    expect(await forget(early.owners), 'with those that are still there').to.equal(null);
    const late = await forget(steps.copies.missing(early));
    expect(late?.owners.map(({ name }) => name)).to.not.include('short');
    expect(late?.owners).to.have.length(early.owners.length - 1);
    expect(valuesIn(database, 'SELECT name FROM configurations')).to.include('web').and.not.include('short');
  });

  describe('of its versions', () => {
    let written: string;
    let snapshot: Snapshot;
    const git = (repository: string, ...words: string[]) =>
      execFileSync('git', [`--git-dir=${join(written, 'repos', repository)}`, ...words], {
        encoding: 'utf8',
      });
    const refsOf = (repository: string) =>
      git(repository, 'for-each-ref', '--format=%(refname)').trim().split('\n');

    before(async () => {
      const { admin } = hawser;
      const name = 'busy';
      const versions = `${CONFIGURATIONS}/${name}/versions`;
      const draft = (version: string, content: string) =>
        ok(201, admin.upload(versions, { fields: { version }, files: { [MAIN]: content } }));
      const replace = (version: string, content: string) =>
        ok(200, admin.call('PUT', `${versions}/${version}`, { form: { files: { [MAIN]: content } } }));
      const edit = (version: string, status: number, body: string) =>
        ok(status, admin.call('PUT', `${versions}/${version}/files/b.txt`, { body }));
      const publishIt = (version: string) => ok(200, publish(admin, name, version));
      const drop = (version: string) => ok(204, admin.delete(`${versions}/${version}`));
      await ok(201, create(admin, name));
      await publishVersions(admin, 'taken', '1.0.0', '1.1.0', '1.2.0', '1.3.0', '1.4.0');
      const takeBack = (version: string, reason: string) =>
        ok(200, withdraw(admin, 'taken', version, reason));
      const offer = (version: string) => ok(204, offerAgain(admin, 'taken', version));
      for (const version of ['1.0.0', '1.1.0']) await takeBack(version, 'before');
      const parameters = `/api/v1/parameters/${DEFAULT_ID}/${await idOf(name)}`;
      const save = (version: string) =>
        ok(201, admin.put(parameters, { version, content: `parameters: {size: ${version}}` }));
      for (const version of ['1.1.0', '1.2.0', '1.3.0', '1.4.0', '1.5.0'])
        await draft(version, text('first'));

      const steps = new Steps(hawser);
      await steps.copies.takePass(null);
      await publishIt('1.1.0');
      await replace('1.2.0', text('second'));
      await drop('1.3.0');
      await draft('2.0.0', text('new'));
      await edit('1.0.0', 201, text('edited'));
      await save('1.0.0');
      await offer('1.0.0');
      await takeBack('1.2.0', 'between');
      await takeBack('1.3.0', 'between');
      snapshot = await steps.snapshot();
      await offer('1.1.0');
      await offer('1.3.0');
      await takeBack('1.0.0', 'after');
      await takeBack('1.4.0', 'after');
      await edit('1.0.0', 200, text('edited again'));
      await replace('1.2.0', text('third'));
      await draft('1.3.0', text('again'));
      await publishIt('1.4.0');
      await drop('1.5.0');
      await publishIt('2.0.0');
      await draft('3.0.0', text('late'));
      await ok(200, admin.put(`${parameters}/versions/1.0.0/publish`));
      await save('2.0.0');
      await ok(201, create(admin, 'late'));
      await steps.copies.takePass(snapshot);
      expect(steps.copies.missing(snapshot)).to.deep.equal([]);
      written = join(hawser.folder, 'written');
      for (const [path, content] of await steps.finish(snapshot)) {
        mkdirSync(dirname(join(written, path)), { recursive: true });
        writeFileSync(join(written, path), content, 'latin1');
      }
      for (const each of ['configurations/busy.git', 'configurations/taken.git', 'parameters/busy.git'])
        for (const folder of ['refs', 'objects'])
          mkdirSync(join(written, 'repos', each, folder), { recursive: true });
    });

    it('has what was there at the moment of the database, and nothing that came or went later', () => {
      const versions = refsOf('configurations/busy.git').filter((name) => /draft|tags/.test(name));
      const drafts = ['1.0.0', '1.2.0', '1.4.0', '1.5.0', '2.0.0'].map((name) => `refs/heads/draft/${name}`);
      expect(versions).to.deep.equal([...drafts, 'refs/tags/v1.1.0']);
      expect(refsOf('parameters/busy.git')).to.deep.equal(['refs/heads/draft/Default/1.0.0']);
      expect(snapshot.owners.map(({ name }) => name))
        .to.include('busy')
        .and.not.include('late');
      expect(existsSync(join(written, 'repos/configurations/late.git'))).to.equal(false);
    });

    it('has the withdrawals of that moment, as far as one of the looks saw them', () => {
      const format = '--format=%(refname:lstrip=3) %(contents:subject)';
      const found = git('configurations/taken.git', 'for-each-ref', format, 'refs/tags/withdrawn');
      expect(found.trim().split('\n')).to.deep.equal(['v1.1.0 before', 'v1.2.0 between']);
      git('configurations/taken.git', 'fsck', '--strict');
    });

    it('has the content of that moment, whole', () => {
      expect(git('configurations/busy.git', 'show', 'draft/1.0.0:b.txt')).to.equal(text('edited'));
      expect(git('configurations/busy.git', 'show', `draft/1.2.0:${MAIN}`)).to.equal(text('second'));
      expect(git('configurations/busy.git', 'show', `draft/2.0.0:${MAIN}`)).to.equal(text('new'));
      for (const repository of ['configurations/busy.git', 'parameters/busy.git'])
        git(repository, 'fsck', '--strict');
    });

    it('has an audit entry for each of its versions, with the commit', () => {
      const told = snapshot.changes.map(({ details }) => details).join('\n');
      const expectTold = (repository: string, name: string) =>
        expect(told, name).to.contain(git(repository, 'rev-parse', `${name}^{commit}`).trim());
      for (const name of ['draft/1.2.0', 'draft/2.0.0', 'v1.1.0'])
        expectTold('configurations/busy.git', name);
      expectTold('parameters/busy.git', 'draft/Default/1.0.0');
    });
  });

  it('has no version whose audit entry was still on its way', async () => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const tag = 'configurations/stalled.git/refs/tags/v1.0.0';
    // The disk answers late, so the entry is written long after the tag can be seen.
    const slow: Disk = {
      ...DISK,
      async rename(from, to) {
        await DISK.rename(from, to);
        if (to.endsWith(tag)) await released;
      },
    };
    const stalled = await startHawser({}, { fs: new AtomicFs(slow) });
    try {
      const { admin, folder, dataDir, reposDir } = stalled;
      await ok(201, create(admin, 'stalled'));
      const publishing = publish(admin, 'stalled', '1.0.0');
      await eventually(async () => expect(existsSync(join(reposDir, tag))).to.equal(true));
      const file = join(folder, 'backup.zip');
      const config = readConfig({ HAWSER_DATA_DIR: dataDir, HAWSER_REPOS_DIR: reposDir });
      let staging = '';
      const onStaging = (path: string) => {
        staging = path;
      };
      const made = backUp({ config, file, now: Date.now(), onStaging });
      // The backup notes what it has seen of each repository.
      const seen = () => readFileSync(join(staging, 'configurations-stalled.json'), 'utf8');
      await eventually(async () => expect(seen()).to.include('refs/tags/v1.0.0'));
      release();
      await ok(200, publishing);
      await made;
      const content = new Map((await unzip(await readFile(file))).map((each) => [each.path, each.content]));
      const database = join(folder, 'restored.db');
      writeFileSync(database, content.get('data/hawser.db') ?? '');
      expect(String(content.get('repos/configurations/stalled.git/packed-refs'))).to.contain('tags/v1.0.0');
      const audited = valuesIn(database, 'SELECT action FROM audit_entries');
      expect(audited).to.include('configuration.version_published');
    } finally {
      release();
      await stalled.close();
    }
  });

  describe('of a scope value that gets another name', () => {
    let stalled: Hawser;
    let node: NodeUnderTest;
    let path: string;
    let checksum: string;
    let waits: Promise<void> | null = null;
    /** The first version by the new name, which may come late. */
    const tag = 'parameters/named.git/refs/tags/Site/spree/v1.0.0';
    const slow: Disk = {
      ...DISK,
      async rename(from, to) {
        await DISK.rename(from, to);
        if (to.endsWith(tag)) await waits;
      },
    };

    beforeEach(async () => {
      stalled = await startHawser({}, { fs: new AtomicFs(slow) });
      await publishConfiguration(stalled.admin, 'named', { '1.0.0': { [MAIN]: text('named') } });
      const site = await createScopeType(stalled, 'Site');
      const berlin = await createScopeValue(stalled, site, 'berlin');
      path = `/api/v1/scope-types/${site}/values/${berlin}`;
      node = await stalled.registerNode('named.example.org');
      await assign(stalled, node, 'named');
      await tagNode(stalled, node.nodeId, berlin);
      const file = { configuration: 'named', scopeType: 'Site', value: 'berlin' };
      for (const version of ['1.0.0', '1.1.0'])
        await saveParameters(stalled, { ...file, version, content: `parameters: {at: "${version}"}` });
      await saveParameters(stalled, {
        ...file,
        version: '1.2.0',
        publish: false,
        content: 'parameters: {at: 3}',
      });
      const configuration = await configurationId(stalled.admin, 'named');
      const named = { configurationId: configuration, scopeTypeId: site, value: 'berlin', version: '1.1.0' };
      await ok(200, withdrawFile(stalled.admin, named));
      checksum = (await ok(200, poll(node))).checksum;
    });
    afterEach(() => stalled.close());

    const rename = () => ok(200, stalled.admin.put(path, { value: 'spree', description: null }));

    /** Restores what a backup has, starts on it, and tells by which name the files are there. */
    async function restored(steps: Steps, snapshot: Snapshot): Promise<string> {
      const place = join(stalled.folder, 'restored');
      for (const [file, content] of await steps.finish(snapshot)) {
        mkdirSync(dirname(join(place, file)), { recursive: true });
        writeFileSync(join(place, file), content, 'latin1');
      }
      for (const each of ['configurations/named.git', 'parameters/named.git'])
        for (const folder of ['refs', 'objects'])
          mkdirSync(join(place, 'repos', each, folder), { recursive: true });
      mkdirSync(join(place, 'data'));
      cpSync(steps.databases.at(-1) ?? '', join(place, 'data/hawser.db'));
      cpSync(join(stalled.dataDir, 'tls'), join(place, 'data/tls'), { recursive: true });
      const server = await spawnHawser(place, { HAWSER_DATABASE_URL: '' });
      const client = makeClient(await server.listening(), node.identity);
      try {
        const polled = await ok(200, poll({ ...node, client }));
        expect(polled.checksum).to.equal(checksum);
      } finally {
        client.close();
        server.child.kill('SIGTERM');
        expect((await server.ended).code, server.stdout()).to.equal(0);
      }
      const gitdir = join(place, 'repos/parameters/named.git');
      const git = (...words: string[]) =>
        execFileSync('git', [`--git-dir=${gitdir}`, ...words], { encoding: 'utf8', stdio: 'pipe' }).trim();
      git('fsck', '--strict');
      const refs = git('for-each-ref', '--format=%(refname:lstrip=1)').split('\n');
      const [value = ''] = valuesIn(
        join(place, 'data/hawser.db'),
        'SELECT value FROM scope_values',
      ) as string[];
      const versions = [
        'heads/draft/Site/NAME/1.2.0',
        ...['tags/Site/NAME/v1.0.0', 'tags/Site/NAME/v1.1.0', 'tags/withdrawn/Site/NAME/v1.1.0'],
      ];
      const own = refs.filter((ref) => !ref.startsWith('tags/renamed/') && ref !== 'heads/Site');
      expect(own).to.deep.equal(versions.map((ref) => ref.replace('NAME', value)));
      expect(git('ls-tree', '-r', '--name-only', 'Site')).to.equal(`${value}/parameters.yaml`);
      return value;
    }

    it('before the moment of the database has the new name', async () => {
      const steps = new Steps(stalled);
      await steps.copies.takePass(null);
      await rename();
      const snapshot = await steps.snapshot();
      await steps.copies.takePass(snapshot);
      expect(await restored(steps, snapshot)).to.equal('spree');
    });

    it('after it has the old name', async () => {
      const steps = new Steps(stalled);
      await steps.copies.takePass(null);
      const snapshot = await steps.snapshot();
      await rename();
      await steps.copies.takePass(snapshot);
      expect(await restored(steps, snapshot)).to.equal('berlin');
    });

    it('at that moment has the old name', async () => {
      const steps = new Steps(stalled);
      let release: () => void = () => undefined;
      waits = new Promise<void>((resolve) => {
        release = resolve;
      });
      const renaming = rename();
      await eventually(async () => expect(existsSync(join(stalled.reposDir, tag))).to.equal(true));
      await steps.copies.takePass(null);
      const snapshot = await steps.snapshot();
      release();
      await renaming;
      waits = null;
      await steps.copies.takePass(snapshot);
      expect(await restored(steps, snapshot)).to.equal('berlin');
    });
  });
});
