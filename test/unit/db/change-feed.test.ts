import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import { noteRefsMoved } from '../../../src/db/repository-rows.ts';
import { DATABASE_FILE, openSqlite } from '../../../src/db/sqlite/open.ts';
import {
  certificateRow,
  configurationRow,
  nodeRows,
  scopeTypeRow,
  scopeValueRow,
  tagRow,
} from '../../support/engines/rows.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** Two handles on one file, as two processes have them: what `here` writes, `there` must hear of. */
describe('the change feed', () => {
  const folder = temporaryFolder();
  let here: Database;
  let there: Database;

  beforeEach(async () => {
    here = await openSqlite(folder());
    there = await openSqlite(folder());
    for (const statement of [nodeRows(['n1', 'web-01']), configurationRow('c1', 'web')])
      await write(statement);
    await write(certificateRow('AB', 'n1'));
  });

  afterEach(async () => {
    await here.close();
    await there.close();
  });

  const write = (statement: string) => sql.raw(statement).execute(here.write);

  /** In a later turn, as any request of a client that has its answer is. */
  async function seenThere(thumbprint: string) {
    await nextTurn();
    return there.nodeLookup.byThumbprint(thumbprint);
  }

  it('ends what is remembered of a node when its assignment comes, changes and goes', async () => {
    expect(await seenThere('AB')).to.include({ nodeId: 'n1', assignment: null });
    await write(`insert into assignments (node_id, configuration_id, assigned_at) values ('n1', 'c1', 1)`);
    expect((await seenThere('AB'))?.assignment).to.include({ configurationId: 'c1', majorVersion: null });
    await sql`update assignments set major_version = 2`.execute(here.write);
    expect((await seenThere('AB'))?.assignment).to.include({ majorVersion: 2 });
    await sql`delete from assignments`.execute(here.write);
    expect((await seenThere('AB'))?.assignment).to.equal(null);
  });

  it('ends what is remembered of a certificate that changes its term, is replaced, or goes with its node', async () => {
    expect((await seenThere('AB'))?.certificateNotAfter).to.equal(9);
    await sql`update node_certificates set not_after = 10`.execute(here.write);
    expect((await seenThere('AB'))?.certificateNotAfter).to.equal(10);
    await sql`update node_certificates set thumbprint = 'CD'`.execute(here.write);
    expect(await seenThere('AB')).to.equal(null);
    expect(await seenThere('CD')).to.include({ nodeId: 'n1' });
    await sql`delete from nodes`.execute(here.write);
    expect(await seenThere('CD')).to.equal(null);
  });

  it('gives a node that is remembered the generation of now', async () => {
    const before = (await seenThere('AB'))?.generation ?? 0;
    await noteRefsMoved(here.write, { kind: 'parameters', name: 'web' }, 2);
    expect((await seenThere('AB'))?.generation).to.equal(before + 1);
    await noteRefsMoved(here.write, { kind: 'configurations', name: 'web' }, 3);
    expect((await seenThere('AB'))?.generation).to.equal(before + 2);
  });

  it('ends what is remembered of scopes when tags, scope types or values change', async () => {
    const scopes = async () => {
      const node = await seenThere('AB');
      const links = node && (await there.nodeLookup.scopesOf(node));
      return links?.map((each) => each.scopeValue ?? each.scopeTypeName);
    };
    expect(await scopes()).to.deep.equal(['Default', 'web-01']);
    await write(`update scope_types set precedence = 9 where name = 'Node'`);
    for (const [at, type] of ['Site', 'Role'].entries()) await write(scopeTypeRow(type, at + 1));
    for (const value of ['berlin', 'paris']) await write(scopeValueRow('Site', value));
    await write(scopeValueRow('Role', 'db'));
    expect(await scopes()).to.deep.equal(['Default', 'web-01']);
    await write(tagRow('n1', 'Site', 'berlin'));
    expect(await scopes()).to.deep.equal(['Default', 'berlin', 'web-01']);
    await write(tagRow('n1', 'Role', 'db'));
    expect(await scopes()).to.deep.equal(['Default', 'berlin', 'db', 'web-01']);
    await write(`update scope_types set precedence = 3 where name = 'Site'`);
    expect(await scopes()).to.deep.equal(['Default', 'db', 'berlin', 'web-01']);
    await write(`update node_tags set scope_value_id = 'paris' where scope_type_id = 'Site'`);
    expect(await scopes()).to.deep.equal(['Default', 'db', 'paris', 'web-01']);
    await write(`update scope_values set value = 'lyon' where value = 'paris'`);
    expect(await scopes()).to.deep.equal(['Default', 'db', 'lyon', 'web-01']);
    await write(`delete from node_tags where scope_type_id = 'Role'`);
    expect(await scopes()).to.deep.equal(['Default', 'lyon', 'web-01']);
    await write(`update scope_types set is_enabled = 0 where name = 'Default'`);
    expect(await scopes()).to.deep.equal(['lyon', 'web-01']);
    await write(`update scope_types set is_enabled = 0 where name = 'Node'`);
    expect(await scopes()).to.deep.equal(['lyon']);
    await write('delete from node_tags');
    expect(await scopes()).to.deep.equal([]);
  });

  it('gives nodes with the same tags scopes of which only their own differ', async () => {
    await write(nodeRows(['n2', 'web-02']));
    await write(certificateRow('EF', 'n2'));
    const nodes = [await seenThere('AB'), await seenThere('EF')];
    const links = await Promise.all(nodes.map((node) => node && there.nodeLookup.scopesOf(node)));
    const values = links.map((each) => each?.at(-1)?.scopeValue);
    expect(values).to.deep.equal(['web-01', 'web-02']);
    expect(nodes[0]?.scopes?.shared).to.equal(nodes[1]?.scopes?.shared);
  });

  it('names the repositories whose refs moved, in order', async () => {
    const heard: string[] = [];
    await seenThere('AB');
    there.changes.subscribe({
      onChange: (kind, key) => heard.push(`${kind} ${key}`),
      onLost: () => undefined,
    });
    await noteRefsMoved(here.write, { kind: 'parameters', name: 'db' }, 2);
    await noteRefsMoved(here.write, { kind: 'configurations', name: 'web' }, 3);
    await seenThere('AB');
    expect(heard).to.deep.equal(['parameters db', 'configurations web']);
  });

  it('tells what was committed before an event, where somebody has asked since the last one', async () => {
    const heard: string[] = [];
    await seenThere('AB');
    there.changes.subscribe({
      onChange: (kind, key) => heard.push(`${kind} ${key}`),
      onLost: () => undefined,
    });
    const other = new SqliteDatabase(join(folder(), DATABASE_FILE));
    const [asking, answering] = await connected();
    try {
      // What another process has answered lies there before this one waits for it.
      setImmediate(() => {
        there.changes.catchUp('now');
        other.exec(`insert into changes (kind, key) values ('parameters', 'db')`);
        answering.write('done');
      });
      await once(asking, 'data');
      there.changes.catchUp('now');
      expect(heard).to.deep.equal(['parameters db']);
    } finally {
      for (const socket of [asking, answering]) socket.destroy();
      other.close();
    }
  });

  it('says so when more has happened than is kept, and forgets what it remembered', async () => {
    let lost = 0;
    expect((await seenThere('AB'))?.certificateNotAfter).to.equal(9);
    there.changes.subscribe({ onChange: () => undefined, onLost: () => (lost += 1) });
    await sql`update node_certificates set not_after = 10`.execute(here.write);
    await sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < 10100)
      insert into changes (kind, key) select 'certificates', 'other' from n`.execute(here.write);
    expect((await seenThere('AB'))?.certificateNotAfter).to.equal(10);
    expect(lost).to.equal(1);
    const { rows } = await sql<{ n: number }>`select count(*) as n from changes`.execute(here.read);
    expect(rows[0]?.n).to.equal(10_000);
  });
});

/** Both ends of a connection. */
async function connected(): Promise<[Socket, Socket]> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'connection') as Promise<[Socket]>;
  const one = connect(port, '127.0.0.1');
  const [other] = await accepted;
  server.close();
  return [one, other];
}
