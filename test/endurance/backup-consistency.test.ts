import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import { forgetDeleted, type Owner, type Snapshot, takeSnapshot } from '../../src/db/snapshot.ts';
import { ArchiveWriter, FORMAT, type Manifest } from '../../src/operations/backup/archive.ts';
import { RepositoryCopies } from '../../src/operations/backup/repository-copies.ts';
import { CONFIGURATIONS, create, MAIN } from '../support/configurations.ts';
import { type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { ok } from '../support/replies.ts';
import { unzip } from '../support/unzip.ts';

/** A backup taken apart, so that things happen between its steps that would have to be lucky otherwise. */
class Steps {
  readonly copies: RepositoryCopies;
  private readonly hawser: Hawser;
  private readonly archive: ArchiveWriter;
  private readonly folder: string;
  readonly databases: string[] = [];

  constructor(hawser: Hawser) {
    this.hawser = hawser;
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

  snapshot(): Promise<Snapshot> {
    const target = join(this.folder, `database-${this.databases.length}`);
    this.databases.push(target);
    return takeSnapshot(this.hawser.dataDir, target);
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

function namesIn(database: string): unknown[] {
  const handle = new SqliteDatabase(database);
  try {
    return handle.prepare('SELECT name FROM configurations').pluck().all();
  } finally {
    handle.close();
  }
}

describe('a backup while things go', function () {
  this.timeout(60_000);
  let hawser: Hawser;

  before(async () => {
    hawser = await startHawser();
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { [MAIN]: 'resources: []\n' },
      '1.1.0': { [MAIN]: 'resources: [] # 1.1\n' },
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
    await ok(
      201,
      hawser.admin.upload(`${CONFIGURATIONS}/web/versions`, {
        fields: { version: '2.0.0' },
        files: { [MAIN]: 'two\n' },
      }),
    );
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
      forgetDeleted(hawser.dataDir, database, { snapshot: early, owners });
    expect(forget(early.owners), 'with those that are still there').to.equal(null);
    const late = forget(steps.copies.missing(early));
    expect(late?.owners.map(({ name }) => name)).to.not.include('short');
    expect(late?.owners).to.have.length(early.owners.length - 1);
    expect(namesIn(database)).to.include('web').and.not.include('short');
  });
});
