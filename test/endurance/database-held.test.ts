import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import { AtomicFs } from '../../src/git/atomic-fs.ts';
import { REPOSITORY_KINDS } from '../../src/git/types.ts';
import type { Client, Reply } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { databaseWrites } from '../support/database-writes.ts';
import { testOutput } from '../support/dsc-results.ts';
import { untilNumbered } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { rowsOf } from '../support/failing-database.ts';
import { expectRefusal, type Write } from '../support/fault-sweep.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { type Holder, holdDatabase } from '../support/held-database.ts';
import { untilInFlight, WITH_METRICS } from '../support/metric-values.ts';
import { assign, configurationPath, poll } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import { repositoryWrites } from '../support/repository-writes.ts';
import { RUNS } from '../support/retention.ts';
import { type Spawned, spawnHawser } from '../support/spawned.ts';
import { temporaryFolder } from '../support/temporary.ts';

/** Milliseconds. */
const LATER = 3_000;

const HELD = { status: 503, code: 'unavailable' };

describe('while another process holds the database', () => {
  let hawser: Hawser;
  let node: NodeUnderTest;
  let holder: Holder | null = null;
  /** One of every kind. */
  let writes: Write[];

  before(async () => {
    hawser = await startHawser(WITH_METRICS);
    await publishConfiguration(hawser.admin, 'polled', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' },
    });
    node = await hawser.registerNode('web-1.example.org');
    await assign(hawser, node, 'polled');
    // Made anew for each of those of repositories, which share variables.
    const ofRepositories = repositoryWrites(hawser).map(
      (_, index) => repositoryWrites(hawser)[index] as Write,
    );
    writes = [...ofRepositories, ...databaseWrites(hawser, node)];
    for (const write of writes) await write.setUp?.();
  });
  after(() => hawser?.close());
  afterEach(() => release());

  const hold = async (statement?: string) => {
    holder = await holdDatabase(hawser, statement);
  };
  const release = async () => {
    await holder?.release();
    holder = null;
  };
  const refs = () =>
    REPOSITORY_KINDS.flatMap((kind) =>
      readdirSync(`${hawser.reposDir}/${kind}`)
        .sort()
        .map((name) => [`${kind}/${name}`, hawser.git(`${kind}/${name}`, 'for-each-ref')]),
    );
  const state = () => ({ refs: refs(), rows: rowsOf(hawser.dataDir) });

  /** @param first the number of the first of them */
  const prepare = async (chosen: readonly Write[], first: number) => {
    for (const [index, write] of chosen.entries()) await write.prepare?.(first + index);
    return chosen.map(({ what, status, send }, index) => ({ what, status, send: () => send(first + index) }));
  };

  /** Sends each, and tells in which order the answers came. */
  const follow = (answered: string[], calls: readonly { what: string; send(): Promise<Reply> }[]) =>
    calls.map(async ({ what, send }) => {
      const reply = await send();
      answered.push(what);
      return reply;
    });

  /** The caller's own, and what it is answered before any of the writes that wait. */
  const read = async () => {
    const session = hawser.client().with({ Cookie: hawser.session });
    const { checksum } = await ok(200, poll(node));
    const paths = [`/api/v1/nodes/${node.nodeId}/lcm-config`, `${configurationPath(node)}/bundle`];
    for (const path of paths) expect((await node.client.get(path)).status, path).to.equal(200);
    expect((await poll(node, checksum)).status).to.equal(304);
    await ok(200, hawser.admin.get(`${CONFIGURATIONS}/polled/versions`));
    await ok(200, session.get('/api/v1/auth/me'));
    expect((await ok(200, hawser.client().get('/health/ready'))).checks.repositories).to.equal('Ok');
  };

  it('answers polls and reads, and refuses every write after a while with no row and no ref changed', async () => {
    const calls = await prepare(writes, 100);
    await untilNumbered(hawser);
    const before = state();
    await hold();
    // The last use of the token and the end of the session are to be noted by now.
    hawser.clock.advance(120_000);
    const answered: string[] = [];
    const replies = follow(answered, calls);
    await read();
    expect(answered, 'answered before the reads').to.deep.equal([]);
    for (const [index, reply] of (await Promise.all(replies)).entries()) {
      await expectRefusal(reply, HELD, calls[index]?.what ?? '');
      expect(Number(reply.headers['retry-after'])).to.be.greaterThan(0);
    }
    expect(state()).to.deep.equal(before);
    const fault = 'Degraded: nothing can be written (unavailable)';
    expect((await ok(200, hawser.client().get('/health/ready'))).checks.database).to.equal(fault);
    await release();
    expect((await ok(200, hawser.client().get('/health/ready'))).checks.database).to.equal('Ok');
    const runs = await ok(200, hawser.admin.get(RUNS));
    expect(runs.filter((run: { completedAt: string | null }) => run.completedAt === null)).to.deep.equal([]);
    const warnings = hawser.log().match(/check-ins could not be written/g) ?? [];
    expect(warnings, 'said once, not every second').to.have.length(1);
  });

  it('carries writes out that were asked for while it was held for a moment', async () => {
    // Without those that are about the same as another.
    const same = ['rotation', 'the end of an assignment', 'the end of a tag', 'the end of a user'];
    const calls = await prepare(
      writes.filter(({ what }) => !same.includes(what)),
      200,
    );
    await hold();
    const answered: string[] = [];
    const replies = follow(answered, calls);
    // Nothing else is asked meanwhile: each of them waits for five seconds, also where a busy machine does little in these.
    await untilInFlight(hawser.target(), calls.length);
    expect(answered, 'answered before the release').to.deep.equal([]);
    await release();
    for (const [index, reply] of (await Promise.all(replies)).entries())
      expect(reply.status, `${calls[index]?.what}: ${reply.text}`).to.equal(calls[index]?.status);
  });

  it('keeps nobody waiting longer because others wait for the same configuration', async () => {
    await ok(201, create(hawser.admin, 'queued'));
    const versions = Array.from({ length: 10 }, (_, index) => `2.${index}.0`);
    for (const version of versions) await ok(201, addVersion(hawser.admin, 'queued', { version }));
    await hold();
    const answered: string[] = [];
    const publishings = follow(
      answered,
      versions.map((what) => ({ what, send: () => publish(hawser.admin, 'queued', what) })),
    );
    await Promise.race(publishings);
    // It is tried again for as long as each of the others was.
    const description = { json: { description: 'asked for later' } };
    const path = `${CONFIGURATIONS}/polled`;
    const [later] = follow(answered, [
      { what: 'later', send: () => hawser.admin.call('PATCH', path, description) },
    ]);
    await expectRefusal((await later) as Reply, HELD, 'later');
    expect(answered).to.have.length(versions.length + 1);
    expect(answered.at(-1)).to.equal('later');
    for (const reply of await Promise.all(publishings)) await expectRefusal(reply, HELD, 'publishing');
    await release();
    for (const version of versions) await ok(200, publish(hawser.admin, 'queued', version));
    expect((await ok(200, hawser.admin.get(versionsOf('queued')))).length).to.equal(11);
  });

  it('keeps reports in their order, and refuses each when its own time is over', async () => {
    const path = `/api/v1/nodes/${node.nodeId}/reports`;
    const report = { operation: 'Test', result: testOutput([]) };
    const count = async () => (await ok(200, hawser.admin.get(`${path}?take=1000`))).length;
    const before = await count();
    await hold();
    const answered: string[] = [];
    const first = follow(answered, [{ what: 'first', send: () => node.client.post(path, report) }]);
    await untilInFlight(hawser.target(), 1);
    await ok(200, poll(node));
    expect(answered, 'answered before the poll').to.deep.equal([]);
    // The server gives each of them five seconds. The second one begins so much later that the database is free again before
    // its time is over.
    await sleep(LATER);
    const second = follow(answered, [{ what: 'second', send: () => node.client.post(path, report) }]);
    for (const reply of await Promise.all(first)) await expectRefusal(reply, HELD, 'the first report');
    await release();
    for (const reply of await Promise.all(second)) expect(reply.status, reply.text).to.equal(201);
    expect(await count()).to.equal(before + 1);
  });

  it('writes down afterwards who has called meanwhile', async () => {
    const tokens = hawser.client().with({ Cookie: hawser.session });
    const lastUse = async (): Promise<string> => {
      const all: { name: string; lastUsedAt: string }[] = await ok(200, tokens.get('/api/v1/auth/tokens'));
      return all.find(({ name }) => name === 'test')?.lastUsedAt ?? '';
    };
    const lastCheckIn = async (): Promise<string> =>
      (await ok(200, hawser.admin.get(`/api/v1/nodes/${node.nodeId}`))).lastCheckIn;
    await hold('BEGIN EXCLUSIVE');
    hawser.clock.advance(600_000);
    const use = hawser.clock.now();
    await ok(200, hawser.admin.get(`${CONFIGURATIONS}/polled`));
    await ok(200, poll(node));
    expect(Date.parse(await lastUse())).to.be.below(use);
    await release();
    // The session's end is to be noted, and with it what could not be.
    await ok(200, tokens.get('/api/v1/auth/me'));
    await eventually(async () => expect(Date.parse(await lastUse())).to.be.at.least(use));
    await eventually(async () => expect(Date.parse(await lastCheckIn())).to.be.at.least(use));
  });
});

