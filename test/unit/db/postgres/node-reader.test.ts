import type { Database as SqliteHandle } from 'better-sqlite3';
import { expect } from 'chai';
import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Pool } from 'pg';
import type { Database } from '../../../../src/db/database.ts';
import { migrate } from '../../../../src/db/migrate.ts';
import type { NodeReader } from '../../../../src/db/node-reader.ts';
import { Connections } from '../../../../src/db/postgres/connections.ts';
import { MIGRATIONS } from '../../../../src/db/postgres/migrations.ts';
import { PostgresNodeReader } from '../../../../src/db/postgres/node-reader.ts';
import type { Schema } from '../../../../src/db/schema.ts';
import { SqliteNodeReader } from '../../../../src/db/sqlite/node-reader.ts';
import { DATABASE_FILE, openReader, openSqlite } from '../../../../src/db/sqlite/open.ts';
import {
  configurationRow,
  nodeRows,
  scopeTypeRow,
  scopeValueRow,
  tagRow,
} from '../../../support/engines/rows.ts';
import { newDatabase, type TestDatabase } from '../../../support/postgres.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

const CERTIFICATE =
  '(thumbprint, sha1_thumbprint, node_id, state, subject, not_before, not_after, created_at)';

/** Both engines take these statements as they are. */
const SITE = [
  configurationRow('c1', 'web'),
  `insert into composites (id, name, name_key, entry_point, created_at, updated_at)
    values ('k1', 'all', 'all', 'main.dsc.yaml', 1, 1)`,
  nodeRows(['n1', 'web-04'], ['n2', 'web-03'], ['n3', 'web-02'], ['n4', 'web-01']),
  `insert into node_certificates ${CERTIFICATE} values
    ('AA', 'A1', 'n1', 'current', 'CN=1', 0, 4102444800000, 1), ('BB', null, 'n2', 'current', 'CN=2', 0, 7, 1),
    ('CC', null, 'n3', 'current', 'CN=3', 0, 8, 1), ('DD', null, 'n1', 'pending', 'CN=1', 0, 4102444800001, 1),
    ('DD', null, 'n2', 'pending', 'CN=2', 0, 6, 1), ('E1', null, 'n4', 'pending', 'CN=4', 0, 5, 1)`,
  `insert into assignments (node_id, configuration_id, composite_id, major_version, prerelease_channel, version, assigned_at)
    values ('n1', 'c1', null, 3, 'beta', null, 1), ('n2', null, 'k1', null, null, '1.2.3', 1)`,
  `update scope_types set precedence = 100 where name = 'Node'`,
  ...[scopeTypeRow('Site', 7), scopeTypeRow('Role', 3), scopeTypeRow('Off', 4, 0)],
  ...[scopeValueRow('Site', 'Berlin'), scopeValueRow('Role', 'db'), scopeValueRow('Off', 'x')],
  ...[tagRow('n1', 'Site', 'Berlin'), tagRow('n1', 'Role', 'db'), tagRow('n1', 'Off', 'x')],
  tagRow('n2', 'Role', 'db'),
  `delete from nodes where id = 'n3'`,
];

const IDS = ['n1', 'n2', 'n3', 'n4', 'nobody', "n1'", '{n1}', '"', '\\', ''];
const THUMBPRINTS = ['AA', 'BB', 'CC', 'DD', 'E1', 'A1', 'aa', ''];

/** All that the two readers are asked, in one turn. */
async function readAll(reader: NodeReader) {
  const each = async <T>(keys: readonly string[], read: (key: string) => T | Promise<T>) =>
    Promise.all(keys.map(async (key): Promise<[string, T]> => [key, await read(key)]));
  const [byThumbprint, byId, isId, byName, announced, scopes, first, rest] = await Promise.all([
    each(THUMBPRINTS, (key) => reader.byThumbprint(key)),
    each(IDS, (key) => reader.byNodeId(key)),
    each(IDS, (key) => reader.isNodeId(key)),
    each(['web-01', 'web-02', 'web-04', 'WEB-01'], (key) => reader.idByFqdn(key)),
    each(IDS, (key) => each(THUMBPRINTS, (thumbprint) => reader.hasAnnounced(key, 'ZZ', thumbprint))),
    each(IDS, (key) => reader.scopesOf(key)),
    reader.namesAfter(0, 2),
    reader.namesAfter(2, 9),
  ]);
  return { byThumbprint, byId, isId, byName, announced, scopes, first, rest };
}

describe('nodes that are read from PostgreSQL', () => {
  const folder = temporaryFolder('all tests');
  let sqlite: Database;
  let handle: SqliteHandle;
  let place: TestDatabase;
  let pool: Pool;
  let postgres: Kysely<Schema>;
  let reader: PostgresNodeReader;
  let queries: number;

  before(async () => {
    sqlite = await openSqlite(folder());
    handle = openReader(folder(DATABASE_FILE));
    place = await newDatabase();
    pool = (await Connections.load(place.url)).pool(5);
    postgres = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
    await migrate(postgres, MIGRATIONS);
    for (const db of [sqlite.write, postgres])
      for (const statement of SITE) await sql.raw(statement).execute(db);
  });

  beforeEach(() => {
    queries = 0;
    reader = new PostgresNodeReader(async (text, values) => {
      queries += 1;
      return (await pool.query<unknown[]>({ text, values, rowMode: 'array' })).rows;
    });
  });

  after(async () => {
    handle.close();
    await sqlite.close();
    await postgres.destroy();
    await place.drop();
  });

  it('are the same as from SQLite, and one query finds many', async () => {
    const expected = await readAll(new SqliteNodeReader(handle));
    expect(await readAll(reader)).to.deep.equal(expected);
    // One of each kind, and the two of names.
    expect(queries).to.equal(8);
    const [, row] = expected.byThumbprint[0] ?? [];
    expect(row).to.deep.equal(['n1', 4102444800000, 4102444800001, 'c1', null, 3, 'beta', null]);
    const [, scopes] = expected.scopes[0] ?? [];
    const named = scopes?.map(([, , , name, , value]) => value ?? name);
    expect(named).to.deep.equal(['Default', 'db', 'Berlin', 'Node']);
  });
});
