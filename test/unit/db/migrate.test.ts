import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import { Kysely, Migrator, SqliteDialect, sql } from 'kysely';
import { MIGRATIONS } from '../../../src/db/sqlite/migrations.ts';
import { openSqlite } from '../../../src/db/sqlite/open.ts';
import { BUILT_IN_GROUPS } from '../../../src/domain/permissions.ts';
import { readVersion } from '../../../src/lib/version.ts';
import { certificateRow, configurationRow, nodeRows, scopeValueRow } from '../../support/engines/rows.ts';
import { failureOf } from '../../support/failures.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('migrations', () => {
  const folder = temporaryFolder();

  /** On a handle of its own, which leaves no trace. */
  function inDatabase<T>(work: (handle: SqliteDatabase.Database) => T): T {
    const handle = new SqliteDatabase(folder('hawser.db'));
    try {
      return work(handle);
    } finally {
      handle.close();
    }
  }
  const say = (statement: string) => inDatabase((handle) => handle.exec(statement));
  const all = (query: string) => inDatabase((handle) => handle.prepare(query).raw().all());
  const tables = () =>
    all(`select name from sqlite_master where type = 'table' and name not like '%migration%'`).flat();
  /** The database of an earlier release, whose last step that was. */
  async function migrateTo(step: string): Promise<void> {
    const db = new Kysely<unknown>({
      dialect: new SqliteDialect({ database: new SqliteDatabase(folder('hawser.db')) }),
    });
    const provider = { getMigrations: async () => MIGRATIONS };
    const { error } = await new Migrator({ db, provider }).migrateTo(step);
    await db.destroy();
    if (error) throw error;
  }
  const open = () => openSqlite(folder()).then((database) => database.close());

  it('that fail leave the database as it was, so that the former release goes on with it', async () => {
    say('create table report_counts (in_the_way integer)');
    expect(await failureOf(open())).to.include({ code: 'migration_failed' });
    expect(tables()).to.deep.equal(['report_counts']);
    say('drop table report_counts');
    await open();
    expect(tables()).to.include.members(['users', 'reports', 'report_counts']);
  });

  it('tell of the last report of each node how it went, and what is in the manifests that are kept', async () => {
    await migrateTo('0027-document-checks');
    const parts = [
      { configurationName: 'web', version: '1.0.0' },
      { configurationName: 'db', version: '2.0.0' },
    ];
    inDatabase((handle) => {
      handle.exec(
        nodeRows(...['good', 'bad', 'lcm', 'over', 'none'].map((id): [string, string] => [id, id])),
      );
      handle.exec(`insert into manifests (checksum, configuration_name, is_composite, version, content)
        values ('x', 'farm', 1, '3.0.0', '${JSON.stringify({ parts })}')`);
      const add = handle.prepare(`insert into reports
        (seq, id, node_id, timestamp, operation, in_desired_state, had_errors, result)
        values (?, ?, ?, ?, 'Test', 1, ?, '{}')`);
      const name = handle.prepare(
        'insert into report_checksums (report_seq, checksum, source) values (?, ?, ?)',
      );
      for (const [seq, nodeId, hadErrors, source] of [
        [1, 'good', 1, 'Declared'],
        [2, 'good', 0, 'Declared'],
        [3, 'bad', 1, 'Declared'],
        [4, 'lcm', 0, 'Declared'],
        [5, 'over', 0, 'Declared'],
        [6, 'none', 0, 'Served'],
      ] as const) {
        add.run(seq, `r${seq}`, nodeId, seq, hadErrors);
        name.run(seq, 'x', source);
        handle.exec(`insert or ignore into node_running (node_id, checksum, evidence, since)
          values ('${nodeId}', 'x', 'Declared', 1)`);
      }
      handle.exec(`update nodes set lcm_status = 'Error' where id in ('lcm', 'over');
        insert into status_events (node_id, lcm_status, timestamp) values ('lcm', 'Error', 9), ('over', 'Error', 1)`);
    });
    await open();
    expect(all('select * from node_outcomes order by node_id')).to.deep.equal([
      ['bad', 'x', 1, 0],
      ['good', 'x', 0, 0],
      ['lcm', 'x', 0, 1],
      ['over', 'x', 0, 0],
    ]);
    expect(all('select * from manifest_parts order by configuration_name')).to.deep.equal([
      ['x', 'db', '2.0.0'],
      ['x', 'web', '1.0.0'],
    ]);
  });

  it('let many nodes announce one certificate, and keep those that nodes have or had announced', async () => {
    await migrateTo('0009-changes');
    inDatabase((handle) => {
      handle.exec(nodeRows(['n1', 'n1'], ['n2', 'n2']));
      const certificate = handle.prepare(`insert into node_certificates
        (thumbprint, node_id, state, subject, not_before, not_after, created_at, sha1_thumbprint)
        values (?, ?, ?, ?, 1, 2, 3, ?)`);
      certificate.run('AA', 'n1', 'current', 'CN=n1', '11');
      certificate.run('BB', 'n1', 'pending', 'CN=next', null);
      certificate.run('CC', 'n2', 'current', 'CN=n2', null);
    });
    const list = () =>
      inDatabase((handle) => handle.prepare('select * from node_certificates order by thumbprint').all());
    const before = list();
    expect(before).to.have.length(3);
    const database = await openSqlite(folder());
    try {
      expect(list()).to.deep.equal(before);
      expect(database.nodeLookup.byThumbprint('AA')).to.include({ nodeId: 'n1' });
      expect(database.nodeLookup.byThumbprint('BB')).to.equal(null);
      expect(database.nodeLookup.hasAnnounced('n1', 'BB', '-')).to.equal(true);
      const add = (thumbprint: string, state: string) =>
        sql.raw(certificateRow(thumbprint, 'n2', state)).execute(database.write);
      await add('BB', 'pending');
      expect(database.nodeLookup.hasAnnounced('n2', 'BB', '-')).to.equal(true);
      // What a node has shown is still of that node alone, and caches hear of every change.
      await sql`delete from node_certificates where node_id = 'n2'`.execute(database.write);
      expect((await failureOf(add('AA', 'current'))).message).to.match(/UNIQUE/);
      await sql`delete from nodes where id = 'n1'`.execute(database.write);
      expect(database.nodeLookup.byThumbprint('AA')).to.equal(null);
    } finally {
      await database.close();
    }
    expect(tables()).to.not.include('kept_certificates');
  });

  it('describe the built-in groups, where nobody has described them', async () => {
    await migrateTo('0011-access-changes');
    inDatabase((handle) => {
      const group =
        handle.prepare(`insert into groups (id, name, name_key, description, created_at, modified_at)
        values (?, ?, ?, ?, 1, 1)`);
      const [administrators, operators] = BUILT_IN_GROUPS;
      group.run(administrators.id, 'Chiefs', 'chiefs', null);
      group.run(operators.id, 'Operators', 'operators', 'by hand');
      group.run('g', 'Night shift', 'night shift', null);
    });
    await open();
    const [administrators] = BUILT_IN_GROUPS;
    const described = all('select description from groups order by name').flat();
    expect(described).to.deep.equal([administrators.description, null, 'by hand']);
  });

  it('put beside the nodes that are there already what lists ask of them', async () => {
    await migrateTo('0015-running');
    say(configurationRow('c', 'web'));
    say(`
        insert into nodes (id, fqdn, status, lcm_status, configuration_mode_interval_ms, created_at) values
          ('n1', 'a', 'Compliant', 'Idle', 5, 1), ('n2', 'b', 'Compliant', 'Idle', 5, 1), ('n3', 'c', 'Error', 'Idle', 5, 1);
        insert into assignments (node_id, configuration_id, assigned_at) values ('n1', 'c', 1), ('n2', 'c', 1);
        ${certificateRow('t', 'n1')}; ${scopeValueRow('00000000-0000-0000-0000-000000000001', 'v')};
        insert into node_check_ins (node_id, last_check_in) values ('n3', 7);
        insert into node_running (node_id, checksum, evidence, since) values ('n3', 'x', 'Told', 1);
        insert into node_tags values ('n2', '00000000-0000-0000-0000-000000000001', 'v', 1)`);
    await open();
    expect(all('select id, assigned_id, assigned_as, evidence from nodes order by 1')).to.deep.equal([
      ['n1', 'c', '||', null],
      ['n2', 'c', '||', null],
      ['n3', null, null, 'Told'],
    ]);
    const number = 'select number from nodes';
    expect(all(`select number = (${number} where id = node_id) from node_check_ins`)).to.deep.equal([[1]]);
    expect(all('select id, certificate_end from nodes where certificate_end is not null')).to.deep.equal([
      ['n1', 9],
    ]);
    expect(all('select fqdn from node_tags')).to.deep.equal([['b']]);
    const numbers = all('select number from nodes order by 1').flat();
    say(nodeRows(['n4', 'd']));
    const [added] = all(`select number from nodes where id = 'n4'`).flat();
    expect(added).to.be.greaterThan(Math.max(...(numbers as number[])));
  });

  it('pin no node that was assigned something before, and refuse a pin beside a constraint', async () => {
    await migrateTo('0013-certificate-rotation');
    say(configurationRow('c1', 'web'));
    say(nodeRows(['n1', 'n1'], ['n2', 'n2']));
    say(`insert into assignments (node_id, configuration_id, major_version, prerelease_channel, assigned_at)
      values ('n1', 'c1', 2, 'rc', 7)`);
    await open();
    const list = () => inDatabase((handle) => handle.prepare('select * from assignments').all());
    const before = { node_id: 'n1', configuration_id: 'c1', composite_id: null, major_version: 2 };
    expect(list()).to.deep.equal([{ ...before, prerelease_channel: 'rc', assigned_at: 7, version: null }]);
    expect(() => say(`update assignments set version = '2.0.0'`)).to.throw(/CHECK/);
    say(`insert into assignments (node_id, configuration_id, version, assigned_at)
      values ('n2', 'c1', '2.0.0', 8)`);
    expect(list()).to.have.length(2);
  });

  for (const target of ['configuration', 'composite'])
    it(`let the nodes of each distinct assignment of one ${target} be counted from the index alone`, async () => {
      await open();
      const plan = all(`explain query plan select major_version, prerelease_channel, version, count(*)
        from assignments where ${target}_id = 'c1' group by major_version, prerelease_channel, version`);
      const wanted = `SEARCH assignments USING COVERING INDEX assignments_by_${target} (${target}_id=?)`;
      expect(plan.map((row) => (row as unknown[]).at(-1))).to.deep.equal([wanted]);
    });

  describe('of a newer release', () => {
    beforeEach(async () => {
      await open();
      say(`insert into kysely_migration (name, timestamp) values ('9999-of-tomorrow', '')`);
    });

    it('do not keep out a release that they allow', async () => {
      await open();
    });

    it('keep out one that they do not allow, which says what is needed', async () => {
      say(`update oldest_release set version = '99.1.0'`);
      const error = await failureOf(open());
      expect(error).to.include({ code: 'newer_release_needed' });
      expect(error.message).to.include('99.1.0').and.to.include(readVersion());
    });

    it('keep out one that would have to add migrations of its own', async () => {
      say(`delete from kysely_migration where name = '0020-several-servers'`);
      const error = await failureOf(open());
      expect(error).to.include({ code: 'newer_release_needed' });
      expect(error.message).to.include('9999-of-tomorrow').and.to.not.include('former release');
    });
  });

  it('are not run where the list of them has a gap, which is told from a migration that fails', async () => {
    await open();
    say(`delete from kysely_migration where name = '0020-several-servers'`);
    const error = await failureOf(open());
    expect(error).to.include({ code: 'database_damaged' });
    expect(error.message).to.include('0020-several-servers').and.to.include('hawser restore');
  });
});
