// everyday: SQLite; full: PostgreSQL
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { LEADER } from '../../src/domain/lock-names.ts';
import { newId } from '../../src/lib/ids.ts';
import { readVersion } from '../../src/lib/version.ts';
import { describeOnPostgres, describeOnSqlite } from '../support/engine.ts';
import { openHandles } from '../support/postgres/handles.ts';
import { newDatabase, querySharedCluster, type TestDatabase } from '../support/postgres.ts';
import { type Ended, runHawser, type Spawned, spawnHawser } from '../support/spawned.ts';

describeOnSqlite('hawser status', function (this: Mocha.Suite) {
  it('names the one server, which leads, and says how to start one where there is none', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'hawser-status-'));
    const status = () => runHawser(folder, {}, ['status']);
    const hawser = await spawnHawser(folder);
    try {
      await hawser.logged('"msg":"this server leads"');
      const line = `process ${hawser.child.pid} on ${hostname()}, leads, as the one server of an SQLite database does\n`;
      expect(await status()).to.deep.equal({ code: 0, stdout: line, stderr: '' });
      hawser.child.kill('SIGTERM');
      await hawser.ended;
      const { code, stdout, stderr } = await status();
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.match(/^hawser: no server uses \S+hawser\.db: start one with "hawser serve"\n$/);
    } finally {
      hawser.child.kill('SIGKILL');
      await hawser.ended;
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describeOnPostgres('hawser status', function (this: Mocha.Suite) {
  let folder: string;
  let database: TestDatabase;
  let settings: Record<string, string>;
  let started: Spawned[];

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-status-'));
    database = await newDatabase('migrated');
    settings = { HAWSER_DATABASE_URL: database.url };
    started = [];
  });
  afterEach(async () => {
    for (const { child } of started) child.kill('SIGKILL');
    await Promise.all(started.map(({ ended }) => ended));
    rmSync(folder, { recursive: true, force: true });
    await database.drop();
  });

  const status = () => runHawser(join(folder, 'command'), settings, ['status']);
  const serve = async (name: string) => {
    const server = await spawnHawser(join(folder, name), settings);
    started.push(server);
    await server.listening();
    return server;
  };
  const run = (text: string) => querySharedCluster(text, database.name);
  const expectFault = ({ code, stderr }: Ended, fault: RegExp) => {
    expect({ code, lines: stderr.split('\n').length }, stderr).to.deep.equal({ code: 1, lines: 2 });
    expect(stderr).to.match(fault);
  };

  it('has a line for each server, of which one leads', async () => {
    const first = await serve('one');
    await first.logged('"msg":"this server leads"');
    const second = await serve('two');
    const { code, stdout, stderr } = await status();
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n');
    expect(lines).to.have.length(2);
    for (const line of lines)
      expect(line).to.include(`${hostname()} (`).and.include(`), ${readVersion()}, seen `);
    expect(lines.filter((line) => line.endsWith(', leads by lease 1'))).to.have.length(1);
    // The other one takes the lead of a server that was killed, whose row stays for a while.
    first.child.kill('SIGKILL');
    await second.logged('"msg":"this server leads"');
    await run(`update servers set seen_at = now() - interval '40 s'
      where id <> (select server_id from lead_lease)`);
    const after = await status();
    expectFault(
      after,
      /^hawser: \S+ \(\S+\) does not say that it is there: see whether it hangs or was killed\n$/,
    );
    expect(after.stdout).to.match(/, leads by lease 2\n/);
  });

  it('says what to do where no server is, where none leads, and where one of an older release does', async () => {
    expectFault(await status(), /^hawser: no server uses \S.*: start one with "hawser serve"\n$/);
    await run(`insert into servers (id, version, seen_at) values ('${newId()}', '0.2.0', now())`);
    const none = await status();
    expectFault(none, /^hawser: no server of the list leads: ask again in 20 s/);
    expect(none.stdout).to.match(/^unknown machine \(\S+\), 0\.2\.0, seen \d+ s ago\n$/);
    const older = await openHandles(database.url);
    try {
      expect(await older.locks.acquireIfFree(LEADER)).not.to.equal(null);
      expectFault(
        await status(),
        /^hawser: a server leads that writes no lease.*: bring all servers to this release\n$/,
      );
    } finally {
      await older.close();
    }
  });
});
