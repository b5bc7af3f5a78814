import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import { atOneForeignMoment } from '../../../../src/db/foreign-database.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../../../src/lib/clock.ts';
import { UsageError } from '../../../../src/lib/command-words.ts';
import { parseDatabaseUrl } from '../../../../src/lib/database-url.ts';
import { readSite } from '../../../../src/operations/import-opendsc/source/read-site.ts';
import type { SourceSite } from '../../../../src/operations/import-opendsc/source/site.ts';
import { asNobody } from '../../../support/as-nobody.ts';
import { failureOf } from '../../../support/failures.ts';
import { NEVER, OpenDscSite, type Row } from '../../../support/opendsc/site.ts';
import { queryAs } from '../../../support/postgres/cluster.ts';
import { newDatabase, querySharedCluster, superUrlOf } from '../../../support/postgres.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const ENGINES = ['sqlite', 'postgres'] as const;
const INTERVAL = DAY + 90 * SECOND + 250;
const FIRST = '10000000-0000-4000-8000-00000000000a';

const folder = temporaryFolder();

const write = (site: OpenDscSite, engine: (typeof ENGINES)[number] = 'sqlite') =>
  site.write({ engine, folder: folder() });

/** What is read of a site that is written anew. */
const readBack = async (site: OpenDscSite, engine: (typeof ENGINES)[number] = 'sqlite') =>
  readSite((await write(site, engine)).location);

/** What stands in the way of reading, as a person would see it. */
const faultOf = async (location: string) => (await failureOf(readSite(location))).message;

/** A server with something in every table. */
function fullSite(): OpenDscSite {
  const site = new OpenDscSite();
  const web = site.configuration({ name: 'web', columns: { Description: 'Ünïcode "quoted"' } });
  const base = site.configuration({ name: 'base' });
  site.version(web, { version: '1.0.0', createdAt: '2026-11-22 11:25:29.2665625+00:00' });
  site.version(web, { version: '2.0.0-rc.1', status: 'Draft', createdBy: 'alice' });
  site.version(base, { createdAt: '2026-11-22 11:25:29.2665631+00:00' });
  const all = site.composite({ name: 'all' });
  const children = [{ configuration: web, version: '1.0.0' }, { configuration: base }];
  site.compositeVersion(all, { version: '1.0.0' }, ...children);
  const region = site.scopeType({ name: 'Region', precedence: 10 });
  const north = site.scopeValue(region, 'north');
  site.parameters({ configuration: web, text: 'parameters:\n  a: 1\n' });
  site.parameters({ configuration: web, scopeType: region, value: 'north', isPassthrough: true });
  const locked = { LockoutEnd: '9999-12-31 23:59:59.9999999+00:00' };
  const alice = site.user({ username: 'alice', columns: locked });
  const robot = site.user({ username: 'robot', password: null, accountType: 'ServiceAccount' });
  const people = site.group({ name: 'People' });
  const author = site.role({ name: 'Author', permissions: ['nodes.read', 'no.such'] });
  site.member({ user: alice, group: people });
  site.member({ user: robot, role: author });
  site.grant({ configuration: web, user: alice, level: 'Manage' });
  site.grant({ composite: all, group: people, level: 'Read' });
  site.grant({ parametersOf: web, user: robot, level: 'Modify' });
  site.add('ExternalGroupMappings', { Provider: 'entra', ExternalGroupId: 'g-1', GroupId: people.id });
  site.add('ExternalLogins', { UserId: alice.id, Provider: 'entra', ProviderKey: 'a-1' });
  site.add('PersonalAccessTokens', { UserId: alice.id, Name: 'laptop' });
  const defaults = { DefaultConfigurationMode: 1, DefaultConfigurationModeInterval: 15 * MINUTE };
  site.settings('ServerSettings', defaults);
  const ofWeb = { ParameterValidation: 'Warn', RetentionKeepDays: 3 };
  site.add('ConfigurationSettings', { ConfigurationId: web.id, ...ofWeb });
  site.registrationKey('c2VjcmV0', { MaxUses: 5, CurrentUses: 2, Description: 'for the north' });
  const node = site.node({
    fqdn: 'web1.example.test',
    assignment: { composite: all, majorVersion: 1, prereleaseChannel: 'rc' },
    tags: [north],
    mode: 'Monitor',
    columns: { ConfigurationModeInterval: INTERVAL, LastCheckIn: NEVER, ReportCompliance: true },
  });
  site.node({ fqdn: 'web2.example.test', source: 'Local', assignment: { configuration: web } });
  site.add('Reports', { NodeId: node.id, Operation: 'Test' });
  site.add('NodeStatusEvents', { NodeId: node.id, LcmStatus: 'Idle' });
  site.add('NodeStatusEvents', { NodeId: node.id, LcmStatus: 'Running' });
  site.add('AuditLogs', { Action: 'x', ResourceType: 'y' });
  return site;
}

