// full: SQLite, PostgreSQL

import { expect } from 'chai';
import { keepNow } from '../../src/deeds/keep-hours.ts';
import { DAY, HOUR } from '../../src/lib/clock.ts';
import { openFleetThreads } from '../../src/threads/open.ts';
import type { Client } from '../support/client.ts';
import { publishWithChildren } from '../support/composites.ts';
import { MAIN, release } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { testOutput } from '../support/dsc-results.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { NO_KEYS } from '../support/keys.ts';
import { assign } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { sendReport } from '../support/running.ts';
import { started } from '../support/started.ts';
import { withdraw } from '../support/withdrawals.ts';

const DOCUMENT = '$schema: x\nresources: []\n';
const FLEET = '/api/v1/fleet/history';
const OF_WEB = '/api/v1/fleet/configurations/web/history';
const NULLS = { nodes: null, compliant: null, nonCompliant: null, error: null, unknown: null, stale: null };

describe('the history of the fleet', () => {
  const hawser = started(startHawser);
  const nodes: NodeUnderTest[] = [];
  /** A full hour, a day before now. */
  let start = 0;

  const at = (time: number) => new Date(time).toISOString();
  const history = (
    from: number,
    to: number,
    bucket = '01:00:00',
    path = FLEET,
    client: Client = hawser.admin,
  ) => ok(200, client.get(`${path}?from=${at(from)}&to=${at(to)}&bucket=${bucket}`));
  const keep = (ended: number) =>
    withDatabase(hawser, async (database) => {
      const { dataDir, databaseUrl, reposDir } = hawser;
      const threads = openFleetThreads({ dataDir, databaseUrl, reposDir }, NO_KEYS);
      try {
        await keepNow({ database, questions: threads.questions }, ended);
      } finally {
        await Promise.all([threads.questions.close(), threads.previews.close()]);
      }
    });

  before(async () => {
    start = Math.floor((hawser.clock.now() - DAY) / HOUR) * HOUR;
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: DOCUMENT } });
    await publishWithChildren(hawser.admin, 'farm', '1.0.0', ['web']);
    for (const name of ['a', 'b', 'c', 'd']) nodes.push(await hawser.registerNode(`${name}.example.org`));
    const [a, b, c] = nodes as [NodeUnderTest, NodeUnderTest, NodeUnderTest];
    await assign(hawser, a, 'web');
    await assign(hawser, b, 'farm', { isComposite: true });
    await assign(hawser, c, 'web', { version: '1.0.0' });
    await ok(201, sendReport(a));
    await keep(start + HOUR);
    await release(hawser.admin, 'web', '1.1.0', { files: { [MAIN]: `${DOCUMENT}# 2\n` } });
    await ok(201, sendReport(a, { result: testOutput([], true) }));
    await keep(start + 2 * HOUR);
    // Nothing has changed since.
    await keep(start + 3 * HOUR);
    await ok(200, withdraw(hawser.admin, 'web', '1.1.0'));
  });

  it('has the nodes by status at the end of each bucket, nulls where nothing is kept, and now where it holds now', async () => {
    const { buckets } = await history(start, start + 5 * HOUR);
    expect(buckets.map(({ from }: { from: string }) => from)).to.deep.equal(
      [0, 1, 2, 3, 4].map((hour) => at(start + hour * HOUR)),
    );
    const counts = buckets.map(({ from: _from, to: _to, ...rest }: Record<string, unknown>) => rest);
    const none = { nonCompliant: 0, error: 0, stale: 0 };
    const first = { nodes: 4, compliant: 1, unknown: 3, ...none };
    const second = { ...first, compliant: 0, error: 1 };
    expect(counts).to.deep.equal([first, second, second, NULLS, NULLS]);
    const whole = await history(start, start + 5 * HOUR, '05:00:00');
    expect(whole.buckets).to.have.length(1);
    expect(whole.buckets[0], 'the newest that is kept of it').to.include(second);
    const now = await history(hawser.clock.now() - HOUR, hawser.clock.now() + HOUR, '02:00:00');
    expect(now.buckets[0]).to.include(second);
  });

  it('has the nodes that are offered a configuration by whatever way, and their versions', async () => {
    const { buckets } = await history(start, start + 4 * HOUR, '01:00:00', OF_WEB);
    const versions = buckets.map((bucket: { versions: unknown }) => bucket.versions);
    expect(versions).to.deep.equal([
      [{ version: '1.0.0', nodes: 3 }],
      ...Array(2).fill([
        { version: '1.1.0', nodes: 2 },
        { version: '1.0.0', nodes: 1 },
      ]),
      null,
    ]);
    expect(buckets[1]).to.include({ nodes: 3, compliant: 0, error: 1, unknown: 2 });
    const now = await history(hawser.clock.now() - HOUR, hawser.clock.now() + HOUR, '02:00:00', OF_WEB);
    expect(now.buckets[0].versions).to.deep.equal([{ version: '1.0.0', nodes: 3 }]);
    const ofFarm = `${FLEET.replace('history', 'configurations/farm/history')}?isComposite=true&`;
    const farm = await ok(
      200,
      hawser.admin.get(`${ofFarm}from=${at(start)}&to=${at(start + HOUR)}&bucket=01:00:00`),
    );
    expect(farm.buckets[0]).to.deep.include({ nodes: 1, versions: [{ version: '1.0.0', nodes: 1 }] });
    await withDatabase(hawser, async ({ read }) => {
      const rows = await read.selectFrom('offered_hours').select('ended').execute();
      expect(rows.map(({ ended }) => ended - start).sort(), 'what stays is not written again').to.deep.equal([
        ...[HOUR, HOUR, 2 * HOUR],
      ]);
    });
  });

  it('tells what happened meanwhile, as far as the caller may read it', async () => {
    const until = hawser.clock.now() + HOUR;
    await ok(200, hawser.admin.put('/api/v1/settings/freeze', { reason: 'sales', until: at(until) }));
    await ok(204, hawser.admin.delete('/api/v1/settings/freeze'));
    const { events } = await history(hawser.clock.now() - HOUR, until);
    expect(events.map(({ kind, summary }: Record<string, string>) => `${kind}: ${summary}`)).to.deep.equal([
      'Publish: Version 1.0.0 of web was published',
      'Publish: Version 1.0.0 of farm was published',
      'Publish: Version 1.1.0 of web was published',
      'Withdrawal: Version 1.1.0 of web was withdrawn',
      ...['Freeze: A freeze was set', 'Freeze: The freeze was ended'],
    ]);
    expect(await ok(200, hawser.admin.get(events[0].link))).to.include({ version: '1.0.0' });
    const reader = await makeUser(hawser, { username: 'reader', permissions: ['nodes.read'] });
    const shown = await history(hawser.clock.now() - HOUR, until, '01:00:00', FLEET, reader);
    expect(shown.events.map(({ kind }: { kind: string }) => kind)).to.deep.equal(['Freeze', 'Freeze']);
    const ofWeb = await history(hawser.clock.now() - HOUR, until, '01:00:00', OF_WEB);
    expect(ofWeb.events).to.have.length(5);
    const span = `from=${at(start)}&to=${at(until)}&bucket=01:00:00`;
    await expectProblem(reader.get(`${OF_WEB}?${span}`), 404, 'not_found');
    const nobody = await makeUser(hawser, { username: 'nobody', permissions: ['reports.read'] });
    await expectProblem(nobody.get(`${FLEET}?${span}`), 403, 'forbidden');
  });

  it('refuses buckets that are too short, too long or too many, and an end before the begin', async () => {
    const span = (from: number, to: number, bucket: string) =>
      hawser.admin.get(`${FLEET}?from=${at(from)}&to=${at(to)}&bucket=${bucket}`);
    await expectInvalid(span(start, start + HOUR, '00:30:00'), '/bucket');
    await expectInvalid(span(start, start + HOUR, '32.00:00:00'), '/bucket');
    await expectInvalid(span(start, start + 1001 * HOUR, '01:00:00'), '/bucket');
    await expectInvalid(span(start, start - HOUR, '01:00:00'), '/to');
    expect((await history(start, start)).buckets).to.deep.equal([]);
  });

  it('is kept for 400 days, and what held then goes on to be known', async () => {
    const later = start + 401 * DAY;
    await keep(later);
    await withDatabase(hawser, async ({ read }) => {
      const hours = await read.selectFrom('fleet_hours').select('ended').execute();
      expect(hours.map(({ ended }) => ended)).to.deep.equal([later]);
    });
    const { buckets } = await history(later - HOUR, later, '01:00:00', OF_WEB);
    expect(buckets[0].versions).to.deep.equal([{ version: '1.0.0', nodes: 3 }]);
  });
});
