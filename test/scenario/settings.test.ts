// full: SQLite, PostgreSQL
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { findAccountByName } from '../../src/db/accounts.ts';
import { createLog } from '../../src/lib/log.ts';
import { verifyPassword } from '../../src/security/passwords.ts';
import { startServer } from '../../src/server.ts';
import { makeHashesCheap, REAL_HASHES } from '../support/cheap-hashes.ts';
import { openDatabaseOf } from '../support/database.ts';
import { databaseSettings } from '../support/engine.ts';
import { ADMIN_PASSWORD, TestClock } from '../support/hawser.ts';
import { type Ended, runHawser, spawnHawser } from '../support/spawned.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Faults that only a start finds; what reading alone finds is tried in test/unit/config.test.ts. */
describe('a start with a bad setting', () => {
  let folder: string;
  let file: string;
  const shown: string[] = [];

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-settings-'));
    file = join(folder, 'file');
    writeFileSync(file, 'this is no PEM');
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** @returns what the start failed with; fails when it does not */
  async function faultOf(settings: Record<string, string>): Promise<string> {
    const config = readConfig({
      ...{ HAWSER_HOST: '127.0.0.1', HAWSER_PORT: '0' },
      ...{ HAWSER_DATA_DIR: join(folder, 'data'), HAWSER_REPOS_DIR: join(folder, 'repos') },
      ...(await databaseSettings(join(folder, 'data'))),
      ...settings,
    });
    const log = createLog('silent');
    const options = { config, log, clock: new TestClock() };
    const showFirstPassword = (password: string) => void shown.push(password);
    const started = startServer({ ...options, showFirstPassword });
    return started.then(
      async (server) => {
        await server.close();
        throw new Error('it started');
      },
      (error: Error) => error.message,
    );
  }

  it('names the variable, its fault and what is allowed', async () => {
    expect(await faultOf({ HAWSER_ADMIN_PASSWORD: 'password1234' })).to.match(
      /^HAWSER_ADMIN_PASSWORD: too weak; allowed: /,
    );
    expect(await faultOf({ HAWSER_DATA_DIR: file })).to.match(
      /^HAWSER_DATA_DIR: cannot be used \(EEXIST\); allowed: a folder/,
    );
    expect(await faultOf({ HAWSER_REPOS_DIR: join(file, 'repos') })).to.match(
      /^HAWSER_REPOS_DIR: cannot be used \(ENOTDIR\); allowed: a folder/,
    );
  });

  it('says so of a certificate, before the first password is made and shown', async () => {
    const settings = { HAWSER_TLS_CERT: file, HAWSER_TLS_KEY: file };
    expect(await faultOf(settings)).to.match(/^HAWSER_TLS_CERT: /);
    expect(shown).to.deep.equal([]);
    expect(existsSync(join(folder, 'data/initial-admin-password'))).to.equal(false);
  });

  it('says so of an address that is not of this machine', async () => {
    const settings = { HAWSER_HOST: '192.0.2.1', HAWSER_ADMIN_PASSWORD: 'a-password-for-tests' };
    expect(await faultOf(settings)).to.match(
      /^HAWSER_HOST: cannot be listened on .*; allowed: an address of this machine/,
    );
  });

  it('ends with 78 and one line, whether reading finds the fault or the start', async () => {
    const [own, other, several] = ['own', 'other', 'several'].map((name) => {
      mkdirSync(join(folder, name));
      return join(folder, name);
    }) as [string, string, string];
    const password = join(folder, 'password');
    writeFileSync(password, 'password1234\n');
    const ends = await Promise.all([
      runHawser(own, { HAWSER_PROT: '8443' }),
      runHawser(other, { HAWSER_ADMIN_PASSWORD: '', HAWSER_ADMIN_PASSWORD_FILE: password }),
      runHawser(several, { HAWSER_WORKERS: '2' }),
    ]);
    const expectLine = ({ code, stdout, stderr }: Ended, pattern: RegExp) => {
      expect(stderr).to.match(pattern).and.not.include('password1234');
      expect(stderr.trimEnd().split('\n')).to.have.length(1);
      expect(stdout).to.equal('');
      expect(code).to.equal(78);
    };
    expectLine(ends[0], /^hawser: HAWSER_PROT: no such setting; allowed: .*HAWSER_PORT/);
    expectLine(ends[1], /^hawser: HAWSER_ADMIN_PASSWORD: too weak; allowed: /);
    expectLine(ends[2], /^hawser: HAWSER_WORKERS: workers are gone: n servers on one PostgreSQL do the same/);
  });
});

describe('a start with a setting of an earlier release', () => {
  const folder = temporaryFolder();

  it('says once what holds now, and makes no hash cheaper', async () => {
    // Without what makes hashes cheap for tests.
    const settings = { ...REAL_HASHES, HAWSER_TESTING: 'on', HAWSER_SCRYPT_COST: '1' };
    const hawser = await spawnHawser(folder('old'), settings);
    await hawser.listening();
    hawser.child.kill();
    const { stdout, code } = await hawser.ended;
    expect(code).to.equal(0);
    const warnings = stdout.split('\n').filter((line) => line.includes('"level":"warn"'));
    const told = warnings.map((line) => JSON.parse(line)).map(({ setting, now }) => ({ setting, now }));
    expect(told).to.deep.equal(readConfig(settings).retired);
    expect(told.map(({ setting }) => setting)).to.have.members(['HAWSER_TESTING', 'HAWSER_SCRYPT_COST']);
    const database = await openDatabaseOf(folder('old/data'));
    const account = await findAccountByName(database.read, 'admin');
    await database.close();
    makeHashesCheap(false);
    const isReal = await verifyPassword(ADMIN_PASSWORD, account?.password_hash ?? null, 'a test');
    makeHashesCheap(true);
    expect(isReal).to.equal(true);
  });
});