describe('the database of an OpenDSC server', () => {
  it('is the same whichever engine has it', async () => {
    const site = fullSite();
    const sqlite = await readBack(site);
    const postgres = await readBack(site, 'postgres');
    expect(postgres.site).to.deep.equal(sqlite.site);
    expect([sqlite.engine, postgres.engine]).to.deep.equal(ENGINES);
  });

  it('has all of its tables read', async () => {
    const { site } = await readBack(fullSite());
    const empty = Object.entries(site).filter(([, rows]) => Array.isArray(rows) && rows.length === 0);
    expect(empty).to.deep.equal([]);
  });

  it('gives what stands in its rows', async () => {
    const { site } = await readBack(fullSite());
    expect(site.nodes.find(({ fqdn }) => fqdn === 'web1.example.test')).to.deep.include({
      ...{ configurationSource: 'Pull', configurationMode: 'Monitor', configurationModeInterval: INTERVAL },
      ...{ reportCompliance: true, desiredConfigurationMode: null, lastCheckIn: null, status: 'Unknown' },
      certificateSubject: 'CN=web1.example.test',
    });
    expect(site.serverSettings).to.deep.include({
      certificateRotationInterval: 60 * DAY,
      stalenessMultiplier: 2,
      defaultConfigurationMode: 'Remediate',
      defaultReportCompliance: null,
      retentionScheduleInterval: DAY,
    });
    expect(site.users.find(({ username }) => username === 'alice')).to.deep.include({
      accountType: 'User',
      lockoutEnd: Date.parse('9999-12-31T23:59:59.999Z'),
    });
    const author = site.roles.find(({ name }) => name === 'Author');
    expect(author?.permissions).to.deep.equal(['nodes.read', 'no.such']);
    const files = site.parameterFiles.map(
      ({ scopeValue, isPassthrough }) => `${scopeValue} ${isPassthrough}`,
    );
    expect(files).to.deep.equal(['null false', 'north true']);
  });

  it('gives ids in lower case', async () => {
    const site = new OpenDscSite();
    site.node({ fqdn: 'a.example', id: FIRST });
    expect((await readBack(site)).site.nodes[0]?.id).to.equal(FIRST);
  });

  it('gives versions in the order in which they were made, also within a millisecond', async () => {
    const site = new OpenDscSite();
    const web = site.configuration({ name: 'web' });
    const made = ['.123457', '.123456', '.1234559', ''].map((digits) => `2026-03-01 00:00:00${digits}+00:00`);
    for (const [index, createdAt] of made.entries())
      site.version(web, { version: `${index}.0.0`, createdAt });
    for (const engine of ENGINES) {
      const { versions } = (await readBack(site, engine)).site;
      expect(versions.map(({ version }) => version)).to.deep.equal(['3.0.0', '2.0.0', '1.0.0', '0.0.0']);
    }
  });

  it('says what is not carried over', async () => {
    expect((await readBack(fullSite())).site.notCarried).to.deep.equal([
      { kind: 'personal access tokens', count: 1, names: ['alice: laptop'] },
      { kind: 'reports', count: 1, names: [] },
      { kind: 'status events', count: 2, names: [] },
      { kind: 'audit trail', count: 1, names: [] },
      { kind: 'retention runs', count: 0, names: [] },
    ]);
  });

  it('has none of what is not carried over where the tables are absent', async () => {
    const { location } = await write(new OpenDscSite());
    const tables = ['PersonalAccessTokens', 'Reports', 'AuditLogs', 'ExternalLogins'];
    change(location, ...tables.map((table) => `DROP TABLE "${table}"`));
    const { notCarried } = (await readSite(location)).site;
    expect(notCarried.map(({ count }) => count)).to.deep.equal([0, 0, 0, 0, 0]);
  });

  it('may be without the columns that not every release has', async () => {
    const { location } = await write(fullSite());
    const columns = ['Users.Description', 'Users.AccessFailedCount', 'RegistrationKeys.CreatedAt'];
    change(location, ...columns.map((name) => `ALTER TABLE ${name.replace('.', ' DROP COLUMN ')}`));
    const { users, registrationKeys } = (await readSite(location)).site;
    expect(users[0]).to.deep.include({ description: null, accessFailedCount: 0 });
    expect(registrationKeys[0]?.createdAt).to.equal(null);
  });

  it('is named without a password', async () => {
    const { url } = await newDatabase();
    const { name } = await readBack(new OpenDscSite(), 'postgres');
    expect(name).to.match(/^127\.0\.0\.1:\d+\/hawser_\w+$/);
    expect(name).to.not.include(new URL(url).password);
  });
});

