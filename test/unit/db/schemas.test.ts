import { expect } from 'chai';
import { MIGRATIONS } from '../../../src/db/postgres/migrations.ts';
import { MIGRATION_NAMES } from '../../../src/db/sqlite/migrations.ts';
import { type BothEngines, openBoth } from '../../support/engines/both.ts';
import { postgresTables, sqliteTables } from '../../support/engines/tables.ts';

/** PostgreSQL reads nodes and calls themselves, and what changes with every call would cost it each index anew. */
const ON_SQLITE_ONLY = ['nodes_in_lists', 'node_check_ins_by_number'];

/** See its comment in the baseline. */
const ON_POSTGRES_ONLY = ['reports_by_outcome_not_said'];

/** SQLite belongs to one server, and its repositories and secrets are files. */
const TABLES_ON_POSTGRES_ONLY = [
  ...['git_object_parts', 'git_objects', 'git_refs', 'git_repositories', 'lead_lease', 'secrets', 'servers'],
];

describe('the schemas of both engines', () => {
  let both: BothEngines;

  before(async () => {
    both = await openBoth();
  });
  after(() => both.close());

  it('have the same tables, columns, keys, references, checks and indexes', async () => {
    const sqlite = await sqliteTables(both.sqlite, ON_SQLITE_ONLY);
    const postgres = await postgresTables(both.postgres, ON_POSTGRES_ONLY);
    expect(Object.keys(sqlite)).to.have.length.above(40);
    expect(Object.keys(postgres)).to.deep.equal([...Object.keys(sqlite), ...TABLES_ON_POSTGRES_ONLY].sort());
    for (const [name, table] of Object.entries(sqlite)) expect(postgres[name], name).to.deep.equal(table);
  });

  it('begin with the same rows', async () => {
    for (const table of ['generation', 'access_generation', 'running_generation', 'node_numbers', 'changes'])
      expect(await both.postgres.all(`select * from ${table}`), table).to.deep.equal(
        await both.sqlite.all(`select * from ${table}`),
      );
    const types = `select id, name, name_key, description, precedence, is_system, is_enabled, value_mode
      from scope_types order by id`;
    const rows = await both.postgres.all(types);
    expect(rows).to.deep.equal(await both.sqlite.all(types));
    expect(rows).to.have.length(2);
  });

  it('have the same migrations after the baseline', () => {
    const [baseline, ...later] = Object.keys(MIGRATIONS);
    expect(baseline).to.equal('0019-baseline');
    expect(later).to.deep.equal(MIGRATION_NAMES.filter((name) => name >= '0020'));
  });

  it('order texts by their bytes on PostgreSQL', async () => {
    const columns = await both.postgres.all(`select table_name, column_name from information_schema.columns
      where table_schema = 'public' and table_name not like 'kysely%' and data_type = 'text'
        and collation_name is distinct from 'C'`);
    expect(columns).to.deep.equal([]);
  });
});
