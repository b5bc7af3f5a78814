import { expect } from 'chai';
import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import { noteRefsMoved } from '../../../src/db/repository-rows.ts';
import { newId } from '../../../src/lib/ids.ts';
import { certificateRow, nodeRows } from '../../support/engines/rows.ts';
import { temporarySqlite } from '../../support/temporary.ts';

describe('the look-up of a node', () => {
  const opened = temporarySqlite('all tests');
  let database: Database;
  const write = (statement: string) => sql.raw(statement).execute(database.write);

  before(async () => {
    database = opened();
    await write(nodeRows(['node', 'web-01']));
    await write(certificateRow('AB', 'node'));
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
    const [first, second] = [newId(), newId()];
    await write(nodeRows([first, 'db-01.example.org'], [second, first]));
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