/** Runs statements on an SQLite file and leaves no log behind. */
function change(file: string, ...statements: string[]): void {
  const database = new SqliteDatabase(file);
  for (const statement of statements) database.exec(statement);
  database.close();
}

describe('the values of an OpenDSC database', () => {
  const seconds = Date.UTC(2026, 10, 22, 11, 25, 29);

  /** What comes of a value in a column that each node has. */
  async function readNode(columns: Row): Promise<SourceSite['nodes'][number] | undefined> {
    const site = new OpenDscSite();
    site.node({ fqdn: 'a.example', columns });
    return (await readBack(site)).site.nodes[0];
  }

  const times: [string | typeof NEVER, number | null][] = [
    ['2026-11-22 11:25:29+00:00', seconds],
    ['2026-11-22 11:25:29.2+00:00', seconds + 200],
    ['2026-11-22 11:25:29.2665+00:00', seconds + 266],
    ['2026-11-22 11:25:29.9999999+00:00', seconds + 999],
    ['2026-11-22 13:25:29.2665625+02:00', seconds + 266],
    ['2026-11-22 05:55:29.2665625-05:30', seconds + 266],
    ['0001-01-01 00:00:00+00:00', null],
    [NEVER, null],
    ['9999-12-31 23:59:59.9999999+00:00', Date.parse('9999-12-31T23:59:59.999Z')],
  ];
  const durations: [string, number][] = [
    ['00:15:00', 15 * MINUTE],
    ['00:00:00', 0],
    ['1.02:03:04', DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND],
    ['60.00:00:00', 60 * DAY],
    ['00:00:01.5000000', 1_500],
    ['23:59:59.9999999', DAY - 1],
    ['-00:00:30', -30 * SECOND],
  ];

  for (const [text, expected] of times)
    it(`takes ${text === NEVER ? 'the first moment of .NET' : String(text)} for ${expected ?? 'never'}`, async () => {
      expect((await readNode({ CertificateNotAfter: text }))?.certificateNotAfter).to.equal(expected);
    });

  it('takes the same times on PostgreSQL, whatever the time zone and the styles of the database are', async () => {
    const site = new OpenDscSite();
    for (const [index, [text]] of times.entries()) {
      const columns: Row = { CertificateNotAfter: text, ConfigurationModeInterval: 90_061_500 };
      site.node({ fqdn: String(index), columns });
    }
    const { location } = await write(site, 'postgres');
    await setStyles(location);
    const { nodes } = (await readSite(location)).site;
    const read = [...nodes].sort((a, b) => Number(a.fqdn) - Number(b.fqdn));
    expect(read.map(({ certificateNotAfter }) => certificateNotAfter).slice(0, -1)).to.deep.equal(
      times.map(([, expected]) => expected).slice(0, -1),
    );
    expect(new Set(nodes.map((node) => node.configurationModeInterval))).to.deep.equal(new Set([90_061_500]));
  });

  for (const [text, expected] of durations)
    it(`takes ${text} for ${expected} ms`, async () => {
      const node = await readNode({ ConfigurationModeInterval: text });
      expect(node?.configurationModeInterval).to.equal(expected);
    });

  it('takes intervals of PostgreSQL', async () => {
    const intervals: [string, number][] = [
      ['15 minutes', 15 * MINUTE],
      ['1 day 02:03:04.5', DAY + 2 * HOUR + 3 * MINUTE + 4 * SECOND + 500],
      ['-1 days +02:00:00', -DAY + 2 * HOUR],
      ['100:00:00', 100 * HOUR],
      ['60 days', 60 * DAY],
      ['0', 0],
    ];
    const site = new OpenDscSite();
    for (const [text] of intervals) site.node({ fqdn: text, columns: { ConfigurationModeInterval: text } });
    const { nodes } = (await readBack(site, 'postgres')).site;
    const read = new Map(nodes.map((node) => [node.fqdn, node.configurationModeInterval]));
    expect(read).to.deep.equal(new Map(intervals));
  });

  it('may be numbers or names where one of a few is meant', async () => {
    const { location } = await write(fullSite());
    change(location, `UPDATE "Nodes" SET "ConfigurationSource" = 'pull', "ConfigurationMode" = 'Remediate'`);
    const { nodes } = (await readSite(location)).site;
    expect(nodes[0]).to.deep.include({ configurationSource: 'Pull', configurationMode: 'Remediate' });
  });

  /** What is wrong with a full database in which this column of all rows is set to a value in SQL. */
  async function faultWith(location: string, name: string, value: string): Promise<string> {
    const [table, column] = name.split('.');
    const copy = folder(`${randomUUID()}.db`);
    cpSync(location, copy);
    change(copy, 'PRAGMA foreign_keys = OFF', `UPDATE "${table}" SET "${column}" = ${value}`);
    return faultOf(copy);
  }

  it('are named with table and column where they are not understood', async () => {
    const { location } = await write(fullSite());
    const cases: [column: string, value: string, shown: string][] = [
      ['Nodes.CertificateNotAfter', `'22/11/2026'`, '"22/11/2026"'],
      ['Nodes.CertificateNotAfter', `'2026-02-30 00:00:00+00:00'`, '"2026-02-30 00:00:00+00:00"'],
      ['Nodes.ConfigurationModeInterval', `'25 o''clock'`, `"25 o'clock"`],
      ['Nodes.ConfigurationSource', '7', '"7"'],
      ['Roles.Permissions', `'{}'`, '"{}"'],
      ['Users.IsActive', `'perhaps'`, '"perhaps"'],
      ['Configurations.Name', `x'00ff'`, '2 bytes'],
    ];
    for (const [column, value, shown] of cases) {
      const fault = await faultWith(location, column, value);
      expect(fault).to.equal(`The database has ${shown} in ${column}, which is not understood`);
    }
  });

  it('are not shown where they are secret', async () => {
    const { location } = await write(fullSite());
    for (const secret of ['RegistrationKeys.Key', 'Users.PasswordHash', 'Users.PasswordSalt']) {
      const fault = await faultWith(location, secret, `CAST('hunter2' AS BLOB)`);
      expect(fault).to.equal(`The database has a value in ${secret}, which is not understood`);
    }
  });
});

