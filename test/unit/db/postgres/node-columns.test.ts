import { expect } from 'chai';
import { migrate } from '../../../../src/db/migrate.ts';
import { MIGRATIONS } from '../../../../src/db/postgres/migrations.ts';
import { connect, onPostgres, openKysely } from '../../../support/engines/both.ts';
import { countFaults } from '../../../support/engines/counts.ts';
import {
  certificateRow,
  configurationRow,
  nodeRows,
  scopeTypeRow,
  scopeValueRow,
  tagRow,
} from '../../../support/engines/rows.ts';
import { newDatabase } from '../../../support/postgres.ts';

const FIRST = '0039-node-columns';

describe('the columns that lists of nodes are read from, on PostgreSQL', () => {
  it('are filled for the nodes that are there already', async () => {
    const { url, drop } = await newDatabase();
    const db = openKysely(url);
    const client = await connect(url);
    const engine = onPostgres(client);
    try {
      const earlier = Object.entries(MIGRATIONS).filter(([name]) => name < FIRST);
      await migrate(db, Object.fromEntries(earlier));
      const statements = [
        configurationRow('c', 'web'),
        nodeRows(['n1', 'a'], ['n2', 'b'], ['n3', 'd']),
        `insert into assignments (node_id, configuration_id, major_version, prerelease_channel, assigned_at)
          values ('n1', 'c', 2, 'rc', 1)`,
        `insert into assignments (node_id, configuration_id, version, assigned_at) values ('n2', 'c', '1.0.0', 1)`,
        `insert into node_check_ins (node_id, last_check_in) values ('n3', 7)`,
        `insert into node_running (node_id, checksum, evidence, since) values ('n3', 'x', 'Told', 1)`,
        certificateRow('t', 'n1'),
        scopeTypeRow('Site', 9),
        scopeValueRow('Site', 'berlin'),
        tagRow('n2', 'Site', 'berlin'),
      ];
      for (const statement of statements) await engine.run(statement);
      await migrate(db, MIGRATIONS);
      expect(
        await engine.all('select id, assigned_id, assigned_as, evidence from nodes order by id'),
      ).to.deep.equal([
        { id: 'n1', assigned_id: 'c', assigned_as: '2|rc|', evidence: null },
        { id: 'n2', assigned_id: 'c', assigned_as: '||1.0.0', evidence: null },
        { id: 'n3', assigned_id: null, assigned_as: null, evidence: 'Told' },
      ]);
      expect(await countFaults(engine)).to.deep.equal({});
      const triggers = await engine.all(
        `select proname from pg_proc where proname ~ 'cell|node_counts|tag_counts|evidence_counts'`,
      );
      expect(triggers).to.deep.equal([]);
    } finally {
      await client.end();
      await db.destroy();
      await drop();
    }
  });
});
