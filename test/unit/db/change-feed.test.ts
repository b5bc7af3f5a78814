import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { sql } from 'kysely';
import { type Database, openDatabase } from '../../../src/db/open.ts';
import { noteRefsMoved } from '../../../src/db/repository-rows.ts';

/** Two handles on one file, as two processes have them: what `here` writes, `there` must hear of. */
describe('the change feed', () => {
  let folder: string;
  let here: Database;
  let there: Database;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-changes-'));
    here = await openDatabase(folder);
    there = await openDatabase(folder);
    await sql`insert into nodes (id, fqdn, status, lcm_status, created_at)
      values ('n1', 'web-01', 'Unknown', 'Unknown', 1)`.execute(here.write);
    await sql`insert into configurations (id, name, name_key, use_server_managed_parameters, created_at, updated_at)
      values ('c1', 'web', 'web', 0, 1, 1)`.execute(here.write);
    await addCertificate('AB', 'n1');
  });

  afterEach(async () => {
    await here.close();
    await there.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const addCertificate = (thumbprint: string, node: string) =>
    sql`insert into node_certificates (thumbprint, node_id, state, subject, not_before, not_after, created_at)
      values (${thumbprint}, ${node}, 'current', 'CN=web-01', 0, 9, 1)`.execute(here.write);

  /** In a later turn, as any request of a client that has its answer is. */
  async function seenThere(thumbprint: string) {
    await nextTurn();
    return there.nodeLookup.byThumbprint(thumbprint);
  }

  it('ends what is remembered of a node when its assignment comes, changes and goes', async () => {
    expect(await seenThere('AB')).to.include({ nodeId: 'n1', assignment: null });
    await sql`insert into assignments (node_id, configuration_id, assigned_at) values ('n1', 'c1', 1)`.execute(
      here.write,
    );
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