async function setStyles(url: string): Promise<void> {
  const name = new URL(url).pathname.slice(1);
  const styles = ["datestyle = 'German'", "intervalstyle = 'iso_8601'", 'extra_float_digits = -5'];
  const settings = ["timezone = 'America/St_Johns'", ...styles];
  for (const setting of settings) await querySharedCluster(`alter database ${name} set ${setting}`);
}

describe('an OpenDSC database that is in use', () => {
  it('is read with what stands in its log alone', async () => {
    const { location } = await write(new OpenDscSite());
    const writer = openWriter(location);
    writer.exec(newNode('late.example'));
    const inFile = readWithoutLog(location);
    const { nodes } = (await readSite(location)).site;
    writer.close();
    expect(inFile).to.equal(0);
    expect(nodes.map(({ fqdn }) => fqdn)).to.deep.equal(['late.example']);
  });

  it('is left with the files that it had', async () => {
    const { location } = await write(new OpenDscSite());
    await readSite(location);
    expect(readdirSync(dirname(location))).to.deep.equal(['opendsc-server.db']);
  });

  it('may have lost its server, whose last rows are in the log', async () => {
    const { location } = await write(new OpenDscSite());
    const writer = openWriter(location);
    writer.exec(newNode('late.example'));
    const copy = folder('left.db');
    for (const end of ['', '-wal']) cpSync(`${location}${end}`, `${copy}${end}`);
    writer.close();
    expect((await readSite(copy)).site.nodes).to.have.lengthOf(1);
  });

  for (const withLog of [false, true])
    it(`may be in a folder that cannot be written, ${withLog ? 'with' : 'without'} a log`, async () => {
      const { location } = await write(new OpenDscSite());
      const writer = openWriter(location);
      writer.exec(newNode('late.example'));
      if (!withLog) writer.pragma('wal_checkpoint(TRUNCATE)');
      await onMedium(async (place) => {
        for (const end of withLog ? ['', '-wal'] : [''])
          cpSync(`${location}${end}`, join(place, `a.db${end}`));
        const before = readdirSync(place);
        const { nodes } = await readOnly(place, async () => (await readSite(join(place, 'a.db'))).site);
        expect(nodes.map(({ fqdn }) => fqdn)).to.deep.equal(['late.example']);
        expect(readdirSync(place)).to.deep.equal(before);
      });
      writer.close();
    });

  for (const engine of ENGINES)
    it(`is read as it was at one moment on ${engine}`, async () => {
      const site = new OpenDscSite();
      site.node({ fqdn: 'early.example' });
      const { location } = await write(site, engine);
      const place =
        engine === 'sqlite'
          ? ({ engine, file: location } as const)
          : ({ engine, url: location, address: parseDatabaseUrl(location) } as const);
      await atOneForeignMoment(place, async (tables) => {
        if (engine === 'sqlite') change(location, newNode('late.example'));
        else await queryAs(location, newNode('late.example'));
        expect(await tables.count('Nodes')).to.equal(1);
        expect(await tables.rows('Nodes', ['Fqdn'])).to.deep.equal([['early.example']]);
      });
      expect((await readSite(location)).site.nodes).to.have.lengthOf(2);
    });

  it('is not read any more after the work was broken off', async () => {
    const { location } = await write(new OpenDscSite());
    const reading = readSite(location, AbortSignal.abort(new Error('enough')));
    expect((await failureOf(reading)).message).to.equal('enough');
  });
});

