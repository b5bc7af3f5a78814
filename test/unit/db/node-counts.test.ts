import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { listNodes } from '../../../src/api/nodes/queries.ts';
import { type Database, openDatabase } from '../../../src/db/open.ts';
import { newId } from '../../../src/lib/ids.ts';

const STATUSES = ['Unknown', 'Compliant', 'NonCompliant', 'Error'];
const LCM_STATUSES = ['Unknown', 'Idle', 'Testing'];
const RULE = { now: 0, stalenessMultiplier: 2 };

describe('how many nodes there are of each status', () => {
  let folder: string;
  let database: Database;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-counts-'));
    database = await openDatabase(folder);
  });
  after(async () => {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ids: string[] = [];
  const one = <T>(list: readonly T[], at: number) => list[at % list.length] as T;

  async function add(at: number): Promise<void> {
    const id = newId();
    ids.push(id);
    await database.write
      .insertInto('nodes')
      .values({
        ...{
          id,
          fqdn: `node-${at}.example.org`,
          status: one(STATUSES, at),
          lcm_status: one(LCM_STATUSES, at),
        },
        ...{ configuration_source: null, configuration_mode: null, configuration_mode_interval: null },
        ...{
          configuration_mode_interval_ms: null,
          report_compliance: null,
          desired_configuration_mode: null,
        },
        ...{ desired_configuration_mode_interval: null, desired_report_compliance: null, created_at: 0 },
      })
      .execute();
  }

  /** The total that the list gives against the rows that there are. */
  async function expectTotals(): Promise<void> {
    const rows = await database.read.selectFrom('nodes').select(['status', 'lcm_status']).execute();
    for (const status of [undefined, ...STATUSES]) {
      for (const lcmStatus of [undefined, ...LCM_STATUSES]) {
        const filter = { take: 1_000, skip: 0, status, lcmStatus } as Parameters<typeof listNodes>[1];
        const { total, rows: listed } = await listNodes(database.read, filter, RULE);
        const matching = rows.filter(
          (row) => (status ?? row.status) === row.status && (lcmStatus ?? row.lcm_status) === row.lcm_status,
        );
        expect([total, listed.length], `${status} ${lcmStatus}`).to.deep.equal([
          matching.length,
          matching.length,
        ]);
      }
    }
  }

  it('follows nodes that come, change and go', async () => {
    await expectTotals();
    for (let at = 0; at < 30; at += 1) await add(at);
    await expectTotals();
    for (const [at, id] of ids.entries()) {
      const change = { status: one(STATUSES, at * 3), lcm_status: one(LCM_STATUSES, at * 2) };
      await database.write.updateTable('nodes').set(change).where('id', '=', id).execute();
    }
    await expectTotals();
    await database.write.deleteFrom('nodes').where('id', 'in', ids.slice(0, 20)).execute();
    await expectTotals();
    await database.write.deleteFrom('nodes').execute();
    await expectTotals();
  });
});
