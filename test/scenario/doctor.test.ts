// full: SQLite
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { DAY } from '../../src/lib/clock.ts';
import { examine } from '../../src/operations/doctor/doctor.ts';
import type { Finding } from '../../src/operations/doctor/findings.ts';
import { publishWithChildren } from '../support/composites.ts';
import { MAIN } from '../support/configurations.ts';
import { changeRows, copySite } from '../support/database.ts';
import { databaseSettings, describeOnSqlite, ENGINE, itOnSqlite, placeOf } from '../support/engine.ts';
import { git, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, saveParameters } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import { runHawser, spawnHawser } from '../support/spawned.ts';
import { started } from '../support/started.ts';

const NOWHERE = '1'.repeat(40);
const WEB = 'configurations/web';

describe('the doctor', () => {
  const hawser = started(startHawser);
  /** A copy of the world after the server has ended, which each test may damage. */
  let folder: string;

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n', 'etc/motd': 'hello\n' },
      '1.1.0': { [MAIN]: '$schema: x\nresources: []\n# two\n' },
    });
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {}' });
    await publishWithChildren(hawser.admin, 'all', '1.0.0', ['web']);
    await hawser.registerNode('web-01.example.org');
  });

  describe('beside a running server', () => {
    it('counts the versions that nodes are offered and dsc cannot read', async () => {
      const node = await hawser.registerNode('web-02.example.org');
      await publishConfiguration(hawser.admin, 'broken', { '1.0.0': { [MAIN]: 'resources: [' } });
      const documents = async () => {
        const { stdout } = await (await spawnHawser(hawser.folder, {}, ['doctor', '--json'])).ended;
        return JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'documents');
      };
      expect((await documents()).summary).to.match(/^0 of 0 versions /);
      await assign(hawser, node, 'broken');
      const { summary, findings } = await documents();
      expect(summary).to.match(/^1 of 1 version /);
      expect(findings).to.have.length(1);
      expect(findings[0]).to.include({ severity: 'warning', where: 'configurations/broken' });
      expect(findings[0].what)
        .to.include('1.0.0')
        .and.include('main.dsc.yaml:1:')
        .and.include('document_syntax');
      await ok(204, hawser.admin.delete(`/api/v1/nodes/${node.nodeId}`));
    });

    it('finds nothing while versions are made, and says so as one JSON document', async () => {
      const spawned = await spawnHawser(hawser.folder, {}, ['doctor', '--json']);
      let isOver = false;
      const busy = (async () => {
        for (let patch = 0; !isOver; patch += 1)
          await publishConfiguration(hawser.admin, `busy-${patch}`, { '1.0.0': { [MAIN]: `${patch}\n` } });
      })();
      const { code, stdout, stderr } = await spawned.ended;
      isOver = true;
      await busy;
      expect(stderr).to.equal('');
      const document = JSON.parse(stdout);
      expect(document.checks.flatMap((check: { findings: Finding[] }) => check.findings)).to.deep.equal([]);
      expect(document).to.include({ healthy: true, errors: 0, warnings: 0 });
      expect(code).to.equal(0);
    });
  });

  describe('without a server', () => {
    before(() => hawser.server.close());
    after(async () => {
      await hawser.restart();
    });
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'hawser-doctor-'));
      await copySite(hawser.folder, folder);
    });
    afterEach(() => rmSync(folder, { recursive: true, force: true }));

    const configOf = async (settings: Record<string, string> = {}) =>
      readConfig({
        HAWSER_DATA_DIR: join(folder, 'data'),
        HAWSER_REPOS_DIR: join(folder, 'repos'),
        ...(await databaseSettings(join(folder, 'data'))),
        ...settings,
      });

    interface Options {
      now?: number;
      progress?: (done: number, all: number) => void;
      settings?: Record<string, string>;
    }
    const find = async ({ now = Date.now(), progress = () => undefined, settings = {} }: Options = {}) => {
      const checks = await examine({ config: await configOf(settings), now, progress });
      return checks.flatMap(({ findings }) => findings);
    };
    const errors = async () => (await find()).filter(({ severity }) => severity === 'error');
    const only = (findings: readonly Finding[]): Finding => {
      expect(findings, JSON.stringify(findings)).to.have.length(1);
      return findings[0] as Finding;
    };
    const pathOf = (repository: string) => join(folder, 'repos', `${repository}.git`);
    const inWeb = (...args: string[]) => git(pathOf(WEB), ...args).trim();
    const objectFile = (oid: string) => join(pathOf(WEB), 'objects', oid.slice(0, 2), oid.slice(2));
    const inDatabase = async (statement: string) =>
      changeRows(await placeOf(join(folder, 'data')), statement);
    /** Names, sizes, modes and times of change of all files, and the names of folders. */
    const state = () =>
      execFileSync('find', [folder, '-type', 'f', '-printf', '%p %s %m %T@\n', '-o', '-printf', '%p\n'], {
        encoding: 'utf8',
      });

    itOnSqlite('looks at the documents of a database from before there were secrets', async () => {
      await inDatabase('drop table secret_state');
      await inDatabase('drop table secret_keys');
      await inDatabase("delete from kysely_migration where name >= '0037'");
      const checks = await examine({ config: await configOf(), now: Date.now(), progress: () => undefined });
      const documents = checks.find(({ name }) => name === 'documents');
      expect(documents?.summary).to.match(/^0 of \d+ versions? /);
      expect(documents?.findings).to.deep.equal([]);
    });

    it('finds nothing, and leaves every file and folder as it was', async () => {
      const before = state();
      expect(await find()).to.deep.equal([]);
      expect(state()).to.equal(before);
    });

    itOnSqlite(
      'leaves as it was what a crashed server left, and reads what stands in its log alone,',
      async () => {
        const crashed = await spawnHawser(folder);
        await crashed.listening();
        await inDatabase("insert into configurations select 'x', 'lost', 'lost', null, 0, 0, 0, 0");
        crashed.child.kill('SIGKILL');
        await crashed.ended;
        // The log's index is made anew by whoever opens it next, and says nothing of its own.
        const lasting = () => state().replace(/^.*-shm .*$/m, '');
        const before = lasting();
        expect(only(await errors()).where).to.equal('configurations/lost');
        expect(lasting()).to.equal(before);
      },
    );

    itOnSqlite('makes nothing where there is nothing', async () => {
      rmSync(join(folder, 'data'), { recursive: true });
      rmSync(join(folder, 'repos'), { recursive: true });
      const findings = await errors();
      expect(findings.map(({ what }) => what)).to.include('there is none');
      expect(readdirSync(folder)).to.deep.equal([]);
    });

    itOnSqlite('tells people what is wrong and what to do, and ends with 1', async () => {
      rmSync(pathOf(WEB), { recursive: true });
      writeFileSync(join(folder, 'data/initial-admin-password'), 'a-secret-in-a-file\n', { mode: 0o600 });
      const { code, stdout, stderr } = await runHawser(folder, {}, ['doctor']);
      expect(stdout).to.match(/^ERROR +rows and repositories /m);
      expect(stdout).to.match(
        /^ {2}error: configurations\/web: there is a row and no repository\n {4}-> \S/m,
      );
      // Without its schemas nobody knows which of its parameters are secrets.
      expect(stdout).to.match(/^ {2}warning: parameters\/web \S*: it cannot be searched for secrets/m);
      expect(stdout).to.match(/\n2 errors, 1 warning\n$/);
      expect(stdout + stderr).not.to.include('a-secret-in-a-file');
      expect(code).to.equal(1);
    });

    describeOnSqlite('finds in repositories', () => {
      it('a loose object that was cut short', async () => {
        const oid = inWeb('rev-parse', 'v1.0.0:etc/motd');
        truncateSync(objectFile(oid), 5);
        const { where, what } = only(await errors());
        expect(where).to.match(/^configurations\/web refs\/(heads|tags)\//);
        expect(what).to.match(new RegExp(`^the blob ${oid} is broken`));
      });

      for (const [type, name] of [
        ['blob', 'v1.0.0:etc/motd'],
        ['tree', 'v1.0.0:etc'],
        ['commit', 'v1.0.0^{commit}'],
        ['object', 'v1.0.0'],
      ] as const) {
        it(`a missing object: ${name}`, async () => {
          const oid = inWeb('rev-parse', name);
          rmSync(objectFile(oid));
          const findings = await errors();
          expect(findings.map(({ what }) => what)).to.deep.equal([`the ${type} ${oid} is missing`]);
        });
      }

      it('an object that a byte of its pack changed', async () => {
        inWeb('gc', '--quiet');
        expect(await find(), 'a packed repository').to.deep.equal([]);
        const folderOfPacks = join(pathOf(WEB), 'objects/pack');
        const pack = join(
          folderOfPacks,
          readdirSync(folderOfPacks).find((name) => name.endsWith('.pack')) ?? '',
        );
        const bytes = readFileSync(pack);
        bytes.writeUInt8(bytes.readUInt8(bytes.length - 30) ^ 0xff, bytes.length - 30);
        chmodSync(pack, 0o600);
        writeFileSync(pack, bytes);
        expect(await errors()).not.to.be.empty;
      });

      it('a ref that leads to nothing, and one that says nothing', async () => {
        writeFileSync(join(pathOf(WEB), 'refs/heads/stray'), `${NOWHERE}\n`);
        writeFileSync(join(pathOf(WEB), 'refs/heads/empty'), '');
        const findings = await errors();
        expect(findings.map(({ where, what }) => `${where}: ${what}`)).to.have.members([
          `${WEB} refs/heads/stray: the object ${NOWHERE} is missing`,
          `${WEB} refs/heads/empty: the ref holds no object id`,
        ]);
      });

      it('nothing where history was made to end', async () => {
        const parent = inWeb('rev-parse', 'v1.0.0^{commit}');
        writeFileSync(join(pathOf(WEB), 'shallow'), `${inWeb('rev-parse', 'v1.1.0^{commit}')}\n`);
        inWeb('tag', '-d', 'v1.0.0');
        rmSync(objectFile(parent));
        expect(await find()).to.deep.equal([]);
      });

      it('nothing that is mended before it looks again', async () => {
        const stray = join(pathOf(WEB), 'refs/heads/stray');
        writeFileSync(stray, `${NOWHERE}\n`);
        // Called for the last time between the two looks.
        const progress = (done: number, all: number) => done === all && rmSync(stray);
        expect(await find({ progress: (done, all) => void progress(done, all) })).to.deep.equal([]);
      });

      it('a broken object that no ref leads to, a forgotten lock, an unfinished file: no errors', async () => {
        const old = new Date(Date.now() - DAY);
        mkdirSync(join(pathOf(WEB), 'objects/ab'), { recursive: true });
        for (const name of ['objects/ab/tmp_obj_x', `objects/ab/${'c'.repeat(38)}`, 'packed-refs.lock']) {
          writeFileSync(join(pathOf(WEB), name), '');
          utimesSync(join(pathOf(WEB), name), old, old);
        }
        const findings = await find();
        expect(findings.map(({ severity, where }) => `${severity} ${where}`)).to.deep.equal([
          `warning ${WEB} objects/ab/${'c'.repeat(38)}`,
          `warning ${WEB} packed-refs.lock`,
          `information ${WEB} objects/ab/tmp_obj_x`,
        ]);
      });

      it('tags that are no versions, which is no fault', async () => {
        inWeb('tag', 'v7.0.0', 'v1.0.0');
        inWeb('tag', 'nightly', 'main');
        const { severity, what } = only(await find());
        expect(severity).to.equal('information');
        expect(what).to.include('refs/tags/v7.0.0').and.include('refs/tags/nightly');
        expect(what).not.to.include('refs/tags/v1.0.0');
      });
    });

    describeOnSqlite('compares rows and repositories, and finds', () => {
      for (const [name, what] of [
        [WEB, 'there is a row and no repository'],
        ['composites/all', 'there is a row and no repository'],
        ['parameters/web', 'there is a row and no repository'],
      ] as const) {
        it(`${name} without its repository`, async () => {
          rmSync(pathOf(name), { recursive: true });
          expect(only(await errors())).to.include({ where: name, what });
        });
      }

      it('a repository without a row, which the next start adopts: a warning', async () => {
        cpSync(pathOf(WEB), pathOf('configurations/copy'), { recursive: true });
        const { severity, where, remedy } = only(await find());
        expect({ severity, where }).to.deep.equal({ severity: 'warning', where: 'configurations/copy' });
        expect(remedy).to.include('adopts');
      });

      it('parameters without a configuration', async () => {
        cpSync(pathOf('parameters/web'), pathOf('parameters/ghost'), { recursive: true });
        expect(only(await errors()).where).to.equal('parameters/ghost');
      });
    });

    describe('finds in the data folder', () => {
      itOnSqlite('a database with a damaged page', async () => {
        const file = join(folder, 'data/hawser.db');
        const bytes = readFileSync(file);
        // Every page but the first, which says what the file is, from its second half on.
        for (let page = 4096; page + 4096 <= bytes.length; page += 4096)
          bytes.fill(0xff, page + 2048, page + 4096);
        writeFileSync(file, bytes);
        const findings = await errors();
        expect(findings.some(({ where }) => where === file)).to.equal(true);
      });

      itOnSqlite('a file that is no database', async () => {
        writeFileSync(join(folder, 'data/hawser.db'), 'x'.repeat(8192));
        expect((await errors())[0]?.what).to.include('not a database');
      });

      itOnSqlite('rows that refer to none', async () => {
        await inDatabase("insert into user_roles select id, 'no-such-role' from users");
        expect(only(await errors()).what).to.equal(
          '1 rows of user_roles refer to rows of roles that are not there',
        );
      });

      it('the database of a newer release, unless this one may serve it', async () => {
        await inDatabase("insert into kysely_migration values ('9999-far-ahead', '2099-01-01')");
        expect(await errors()).to.deep.equal([]);
        await inDatabase("update oldest_release set version = '99.0.0'");
        expect(only(await errors()).what).to.include('newer release (9999-far-ahead)');
        // Without it the database is damaged, and no release made it so.
        await inDatabase(
          "delete from kysely_migration where name in ('9999-far-ahead', '0020-several-servers')",
        );
        expect(only(await errors()).what)
          .to.include('it is damaged')
          .and.to.include('0020-several-servers');
      });

      itOnSqlite('reports that the disk has no room for, with what to set', async () => {
        const hour = 3_600_000;
        const report = "'Test', 1, 0, 40000000000";
        await inDatabase(`insert into report_counts (span, period, operation, in_desired_state, had_errors, count)
          values (0, 0, ${report}), (${hour}, ${Math.floor(Date.now() / hour)}, ${report})`);
        await inDatabase(`insert into reports (id, node_id, timestamp, operation, in_desired_state, had_errors, result)
          select '${NOWHERE}', id, 1, 'Test', 1, 0, '{}' from nodes`);
        const off = only(await find());
        expect(off).to.include({ severity: 'warning', where: join(folder, 'data') });
        expect(off.what).to.match(
          /^reports will take .* GiB more, and .*: 1 nodes sent 40000000000 reports of some 602 bytes/,
        );
        expect(off.what).to.include('retention is off, so the disk is full in 0 days');
        expect(off.remedy).to.match(/{"enabled": true}, and HAWSER_REPORT_BYTES=\d+GiB keeps what fits/);
        await inDatabase("insert into server_settings (name, value) values ('enabled', 'true')");
        const on = only(await find());
        expect(on.what).to.include('retention keeps the newest 1000 of each node, and all of 30 days');
      });

      it('a limit of reports while retention is off', async () => {
        const finding = only(await find({ settings: { HAWSER_REPORT_BYTES: '20GiB' } }));
        expect(finding).to.include({ severity: 'warning', where: 'HAWSER_REPORT_BYTES' });
      });

      it('a key that others may read: an error; a folder: a warning', async () => {
        const key = join(folder, 'data/tls/server.key');
        chmodSync(key, 0o644);
        chmodSync(join(folder, 'repos'), 0o755);
        const findings = await find();
        expect(findings.map(({ severity, where }) => `${severity} ${where}`)).to.deep.equal([
          `error ${key}`,
          `warning ${join(folder, 'repos')}`,
        ]);
      });

      it('a first password that was changed and still lies there', async () => {
        const path = join(folder, 'data/initial-admin-password');
        writeFileSync(path, 'secret\n', { mode: 0o600 });
        expect(only(await errors())).to.deep.include({ where: path, remedy: 'remove the file' });
      });

      it('certificates that have expired by the clock it is given', async () => {
        const findings = await find({ now: Date.now() + 40 * 365 * DAY });
        const expired = findings.filter(({ what }) => what.includes('expired')).map(({ where }) => where);
        const tls = join(folder, 'data/tls');
        const authority = ENGINE === 'sqlite' ? join(tls, 'ca.crt') : 'the authority in the table "secrets"';
        expect(expired).to.deep.equal([authority, join(tls, 'server.crt'), 'node certificates']);
      });

      it('an authority whose key is lost', async () => {
        if (ENGINE === 'sqlite') rmSync(join(folder, 'data/tls/ca.key'));
        else await inDatabase("delete from secrets where name = 'ca.key'");
        expect(only(await errors()).what).to.equal('the key is missing');
      });
    });
  });
});
