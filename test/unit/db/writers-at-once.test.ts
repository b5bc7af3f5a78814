// full: SQLite
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import { keepManifests } from '../../../src/db/manifests.ts';
import { EVIDENCE, NODE_STATUSES } from '../../../src/db/node-tables.ts';
import { insertNode, listStatusEvents, updateReported } from '../../../src/db/nodes.ts';
import { openPostgres } from '../../../src/db/postgres/open.ts';
import { allNodeReports } from '../../../src/db/reports.ts';
import { takeNotesTurn, writeRunning } from '../../../src/db/running.ts';
import { removeNode } from '../../../src/deeds/delete-node.ts';
import { writeStatuses } from '../../../src/deeds/take-lcm-status.ts';
import { type ReceivedReport, writeReports } from '../../../src/deeds/take-report.ts';
import { NO_FAULTS } from '../../../src/domain/report-faults.ts';
import { NODE_SCOPE_TYPE_ID } from '../../../src/domain/scopes.ts';
import { MINUTE } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/ids.ts';
import { writeCheckIns } from '../../../src/pull/check-ins.ts';
import { systemActor } from '../../../src/security/audit.ts';
import { insertCertificate } from '../../../src/security/pending-certificates.ts';
import { connect, onPostgres } from '../../support/engines/both.ts';
import { countFaults } from '../../support/engines/counts.ts';
import { configurationRow, scopeValueRow } from '../../support/engines/rows.ts';
import { newDatabase, type TestDatabase } from '../../support/postgres.ts';

const NODES = 60;
const DURATION = 4_000;
const NOW = 1_800_000_000_000;

const below = (count: number) => Math.floor(Math.random() * count);
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T;
/** Some nodes in any order. Few nodes and few checksums make writers meet. */
const someOf = (ids: readonly string[], count = 15) => [
  ...new Set(Array.from({ length: count }, () => oneOf(ids))),
];
const checksum = () => oneOf(['a', 'b', 'c']).repeat(64);

