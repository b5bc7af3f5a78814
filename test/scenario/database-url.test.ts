// full: SQLite, PostgreSQL
/** What the setting of the database brings into the program, and what it must never bring out of it. */

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { describeOnPostgres, describeOnSqlite, placeOf } from '../support/engine.ts';
import { newDatabase, querySharedCluster } from '../support/postgres.ts';
import { runHawser, spawnHawser } from '../support/spawned.ts';

/** A text of the driver's code, which bundling leaves as it is. */
const DRIVER = 'SASL: SCRAM-SERVER-FIRST-MESSAGE';

let folder: string;

/** Starts and stops a server, and gives the files that it has loaded with the code of the driver in them. */
async function filesOfDriver(): Promise<string[]> {
  const coverage = join(folder, 'coverage');
  const server = await spawnHawser(folder, { NODE_V8_COVERAGE: coverage });
  await server.listening();
  server.child.kill('SIGTERM');
  expect((await server.ended).code).to.equal(0);
  const urls = readdirSync(coverage).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8'));
    return result.map(({ url }: { url: string }) => url);
  });
  const files = [...new Set<string>(urls)]
    .filter((url) => url.startsWith('file:'))
    .map((url) => fileURLToPath(url));
  // Else the program was not looked at.
  expect(files.filter((file) => file.endsWith('/main.js'))).not.to.deep.equal([]);
  return files.filter((file) => existsSync(file) && readFileSync(file, 'utf8').includes(DRIVER));
}

function makeFolder(): void {
  folder = mkdtempSync(join(tmpdir(), 'hawser-url-'));
}
function removeFolder(): void {
  rmSync(folder, { recursive: true, force: true });
}

describeOnSqlite('without a URL of PostgreSQL, a server', function (this: Mocha.Suite) {
  beforeEach(makeFolder);
  afterEach(removeFolder);

  it('does not load its driver', async () => {
    expect(await filesOfDriver()).to.deep.equal([]);
  });
});

describeOnPostgres('with a URL of PostgreSQL, a server', function (this: Mocha.Suite) {
  beforeEach(makeFolder);
  afterEach(removeFolder);

  const urlOf = async () => new URL((await placeOf(join(folder, 'data'))).databaseUrl ?? '');

  it('loads its driver', async () => {
    expect(await filesOfDriver()).to.have.length(1);
  });

  it('names the database in its log without the password, and says that an SQLite database is not used', async () => {
    const file = join(folder, 'data/hawser.db');
    mkdirSync(join(folder, 'data'), { mode: 0o700 });
    writeFileSync(file, 'left alone', { mode: 0o600 });
    const url = await urlOf();
    const server = await spawnHawser(folder, { HAWSER_LOG_LEVEL: 'debug' });
    await server.listening();
    const doctor = await runHawser(folder, {}, ['doctor']);
    server.child.kill('SIGTERM');
    await server.ended;
    const name = `database ${url.pathname.slice(1)} of PostgreSQL at 127.0.0.1:${url.port} as user hawser`;
    expect(server.stdout()).to.include(`"database":"${name}"`);
    expect(server.stdout()).to.match(/"file":"[^"]*\/data\/hawser\.db".*is not used, and is left as it is/);
    expect(readFileSync(file, 'utf8')).to.equal('left alone');
    expect(doctor.code, doctor.stdout).to.equal(0);
    expect(doctor.stdout)
      .to.include(name)
      .and.to.match(/information: .*hawser\.db: it is not used/);
    for (const text of [server.stdout(), server.stderr(), doctor.stdout, doctor.stderr])
      expect(text).not.to.include(url.password).and.not.to.include(decodeURIComponent(url.password));
  });

  const commands = [['serve'], ['doctor'], ['verify', '0'.repeat(64)], ['reset-admin-password']];
  for (const [what, change] of [
    ['password', { password: 'wrong-and-secret' }],
    ['database', { pathname: '/no_such_database' }],
  ] as const) {
    it(`ends at once where its ${what} is not taken, and so does each command, without a word of the password`, async () => {
      const url = await urlOf();
      Object.assign(url, change);
      const settings = { HAWSER_DATABASE_URL: url.href };
      for (const words of commands) {
        const { code, stdout, stderr } = await runHawser(folder, settings, words);
        expect(code, words.join(' ')).to.equal(words[0] === 'serve' ? 78 : 1);
        expect(stdout + stderr).to.match(/hawser/);
        expect(stdout + stderr, words.join(' '))
          .not.to.include(url.password)
          .and.not.to.include(decodeURIComponent(url.password));
        if (words[0] !== 'doctor')
          expect(stderr, 'one line').to.match(/^hawser: HAWSER_DATABASE_URL: [^\n]+\n$/);
      }
    });
  }

  it('makes no tables but at a start: each command says that there are none', async () => {
    const database = await newDatabase();
    const settings = { HAWSER_DATABASE_URL: database.url };
    for (const words of commands.slice(1)) {
      const { code, stdout, stderr } = await runHawser(folder, settings, words);
      expect(code, words.join(' ')).to.equal(1);
      expect(stdout + stderr, words.join(' ')).to.match(/no tables of Hawser/);
    }
    const tables = await querySharedCluster(
      "select 1 from pg_tables where schemaname = 'public'",
      database.name,
    );
    expect(tables).to.deep.equal([]);
    await database.drop();
  });

  it('takes the URL from a file', async () => {
    const file = join(folder, 'url');
    writeFileSync(file, `${(await urlOf()).href}\n`, { mode: 0o600 });
    const settings = { HAWSER_DATABASE_URL: '', HAWSER_DATABASE_URL_FILE: file };
    const server = await spawnHawser(folder, settings);
    await server.listening();
    server.child.kill('SIGTERM');
    expect((await server.ended).code).to.equal(0);
    const doctor = await runHawser(folder, settings, ['doctor']);
    expect(doctor.code, doctor.stdout).to.equal(0);
  });
});