/** A connection like that of a running server. It keeps what it writes in the log. */
function openWriter(file: string): SqliteDatabase.Database {
  const writer = new SqliteDatabase(file);
  writer.pragma('wal_autocheckpoint = 0');
  return writer;
}

/** How many nodes the file has without its log. */
function readWithoutLog(file: string): number {
  const copy = folder('without-log.db');
  cpSync(file, copy);
  const database = new SqliteDatabase(copy);
  const { count } =
    database.prepare<[], { count: number }>('SELECT count(*) AS count FROM "Nodes"').get() ?? {};
  database.close();
  return count ?? -1;
}

/** The statement is for both engines. */
function newNode(fqdn: string): string {
  const values = `'${randomUUID()}', '${fqdn}', 1, '${randomUUID()}', 'CN=${fqdn}', '2027-01-01 00:00:00+00:00', 'Unknown', 'Unknown', '2026-02-01 00:00:00+00:00'`;
  return `INSERT INTO "Nodes" ("Id", "Fqdn", "ConfigurationSource", "CertificateThumbprint", "CertificateSubject",
    "CertificateNotAfter", "Status", "LcmStatus", "CreatedAt") VALUES (${values})`;
}

/** A folder that any user may go to. Those of the tests are closed to other users. */
async function onMedium(work: (place: string) => Promise<void>): Promise<void> {
  const place = mkdtempSync('/tmp/opendsc-medium-');
  try {
    await work(place);
  } finally {
    chmodSync(place, 0o755);
    rmSync(place, { recursive: true });
  }
}

