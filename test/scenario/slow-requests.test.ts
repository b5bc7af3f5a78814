// full: SQLite, PostgreSQL
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { AtomicFs } from '../../src/git/atomic-fs.ts';
import { create } from '../support/configurations.ts';
import { eventually } from '../support/eventually.ts';
import { startHawser } from '../support/hawser.ts';
import { HeldDisk, holdWrites } from '../support/held-writes.ts';
import { untilInFlight, WITH_METRICS } from '../support/metric-values.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const SLOW = 200;
/** Longer than what counts as slow. */
const HELD = 300;

describe('the log of requests', () => {
  const disk = new HeldDisk();
  const hawser = started(() => startHawser(WITH_METRICS, { slowMs: SLOW, fs: new AtomicFs(disk) }));

  /** The lines of requests to this path. A line is written once the answer has gone. */
  const linesOf = (path: string) =>
    hawser
      .log()
      .split('\n')
      .filter((line) => line.includes(`"path":"${path}`))
      .map((line) => JSON.parse(line));

  it('warns of a slow request, and says where its time went', async () => {
    const { isHeld, letGo } = await holdWrites(disk, hawser.databaseUrl);
    const creating = create(hawser.admin, 'web');
    await isHeld;
    const waiting = create(hawser.admin, 'web');
    await untilInFlight(hawser.target(), 2);
    await sleep(HELD);
    letGo();
    await ok(201, creating);
    await ok(409, waiting);
    const lines = await eventually(async () => {
      const written = linesOf('/api/v1/configurations"');
      expect(written).to.have.length(2);
      return written;
    });
    for (const line of lines) expect(line).to.include({ level: 'warn', msg: 'request', slow: true });
    const [first, second] = lines.sort((one, other) => one.status - other.status);
    expect(first.parts).to.have.all.keys('queue', 'database', 'git', 'disk', 'other');
    const { git, database } = first.parts;
    // Where the repositories are in PostgreSQL, its objects were held up there.
    expect(git + database, 'its objects were held up').to.be.at.least(SLOW);
    const sum = Object.values<number>(second.parts).reduce((all, part) => all + part, 0);
    expect(sum).to.be.at.least(SLOW);
  });

  it('does not call slow what waits for events because its client wishes so', async () => {
    await eventually(async () => {
      const last = (await ok(200, hawser.admin.get('/api/v1/events'))).at(-1);
      const after = last === undefined ? '' : `&after=${last.id}`;
      expect(await ok(200, hawser.admin.get(`/api/v1/events?wait=1${after}`))).to.deep.equal([]);
    });
    const line = await eventually(async () => {
      const last = linesOf('/api/v1/events').at(-1);
      expect(last?.ms).to.be.at.least(SLOW);
      return last;
    });
    expect(line).to.include({ level: 'debug' }).and.not.have.property('slow');
  });

  it('has no line at info for what the LCM of each node says all day', async () => {
    const node = await hawser.registerNode('web-01');
    const path = `/api/v1/nodes/${node.nodeId}/lcm-status`;
    // On a busy machine a request may be slow, which is warned of.
    const line = await eventually(async () => {
      await ok(204, node.client.put(path, { lcmStatus: 'Idle' }));
      return linesOf(path).find(({ slow }) => slow !== true) ?? expect.fail('all were slow');
    });
    expect(line).to.include({ level: 'debug', status: 204 });
  });
});