describe('a database that is held from right after a version got its tag', () => {
  /** Takes hold of the database as soon as the tag is there. */
  class HoldingFs extends AtomicFs {
    other: SqliteDatabase.Database | null = null;
    hasHeld = false;

    override async rename(...[from, to, onRenamed]: Parameters<AtomicFs['rename']>): Promise<void> {
      await super.rename(from, to, onRenamed);
      if (!to.endsWith('refs/tags/v1.0.0') || this.hasHeld) return;
      this.hasHeld = true;
      this.other?.exec('BEGIN IMMEDIATE');
    }
  }

  it('has the tag taken back, and is told of the version later', async () => {
    const fs = new HoldingFs();
    const hawser = await startHawser({}, { fs });
    try {
      await ok(201, create(hawser.admin, 'web'));
      await untilNumbered(hawser);
      const refs = () => hawser.git('configurations/web.git', 'for-each-ref');
      const before = { refs: refs(), rows: rowsOf(hawser.dataDir) };
      fs.other = new SqliteDatabase(join(hawser.dataDir, 'hawser.db'));
      await expectRefusal(await publish(hawser.admin, 'web', '1.0.0'), HELD, 'publishing');
      expect(fs.hasHeld).to.equal(true);
      expect({ refs: refs(), rows: rowsOf(hawser.dataDir) }).to.deep.equal(before);
      const shown = await ok(200, hawser.admin.get(`${versionsOf('web')}/1.0.0`));
      expect(shown.status).to.equal('Draft');
      fs.other.close();
      await ok(200, publish(hawser.admin, 'web', '1.0.0'));
    } finally {
      fs.other?.close();
      await hawser.close();
    }
  });
});

describe('a database that another process holds, and a server in a process of its own', function () {
  this.timeout(180_000);
  const folder = temporaryFolder();
  let hawser: Spawned;
  let holder: Holder | null = null;
  const clients: Client[] = [];

  afterEach(async () => {
    await holder?.release();
    holder = null;
    for (const client of clients.splice(0)) client.close();
    hawser.child.kill('SIGKILL');
    await hawser.ended;
  });

  it('ends a start with one sentence', async () => {
    hawser = await spawnHawser(folder());
    await hawser.listening();
    hawser.child.kill('SIGTERM');
    await hawser.ended;
    holder = await holdDatabase({ dataDir: folder('data'), databaseUrl: null });
    hawser = await spawnHawser(folder());
    const { code, stderr } = await hawser.ended;
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      'hawser: HAWSER_DATA_DIR: another process has held the database for 5 s; end it and start again\n',
    );
  });
});
