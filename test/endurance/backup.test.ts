import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { sha256Hex } from '../../src/lib/hash.ts';
import type { Manifest } from '../../src/operations/backup/archive.ts';
import { restore } from '../../src/operations/backup/restore.ts';
import { CONFIGURATIONS, create, MAIN } from '../support/configurations.ts';
import { limitFileSize } from '../support/file-size.ts';
import { type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { itWith, LINUX } from '../support/optional-tools.ts';
import { ok } from '../support/replies.ts';
import { type Ended, runHawser, spawnHawser } from '../support/spawned.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { unzip } from '../support/unzip.ts';
import { makeZip, unixMode, type ZipEntry } from '../support/zip.ts';

const REGULAR = unixMode(0o100600);

describe('backup and restore', () => {
  let hawser: Hawser;
  const temporary = temporaryFolder();
  let folder: string;
  let archive: string;

  before(async () => {
    hawser = await startHawser();
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    archive = join(hawser.folder, 'good.zip');
    expect((await run(hawser.folder, 'backup', archive)).code).to.equal(0);
  });
  after(() => hawser.close());
  beforeEach(() => {
    folder = temporary();
  });

  const run = (where: string, ...words: string[]): Promise<Ended> => runHawser(where, {}, words);
  const expectRefusal = ({ code, stdout, stderr }: Ended, text: RegExp, expected = 1) => {
    expect(stdout).to.equal('');
    expect(stderr).to.match(/^hawser: .*\n$/);
    expect(stderr).to.match(text);
    expect(code).to.equal(expected);
  };

  describe('backup', () => {
    it('makes one file that only its owner may read, and leaves nothing beside it', () => {
      expect((statSync(archive).mode & 0o777).toString(8)).to.equal('600');
      expect(readdirSync(hawser.folder).sort()).to.deep.equal(['data', 'good.zip', 'repos']);
    });

    it('holds the authority and its key, and no session', async () => {
      const files = await unzip(readFileSync(archive));
      const paths = files.map(({ path }) => path);
      expect(paths).to.include.members(['data/hawser.db', 'data/tls/ca.crt', 'data/tls/ca.key']);
      expect(paths.filter((path) => path.startsWith('data/')).sort()).to.deep.equal([
        'data/hawser.db',
        ...['ca.crt', 'ca.key', 'server.crt', 'server.key'].map((name) => `data/tls/${name}`),
      ]);
      const copy = join(folder, 'copy.db');
      writeFileSync(copy, files.find(({ path }) => path === 'data/hawser.db')?.content ?? '');
      const [database, live] = [copy, join(hawser.dataDir, 'hawser.db')].map(
        (path) => new SqliteDatabase(path),
      );
      const count = 'SELECT COUNT(*) FROM sessions';
      expect(live?.prepare(count).pluck().get()).to.be.greaterThan(0);
      expect(database?.prepare(count).pluck().get()).to.equal(0);
      for (const handle of [database, live]) handle?.close();
    });

    it('holds the first password as long as it is the one to sign in with', async () => {
      const server = await spawnHawser(folder, { HAWSER_ADMIN_PASSWORD: '' });
      await server.listening();
      server.child.kill('SIGTERM');
      await server.ended;
      const target = join(folder, 'b.zip');
      expect((await run(folder, 'backup', target)).code).to.equal(0);
      const files = await unzip(readFileSync(target));
      const found = files.find(({ path }) => path === 'data/initial-admin-password');
      expect(String(found?.content)).to.equal(
        readFileSync(join(folder, 'data/initial-admin-password'), 'utf8'),
      );
    });

    it('does not overwrite a file', async () => {
      const bytes = readFileSync(archive);
      expectRefusal(await run(hawser.folder, 'backup', archive), /good\.zip exists already/);
      expect(readFileSync(archive).equals(bytes)).to.equal(true);
    });

    it('says so where there is no database', async () => {
      expectRefusal(await run(folder, 'backup', join(folder, 'b.zip')), /HAWSER_DATA_DIR: .*no database/);
      expect(readdirSync(folder)).to.deep.equal([]);
    });

    itWith([LINUX], 'leaves nothing where the disk takes no more of it', async () => {
      for (const bytes of [0, 10_000, 60_000]) {
        const command = await spawnHawser(hawser.folder, {}, ['backup', join(folder, 'b.zip')]);
        limitFileSize(bytes, command.child.pid);
        expectRefusal(await command.ended, /cannot be copied|too large|I\/O error/i);
        expect(readdirSync(folder)).to.deep.equal([]);
      }
    });

    it('makes no archive of a repository that has lost an object, or is lost', async () => {
      await ok(201, create(hawser.admin, 'broken'));
      const objects = join(hawser.reposDir, 'configurations/broken.git/objects');
      const blob = hawser.git('configurations/broken.git', 'rev-parse', `draft/1.0.0:${MAIN}`).trim();
      rmSync(join(objects, blob.slice(0, 2), blob.slice(2)));
      const target = join(folder, 'b.zip');
      expectRefusal(await run(hawser.folder, 'backup', target), /configurations\/broken cannot be copied: /);
      rmSync(join(hawser.reposDir, 'configurations/broken.git'), { recursive: true });
      expectRefusal(await run(hawser.folder, 'backup', target), /configurations\/broken is not on the disk/);
      expect(readdirSync(folder)).to.deep.equal([]);
      await ok(204, hawser.admin.delete(`${CONFIGURATIONS}/broken`));
    });

    it('leaves no archive when it is killed, and nothing at all when it is told to stop', async () => {
      for (const [signal, left] of [
        ['SIGKILL', 1],
        ['SIGTERM', 0],
      ] as const) {
        const target = join(folder, `${signal}.zip`);
        const { child, ended } = await spawnHawser(hawser.folder, {}, ['backup', target]);
        while (readdirSync(folder).length === 0) await sleep(1);
        child.kill(signal);
        expect((await ended).code).to.equal(signal === 'SIGKILL' ? null : 1);
        const names = readdirSync(folder);
        expect(names).to.have.length(left);
        for (const name of names) expect(name).to.match(/^SIGKILL\.zip\.[0-9a-f-]+\.partial$/);
        rmSync(folder, { recursive: true });
        mkdirSync(folder);
      }
    });
  });

  describe('restore', () => {
    it('takes the empty folders of a clone', async () => {
      for (const name of ['data', 'repos']) {
        mkdirSync(join(folder, name));
        writeFileSync(join(folder, name, '.gitkeep'), '');
      }
      // The doctor's timer may have come between.
      await run(folder, 'doctor', '--record');
      const { code, stdout, stderr } = await run(folder, 'restore', archive);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.match(/^restored the database and 1 repositories as of .*\n$/);
      expect(readdirSync(join(folder, 'data')).sort()).to.deep.equal([
        ...['.gitkeep', 'hawser.db', 'last-doctor.json', 'tls'],
      ]);
    });

    for (const name of ['data', 'repos']) {
      it(`refuses a folder ${name} that holds anything, and changes nothing`, async () => {
        mkdirSync(join(folder, name));
        writeFileSync(join(folder, name, 'precious'), 'mine');
        expectRefusal(await run(folder, 'restore', archive), /is not empty \("precious"\)/);
        expect(readdirSync(folder)).to.deep.equal([name]);
        expect(readdirSync(join(folder, name))).to.deep.equal(['precious']);
      });
    }

    it('says so when there is no such archive', async () => {
      expectRefusal(await run(folder, 'restore', join(folder, 'none.zip')), /none\.zip cannot be read/);
    });

    it('lets no server start on what a kill has left, and begins anew when it is run again', async () => {
      const site = join(folder, 'site');
      mkdirSync(site);
      const { code } = await killWhileRestoring(site, await makeLargeArchive());
      expect(code).to.equal(null);
      expectRefusal(await run(site), /HAWSER_REPOS_DIR: a restore into it was cut off/, 78);
      expectRefusal(await run(site, 'backup', join(folder, 'x.zip')), /was cut off/, 78);
      expect((await run(site, 'restore', archive)).code).to.equal(0);
      const server = await spawnHawser(site);
      await server.listening();
      server.child.kill('SIGTERM');
      expect((await server.ended).code).to.equal(0);
    });

    /** It takes a while to write. */
    async function makeLargeArchive(): Promise<string> {
      const large = join(folder, 'large.zip');
      const files = { [MAIN]: '$schema: x\nresources: []\n', 'large.bin': randomBytes(10 * 1024 * 1024) };
      await ok(201, create(hawser.admin, 'large', {}, { files }));
      expect((await run(hawser.folder, 'backup', large)).code).to.equal(0);
      await ok(204, hawser.admin.delete(`${CONFIGURATIONS}/large`));
      return large;
    }

    async function killWhileRestoring(site: string, large: string): Promise<Ended> {
      const { child, ended } = await spawnHawser(site, {}, ['restore', large]);
      while (!existsSync(join(site, 'repos/configurations/large.git/objects'))) await sleep(1);
      child.kill('SIGKILL');
      return ended;
    }
  });

  describe('an archive that is not as it was made', () => {
    /** @returns what it is refused with, or `restored` */
    async function tryOut(bytes: Buffer): Promise<string> {
      const file = join(folder, 'bad.zip');
      writeFileSync(file, bytes);
      const config = readConfig({
        HAWSER_DATA_DIR: join(folder, 'site/data'),
        HAWSER_REPOS_DIR: join(folder, 'site/repos'),
      });
      return restore(config, file).then(
        () => 'restored',
        (error: Error) => error.message,
      );
    }

    /** Refused, with nothing in the folders, nor beside them. */
    async function expectRefused(bytes: Buffer, text: RegExp): Promise<void> {
      expect(await tryOut(bytes)).to.match(text);
      const left = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
        (name) => !statSync(join(folder, name)).isDirectory(),
      );
      expect(left).to.deep.equal(['bad.zip']);
    }

    /** The good archive, with some of its entries, or what the manifest says, made another. */
    async function remake(
      change: (entries: Map<string, ZipEntry>, manifest: Manifest) => void,
    ): Promise<Buffer> {
      const found = await unzip(readFileSync(archive));
      const entries = new Map<string, ZipEntry>();
      for (const { path, content } of found) entries.set(path, { name: path, content, attributes: REGULAR });
      const manifest = JSON.parse(String(entries.get('manifest.json')?.content));
      change(entries, manifest);
      const content = JSON.stringify(manifest);
      entries.set('manifest.json', { name: 'manifest.json', content, attributes: REGULAR });
      return makeZip([...entries.values()]);
    }

    it('is fine as long as only the ZIP is another one', async () => {
      expect(await tryOut(await remake(() => undefined))).to.equal('restored');
    });

    it('is refused when it was cut off, by the command too', async () => {
      const bytes = readFileSync(archive);
      await expectRefused(bytes.subarray(0, bytes.length / 2), /damaged: it is cut off, or no backup at all/);
      await expectRefused(Buffer.alloc(0), /damaged: it is cut off, or no backup at all/);
      writeFileSync(join(folder, 'cut.zip'), bytes);
      truncateSync(join(folder, 'cut.zip'), bytes.length - 10);
      const restored = await run(join(folder, 'other'), 'restore', join(folder, 'cut.zip'));
      expectRefusal(restored, /damaged: it is cut/);
      expect(existsSync(join(folder, 'other'))).to.equal(false);
    });

    it('is refused when a byte of a file is another', async () => {
      const bytes = await remake((entries) => {
        const entry = entries.get('data/tls/ca.key');
        if (entry) entry.content = String(entry.content).replace(/A/, 'B');
      });
      await expectRefused(bytes, /"data\/tls\/ca\.key" is not what was backed up/);
    });

    it('is refused when a file is missing, or one is there that nobody has put there', async () => {
      const without = await remake((entries) => entries.delete('data/tls/ca.key'));
      await expectRefused(without, /"data\/tls\/ca\.key" is missing/);
      const more = await remake((entries) => {
        entries.set('x', { name: 'data/tls/more.key', content: '', attributes: REGULAR });
      });
      await expectRefused(more, /"data\/tls\/more\.key" is not in the manifest/);
      await expectRefused(makeZip([{ name: 'a', content: 'b', attributes: REGULAR }]), /no manifest/);
    });

    for (const path of ['../evil', '/tmp/hawser-evil', 'data/../../evil', 'data/evil', 'repos/.tmp/x']) {
      it(`is refused when it would write to ${path}`, async () => {
        const bytes = await remake((entries, manifest) => {
          entries.set(path, { name: path, content: 'evil', attributes: REGULAR });
          manifest.entries.push({ path, size: 4, sha256: sha256Hex('evil') });
        });
        await expectRefused(bytes, /damaged: /);
        expect(existsSync('/tmp/hawser-evil')).to.equal(false);
      });
    }

    it('is refused when it holds a link', async () => {
      const bytes = await remake((entries) => {
        const entry = entries.get('data/tls/ca.crt');
        if (entry) entry.attributes = unixMode(0o120777);
      });
      await expectRefused(bytes, /"data\/tls\/ca\.crt" is there twice, or no regular file/);
    });

    it('is refused with advice when a newer release made it', async () => {
      const format = await remake((_, manifest) => Object.assign(manifest, { format: 2, novelty: true }));
      await expectRefused(format, /needs a newer Hawser: its format is 2/);
      const tables = await remake((_, manifest) => {
        manifest.migration = '9999-later';
      });
      await expectRefused(tables, /needs a newer Hawser: its database \(9999-later\)/);
    });
  });
});