/** Reads as a user who may not write to the folder, and looks that nothing is left in the temporary one. */
async function readOnly<T>(place: string, work: () => Promise<T>): Promise<T> {
  const temporary = process.env['TMPDIR'];
  const own = mkdtempSync('/tmp/opendsc-nobody-');
  chmodSync(own, 0o777);
  chmodSync(place, 0o555);
  process.env['TMPDIR'] = own;
  try {
    return await asNobody(work);
  } finally {
    if (temporary === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = temporary;
    expect(readdirSync(own)).to.deep.equal([]);
    rmSync(own, { recursive: true });
  }
}

describe('what is no OpenDSC database', () => {
  it('may be no file, no SQLite file, or a folder', async () => {
    writeFileSync(folder('empty.db'), '');
    writeFileSync(folder('text.db'), 'This is some text, and not a database at all. '.repeat(100));
    symlinkSync('nowhere', folder('link.db'));
    const cases: [string, string][] = [
      ['absent.db', 'There is no file FOLDER/absent.db'],
      ['text.db/more', 'There is no file FOLDER/text.db/more'],
      ['link.db', 'There is no file FOLDER/link.db'],
      ['empty.db', 'FOLDER/empty.db is empty, and no SQLite database'],
      ['text.db', 'FOLDER/text.db is no SQLite database'],
      ['.', 'FOLDER/. is a folder, where the path of an SQLite file is needed'],
    ];
    for (const [name, expected] of cases)
      expect(await faultOf(`${folder()}/${name}`)).to.equal(expected.replace('FOLDER', folder()));
  });

  it('may be damaged', async () => {
    const { location } = await write(fullSite());
    const bytes = readFileSync(location);
    // All pages but the first one, which says what a database is.
    writeFileSync(location, bytes.fill(0xff, 4_096));
    expect(await faultOf(location)).to.match(/is damaged \(database disk image is malformed\)$/);
  });

  it('may be of another release: the first table or column that is absent is named', async () => {
    const { location } = await write(fullSite());
    const copy = folder('copy.db');
    cpSync(location, copy);
    change(copy, 'ALTER TABLE "CompositeConfigurations" DROP COLUMN "EntryPoint"');
    change(location, 'DROP TABLE "NodeTags"');
    const ending = 'it is of another release of OpenDSC, or of another program';
    const faults = [await faultOf(copy), await faultOf(location), await faultOf((await newDatabase()).url)];
    const absent = ['column CompositeConfigurations.EntryPoint', 'table NodeTags', 'table ScopeTypes'];
    expect(faults).to.deep.equal(absent.map((what) => `The database has no ${what}; ${ending}`));
  });

  it('may be one whose tables the user may not read', async () => {
    const { location } = await write(new OpenDscSite(), 'postgres');
    await queryAs(await superUrlOf(location), 'alter table "Users" owner to postgres');
    expect(await faultOf(location)).to.match(/ cannot be read \(permission denied for table Users\)$/);
  });

  it('may be a PostgreSQL that is not there, does not answer or refuses', async () => {
    const { url } = await newDatabase();
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const wrong = new URL(url);
    wrong.password = 'hunter2';
    const faults = [
      await faultOf('postgres://hawser:hunter2@127.0.0.1:1/opendsc'),
      await faultOf(`postgres://hawser:hunter2@127.0.0.1:${port}/opendsc?connect_timeout=1`),
      await faultOf(wrong.href),
      await faultOf(url.replace(/\w+$/, 'no_such_database')),
    ];
    silent.close();
    const [absent, late, refused, unknown] = faults;
    expect(absent).to.match(
      /^The database opendsc of PostgreSQL at .* cannot be opened \(.*ECONNREFUSED.*\)$/,
    );
    expect(late).to.match(/cannot be opened \(.*timeout.*\)$/);
    expect(refused).to.match(/password authentication failed/);
    expect(unknown).to.match(/"no_such_database" does not exist/);
    for (const secret of ['hunter2', new URL(url).password])
      expect(faults.filter((fault) => fault.includes(secret))).to.deep.equal([]);
  });

  it('may be SQL Server, for which there is another way', async () => {
    for (const location of [
      'Server=tcp:db.example,1433;Initial Catalog=opendsc;User ID=sa;Password=hunter2;',
      'Data Source=db.example;Initial Catalog=opendsc;Integrated Security=true',
      'sqlserver://sa:hunter2@db.example/opendsc',
      'mssql://sa:hunter2@db.example/opendsc',
      'jdbc:sqlserver://db.example;user=sa;password=hunter2',
    ]) {
      const fault = await faultOf(location);
      expect(fault, location).to.match(/^SQL Server is not read; export the database to an SQLite file/);
      expect(fault).to.not.include('hunter2');
    }
  });

  it('may be what --database does not take', async () => {
    const noPath = /takes the path .* and no connection string$/;
    const cases: [string, RegExp][] = [
      ['Host=db.example;Database=opendsc;Username=u;Password=hunter2', noPath],
      ['Data Source=/var/lib/opendsc/opendsc-server.db', noPath],
      ['mysql://root:hunter2@db.example/opendsc', /is a URL, but not that of a PostgreSQL database$/],
      ['postgres://u:hunter2@db.example', /the URL of --database names no database$/],
      ['postgres://u:hunter2@db.example/a?hunter=2', /has a parameter "hunter" that is not known$/],
      ['', /--database is no path$/],
    ];
    for (const [location, expected] of cases) {
      const error = await failureOf(readSite(location));
      expect(error).to.be.instanceOf(UsageError);
      expect(error.message).to.match(expected).and.not.include('hunter2');
    }
  });
});
