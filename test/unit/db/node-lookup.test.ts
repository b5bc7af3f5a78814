import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import { noteRefsMoved } from '../../../src/db/repository-rows.ts';
import { openSqlite } from '../../../src/db/sqlite/open.ts';
import { newId } from '../../../src/lib/ids.ts';

describe('the look-up of a node', () => {
  let folder: string;
  let database: Database;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-lookup-'));
    database = await openSqlite(folder);
    await database.write.transaction().execute(async (trx) => {
      const nothing = {
        configuration_source: null,
        configuration_mode: null,
        configuration_mode_interval: null,
      };
      const desired = { desired_configuration_mode: null, desired_configuration_mode_interval: null };
      await trx
        .insertInto('nodes')
        .values({
          ...{ id: 'node', fqdn: 'web-01', status: 'Unknown', lcm_status: 'Unknown', created_at: 1 },
          ...{ ...nothing, ...desired, configuration_mode_interval_ms: null },
          ...{ report_compliance: null, desired_report_compliance: null },
        })
        .execute();
      const term = { not_before: 0, not_after: 9, created_at: 1 };
      await trx
        .insertInto('node_certificates')
        .values({ thumbprint: 'AB', node_id: 'node', state: 'current', subject: 'CN=web-01', ...term })
        .execute();
    });
  });

  after(async () => {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  // No test below lets the event loop turn between a write and the look-up that must see it.

  it('sees a transaction that was committed in the same turn', async () => {
    const before = await database.nodeLookup.byThumbprint('AB');
    expect(before).to.include({ nodeId: 'node', assignment: null });
    await database.write.transaction().execute(async (trx) => {
      await noteRefsMoved(trx, { kind: 'parameters', name: 'web' }, 1);
      const meanwhile = await database.nodeLookup.byThumbprint('AB');
      expect(meanwhile?.generation).to.equal(before?.generation);
    });
    const after = await database.nodeLookup.byThumbprint('AB');
    expect(after?.generation).to.equal((before?.generation ?? 0) + 1);
  });

  it('finds a node by its fqdn as people write it, and by its id first', async () => {
    const add = (id: string, fqdn: string) =>
      sql`insert into nodes (id, fqdn, status, lcm_status, created_at) values (${id}, ${fqdn}, 'Idle', 'Idle', 1)`.execute(
        database.write,
      );
    const [first, second] = [newId(), newId()];
    await add(first, 'db-01.example.org');
    await add(second, first);
    const { nodeLookup } = database;
    for (const text of ['db-01.example.org', 'DB-01.Example.ORG', 'db-01.example.org.', first])
      expect(nodeLookup.findId(text), text).to.equal(first);
    for (const text of [second, first.toUpperCase()]) expect(nodeLookup.findId(text), text).to.equal(second);
    for (const text of ['db-01', 'db-01.example.org..', '%', 'db_01.example.org', '', newId(), ' '])
      expect(nodeLookup.findId(text), text).to.equal(null);
    await sql`delete from nodes where id = ${first}`.execute(database.write);
    expect(nodeLookup.findId('db-01.example.org')).to.equal(null);
    expect(nodeLookup.findId(first)).to.equal(second);
  });

  it('sees a single statement of the same turn', async () => {
    expect(database.nodeLookup.byNodeId('node')).to.not.equal(null);
    await database.write.deleteFrom('nodes').where('id', '=', 'node').execute();
    expect(database.nodeLookup.byNodeId('node')).to.equal(null);
    expect(database.nodeLookup.byThumbprint('AB')).to.equal(null);
  });
});
