// full: SQLite
import { expect } from 'chai';
import { sql } from 'kysely';
import { AuditFilter } from '../../../src/api/audit/schemas.ts';
import { StatusEventFilter } from '../../../src/api/nodes/schemas.ts';
import { NodeReportFilter } from '../../../src/api/reports/schemas.ts';
import { listVisible } from '../../../src/db/activity.ts';
import { allEntries, listEntries } from '../../../src/db/audit-trail.ts';
import type { Database } from '../../../src/db/database.ts';
import { findBeginnings, findParts, type Named } from '../../../src/db/named-things.ts';
import { listRows, listStatusEvents } from '../../../src/db/nodes.ts';
import { allReports, countVerdicts, listNodeReports, listReports } from '../../../src/db/reports.ts';
import { DAY, HOUR, MINUTE } from '../../../src/lib/clock.ts';
import { type OpenedEngine, openOn } from '../../support/engines/open.ts';
import { fillRandomly, NOW, type RandomFleet } from '../../support/engines/random-fleet.ts';

const at = (time: number) => new Date(time).toISOString();
const RULE = { now: NOW, stalenessMultiplier: 1.5 };
const PERIODS = [
  {},
  { from: at(NOW - 2 * DAY) },
  { to: at(NOW - DAY + 1) },
  { from: at(NOW - 3 * DAY), to: at(NOW - 2 * DAY) },
  { from: at(NOW - 90 * MINUTE), to: at(NOW - 7 * MINUTE) },
];
const PAGES = [{}, { take: '7', skip: '5' }, { take: '3', skip: '500' }];
const REPORT_FILTERS = [
  {},
  { operation: 'Test' },
  { inDesiredState: 'null' },
  { inDesiredState: 'false', hadErrors: 'true' },
  { operation: 'Export', inDesiredState: 'true', hadErrors: 'false' },
];
const NODES: Named = {
  ...{ table: 'nodes', name: 'fqdn', key: 'fqdn', detail: sql`status` },
  toKey: (text) => text.toLowerCase(),
};
const CONFIGURATIONS: Named = {
  ...{ table: 'configurations', name: 'name', key: 'name_key', detail: sql`description` },
  toKey: (text) => text.toLowerCase(),
};

describe('what is read of a random fleet is the same on both engines', () => {
  let engines: [OpenedEngine, OpenedEngine];
  let fleet: RandomFleet;
  before(async () => {
    engines = [await openOn('SQLite'), await openOn('PostgreSQL')];
    for (const { database } of engines) fleet = await fillRandomly(database.write, 21);
  });
  after(() => Promise.all(engines.map((each) => each.close())));

  /** @param size how much an answer holds, because answers that are all empty would be equal too */
  async function expectSame<Q, T>(
    queries: readonly Q[],
    ask: (database: Database, query: Q, index: number) => Promise<T>,
    size: (answer: T) => number,
  ) {
    let found = 0;
    for (const [index, query] of queries.entries()) {
      const answers = engines.map(({ database }) => ask(database, query, index));
      const [onSqlite, onPostgres] = await Promise.all(answers);
      expect(onPostgres).to.deep.equal(onSqlite);
      found += size(onSqlite as T);
    }
    expect(found).to.be.greaterThan(0);
  }

  const ofPage = ({ rows }: { rows: unknown[] }) => rows.length;
  const ofRows = (rows: unknown[]) => rows.length;
  const queries = (filters: readonly object[]) =>
    filters.flatMap((filter) =>
      PERIODS.flatMap((period) => PAGES.map((page) => ({ ...filter, ...period, ...page }))),
    );
  async function gather<T>(slices: AsyncIterable<T[]>): Promise<T[]> {
    const all: T[] = [];
    for await (const slice of slices) all.push(...slice);
    return all;
  }

  it('reports, of all nodes and of one', async () => {
    const filters = queries(REPORT_FILTERS).map((query) => NodeReportFilter.parse(query));
    await expectSame(filters, ({ read }, filter) => listReports(read, filter), ofPage);
    const ofNode = ({ read }: Database, filter: (typeof filters)[number], index: number) =>
      listNodeReports(read, fleet.nodeIds[index % 5] ?? '', filter);
    await expectSame(filters, ofNode, ofPage);
    const whole = REPORT_FILTERS.map((query) => NodeReportFilter.parse(query));
    await expectSame(whole, ({ read }, filter) => gather(allReports(read, filter)), ofRows);
  });

  it('verdicts over time', async () => {
    const spans = (length: number) =>
      Array.from({ length: 40 }, (_, index) => ({
        start: NOW - 3 * DAY + index * length + 17,
        end: NOW - 3 * DAY + (index + 1) * length + 17,
      }));
    await expectSame(
      [5 * MINUTE, 40 * MINUTE, 3 * HOUR],
      ({ read }, length) => countVerdicts(read, spans(length)),
      (counts) => counts.reduce((sum, { errors, compliant }) => sum + errors + compliant, 0),
    );
  });

  it('entries of the audit trail, by filter and by what a user may see', async () => {
    const [configuration = ''] = fleet.configurationIds;
    const filters = [
      ...[{}, { action: 'node.tagged' }, { resourceType: 'Node' }, { resourceId: configuration }],
      ...[{ resourceType: 'User', action: 'node.deleted' }],
    ];
    const asked = queries(filters).map((query) => AuditFilter.parse(query));
    await expectSame(asked, ({ read }, filter) => listEntries(read, filter), ofPage);
    const whole = filters.map((query) => AuditFilter.parse(query));
    await expectSame(whole, async ({ read }, filter) => gather(await allEntries(read, filter)), ofRows);
    const none = { Node: [], Configuration: [], Parameters: [], CompositeConfiguration: [] } as const;
    const visible = [
      { ...none, Node: 'all' as const },
      { ...none, Configuration: fleet.configurationIds.slice(0, 3), Parameters: fleet.configurationIds },
    ];
    const places = [undefined, { timestamp: NOW - 30 * MINUTE, seq: 300 }];
    const views = visible.flatMap((each) => places.map((before) => ({ each, before })));
    await expectSame(
      views,
      ({ read }, { each, before }) => listVisible(read, each, { take: 12, before }),
      ofRows,
    );
  });

  it('nodes, their events, and names', async () => {
    const rowsOf = async ({ read }: Database) => {
      const rows = await listRows(read, RULE, fleet.nodeIds);
      // What SQLite compares is a number.
      return rows.map((row) => ({ ...row, isStale: Boolean(row.isStale) }));
    };
    await expectSame([null], rowsOf, ofRows);
    const periods = PERIODS.map((period) => StatusEventFilter.parse(period));
    const eventsOf = ({ read }: Database, period: (typeof periods)[number], index: number) =>
      listStatusEvents(read, fleet.nodeIds[index] ?? '', period);
    await expectSame(periods, eventsOf, ofPage);
    const texts = ['web', 'b-', 'a_b', '%', 'example.c', 'än', '1'];
    for (const named of [NODES, CONFIGURATIONS]) {
      await expectSame(texts, ({ read }, text) => findBeginnings(read, named, text, 15), ofRows);
      await expectSame(
        texts,
        (database, text) => findParts(database, named, text, { take: 15, caller: 'a user' }),
        ofRows,
      );
    }
  });
});