describe('writers beside each other on PostgreSQL', () => {
  let place: TestDatabase;
  /** Two servers on one database. */
  let servers: Database[];
  let nodeIds: string[];

  before(async () => {
    place = await newDatabase();
    servers = [await openPostgres(place.url), await openPostgres(place.url)];
    const [first] = servers as [Database];
    nodeIds = Array.from({ length: NODES }, () => newId());
    for (const id of nodeIds) await register(first, id);
    const rows = [configurationRow('web', 'web'), configurationRow('db', 'db')];
    for (const statement of [...rows, scopeValueRow(NODE_SCOPE_TYPE_ID, 'v')])
      await sql.raw(statement).execute(first.write);
  });
  after(async () => {
    for (const server of servers) await server.close();
    await place.drop();
  });

  async function register({ write }: Database, id: string): Promise<void> {
    await write.transaction().execute(async (trx) => {
      await insertNode(trx, { id, fqdn: `${id}.example`, now: NOW, settings: {} });
      const times = { notBefore: 0, notAfter: NOW + below(1000) };
      const certificate = { thumbprint: newId(), sha1Thumbprint: null, subject: 'CN=x', ...times };
      await insertCertificate(trx, { nodeId: id, state: 'current', now: NOW }, certificate);
    });
  }

  const call = ({ writeNow }: Database) =>
    writeCheckIns(
      writeNow,
      someOf(nodeIds).map((id) => [id, NOW + below(1000)]),
    );

  const tell = ({ noteUnflushed }: Database) =>
    noteUnflushed.transaction().execute(async (trx) => {
      const since = NOW + below(1000);
      const notes = someOf(nodeIds).map((id) => {
        const told = { checksum: checksum(), evidence: oneOf(EVIDENCE) };
        const running = { ...told, since, last: since };
        return [id, { running, answered: checksum(), served: null }] as const;
      });
      await takeNotesTurn(trx, () =>
        notes.map(([id, { running, answered }]) => [id, running.checksum, answered]),
      );
      await writeRunning(trx, notes);
      const manifest = { configurationName: 'web', isComposite: false, version: '1.0.0' };
      const tag = { objectId: '', commit: '', tagger: '', taggedAt: '' };
      const content = { tag, entryPoint: '', parts: [] };
      const checksums = notes.map(([, { running }]) => running.checksum);
      await keepManifests(
        trx,
        checksums.map((each) => ({ checksum: each, ...manifest, content })),
      );
    });

  const report = ({ writeNow }: Database) =>
    writeNow.transaction().execute((trx) =>
      writeReports(
        trx,
        someOf(nodeIds).map((node_id): ReceivedReport => {
          const outcome = { operation: 'Test', in_desired_state: below(2), had_errors: below(2) } as const;
          const row = { id: newId(), node_id, timestamp: NOW + below(MINUTE), ...outcome, result: '{}' };
          const named = below(2) === 0 ? { checksum: checksum() } : { checksum: null };
          const faults = outcome.had_errors === 1 ? { outOfState: 1, firstFault: null } : NO_FAULTS;
          return { row, nodeStatus: oneOf(NODE_STATUSES), ...named, servedChecksum: checksum(), faults };
        }),
      ),
    );

  /** What the API does to several nodes in one transaction, in any order. */
  const change = ({ write }: Database) =>
    write.transaction().execute(async (trx) => {
      for (const node_id of someOf(nodeIds, 4)) {
        const node = await trx.selectFrom('nodes').select('id').where('id', '=', node_id).executeTakeFirst();
        if (node === undefined) continue;
        const target = { configuration_id: oneOf(['web', 'db']), major_version: below(3), assigned_at: NOW };
        await trx
          .insertInto('assignments')
          .values({ node_id, ...target })
          .onConflict((conflict) => conflict.column('node_id').doUpdateSet(target))
          .execute();
        if (below(4) === 0) await trx.deleteFrom('assignments').where('node_id', '=', node_id).execute();
        await trx.deleteFrom('node_tags').where('node_id', '=', node_id).execute();
        const tag = { node_id, scope_type_id: NODE_SCOPE_TYPE_ID, scope_value_id: 'v', assigned_at: NOW };
        await trx.insertInto('node_tags').values(tag).execute();
      }
    });

  const speak = async ({ write, writeNow }: Database) => {
    const told = someOf(nodeIds).map((nodeId) => ({
      nodeId,
      lcmStatus: oneOf(['Idle', 'Testing']),
      now: NOW + below(MINUTE),
    }));
    await writeNow.transaction().execute((trx) => writeStatuses(trx, told));
    const settings = { configuration_mode_interval_ms: below(3) };
    await write.transaction().execute((trx) => updateReported(trx, oneOf(nodeIds), settings));
  };

  /** Only the first server does this, so that each node is removed once. */
  const replace = async (server: Database) => {
    const at = below(nodeIds.length);
    const gone = nodeIds[at] ?? '';
    await removeNode(server, systemActor(NOW), gone);
    const id = newId();
    await register(server, id);
    nodeIds[at] = id;
  };

  /** What the lists show of a node, which servers whose clocks differ by up to a minute have written. */
  const expectOneOrder = async ({ read }: Database, nodeId: string) => {
    const { rows } = await listStatusEvents(read, nodeId, { take: 1_000_000, skip: 0 });
    const statuses = rows.flatMap(({ status }) => status ?? []);
    for (const [at, status] of statuses.entries()) expect(status).not.to.equal(statuses[at + 1]);
    const node = await read
      .selectFrom('nodes')
      .select(['status', 'lcm_status'])
      .where('id', '=', nodeId)
      .executeTakeFirstOrThrow();
    expect(node.status).to.equal(statuses[0] ?? 'Unknown');
    expect(node.lcm_status).to.equal(
      rows.find(({ lcmStatus }) => lcmStatus !== null)?.lcmStatus ?? 'Unknown',
    );
    const reports = await allOf(read, nodeId);
    expect(reports).to.deep.equal(reports.toSorted((a, b) => b - a));
  };

  /** The numbers of the reports of a node, in the order of their list. Numbers are given in the order of the commits. */
  const allOf = async (read: Database['read'], nodeId: string) => {
    const numbers: number[] = [];
    for await (const slice of allNodeReports(read, nodeId, { take: 1, skip: 0 }))
      numbers.push(...slice.map(({ seq }) => seq));
    return numbers;
  };

  it('fail never, because a deadlock is rare and healed by another try, and leave exact counts and one order', async () => {
    const until = performance.now() + DURATION;
    const rounds: Record<string, number> = {};
    const repeat = async (name: string, work: () => Promise<unknown>) => {
      while (performance.now() < until) {
        await work();
        rounds[name] = (rounds[name] ?? 0) + 1;
      }
    };
    const [first] = servers as [Database];
    const works = Object.entries({ call, tell, report, change, speak });
    await Promise.all([
      ...servers.flatMap((server) => works.map(([name, work]) => repeat(name, () => work(server)))),
      repeat('replace', () => replace(first)),
    ]);
    for (const name of [...works.map(([work]) => work), 'replace']) expect(rounds[name], name).to.be.above(0);
    const client = await connect(place.url);
    try {
      expect(await countFaults(onPostgres(client))).to.deep.equal({});
      for (const nodeId of nodeIds) await expectOneOrder(first, nodeId);
    } finally {
      await client.end();
    }
  });
});
