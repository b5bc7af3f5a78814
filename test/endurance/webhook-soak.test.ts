/**
 * Webhooks through kills: whatever happens to the servers and to the receiver, each event comes at least once, and those
 * of one subject in their order. `SOAK_SECONDS=600` goes on for longer.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SECOND } from '../../src/lib/clock.ts';
import type { Target } from '../support/client.ts';
import { ServerCluster } from '../support/cluster/cluster.ts';
import { buildProgram, removePrograms } from '../support/crash/programs.ts';
import { Random } from '../support/crash/random.ts';
import { ServerProcess } from '../support/crash/server-process.ts';
import { eventually } from '../support/eventually.ts';
import { newDatabase } from '../support/postgres.ts';
import { ok } from '../support/replies.ts';
import { BadReceiver, Changes } from '../support/webhook-soak.ts';
import { Receiver, ReceiverAuthority, SECRET, WEBHOOKS } from '../support/webhooks.ts';

const SOAK_SECONDS = Number(process.env['SOAK_SECONDS'] ?? 40);
/** What was refused several times is tried again only after minutes. */
const DRAIN = SOAK_SECONDS * SECOND + 300_000;

interface FeedEvent {
  id: string;
  type: string;
  subject: string;
}

/** The servers under test. */
interface Site {
  start(): Promise<void>;
  /** Of a server that runs, or that is started again. */
  readonly target: Target;
  /** Kills a server, and starts it again. */
  kill(): Promise<void>;
  close(isOver: boolean): Promise<void>;
}

describe(`a bad receiver of webhooks, for ${SOAK_SECONDS} s with kills,`, function () {
  this.timeout(SOAK_SECONDS * SECOND + DRAIN + 120_000);
  let authority: ReceiverAuthority;

  before(async () => {
    authority = await ReceiverAuthority.make();
    await buildProgram('server');
  });
  after(() => {
    authority.remove();
    removePrograms();
  });

  const settings = () => ({ NODE_EXTRA_CA_CERTS: authority.file, HAWSER_WEBHOOK_ALLOW: '127.0.0.1,::1' });

  it('gets every event at least once and in order per subject from a server on SQLite', async () => {
    await soak(authority, oneServer(settings()));
  });

  it('and from two servers on PostgreSQL', async () => {
    await soak(authority, await twoServers(settings()));
  });
});

async function soak(authority: ReceiverAuthority, site: Site): Promise<void> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const random = new Random(seed);
  const bad = new BadReceiver(random);
  const receiver = await Receiver.start(authority);
  receiver.answering = bad.answering;
  let isOver = false;
  try {
    await site.start();
    const changes = await Changes.prepare(() => site.target);
    const hook = { url: receiver.url(), events: ['*'], secret: SECRET };
    // What happened before the webhook was there is not told, once it has its place in the feed.
    const before = await eventually(async () => {
      const feed = await feedOf(changes);
      expect(feed).to.have.length(changes.prepared);
      return feed;
    });
    const { id } = await changes.asAdmin((admin) => ok(201, admin.post(WEBHOOKS, hook)));
    const running = changes.run();
    const end = performance.now() + SOAK_SECONDS * SECOND;
    while (performance.now() < end) {
      // So that each server gets somewhere before it is killed, also on a slow machine.
      await changes.untilAcknowledged(10 + random.below(40));
      await site.kill();
    }
    changes.isOver = true;
    await running;
    bad.isBad = false;
    await eventually(async () => {
      const pending = `${WEBHOOKS}/${id}/deliveries?state=Pending&take=1`;
      expect(await changes.asAdmin((admin) => ok(200, admin.get(pending)))).to.deep.equal([]);
      expect(bad.arrivals.length).to.be.at.least((await feedOf(changes)).length - before.length);
    }, DRAIN);
    const feed = (await feedOf(changes)).slice(before.length);
    expectTruth(feed, changes);
    expectDelivered(feed, bad);
    isOver = true;
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
  } finally {
    await site.close(isOver);
    await receiver.close();
  }
}

/** Each change that was acknowledged has its event, and no event tells of a change that nobody has asked for. */
function expectTruth(feed: readonly FeedEvent[], { acknowledged, unknown }: Changes): void {
  const told = feed.map(({ type, subject }) => `${type} ${subject}`);
  const countOf = (list: readonly string[], what: string) => list.filter((each) => each === what).length;
  for (const what of new Set([...acknowledged, ...told])) {
    if (what.startsWith('node.')) continue;
    const least = countOf(acknowledged, what);
    expect(countOf(told, what), what).to.be.within(least, least + countOf(unknown, what));
  }
  expect(told.some((what) => what.startsWith('node.status_changed'))).to.equal(true);
  expect(acknowledged).to.have.length.greaterThan(5);
}

/** An event comes only after the receiver has taken the one before it of the same subject. */
function expectDelivered(feed: readonly FeedEvent[], { arrivals }: BadReceiver): void {
  const known = new Set(feed.map(({ id }) => id));
  expect(arrivals.filter(({ id }) => !known.has(id))).to.deep.equal([]);
  const first = new Map<string, number>();
  const taken = new Map<string, number>();
  for (const [at, { id, isTaken }] of arrivals.entries()) {
    if (!first.has(id)) first.set(id, at);
    if (isTaken && !taken.has(id)) taken.set(id, at);
  }
  const last = new Map<string, FeedEvent>();
  for (const event of feed) {
    const before = last.get(event.subject);
    expect(taken.get(event.id), `${event.type} of ${event.subject} was taken`).to.be.a('number');
    if (before) expect(first.get(event.id), event.subject).to.be.greaterThan(taken.get(before.id) ?? -1);
    last.set(event.subject, event);
  }
  expect(arrivals.length, 'attempts, of which some failed').to.be.greaterThan(feed.length);
}

async function feedOf(changes: Changes): Promise<FeedEvent[]> {
  const feed: FeedEvent[] = [];
  for (;;) {
    const last = feed.at(-1);
    const after = last === undefined ? '' : `?after=${last.id}`;
    const page = await changes.asAdmin((admin) => ok(200, admin.get(`/api/v1/events${after}`)));
    if (page.length === 0) return feed;
    feed.push(...page);
  }
}

function oneServer(settings: Record<string, string>): Site {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-soak-'));
  const server = new ServerProcess(folder, null, settings);
  let target: Target | undefined;
  const start = async () => {
    target = await server.start();
  };
  return {
    start,
    get target() {
      return target ?? expect.fail('the server was never started');
    },
    async kill() {
      await server.kill();
      await start();
    },
    async close(isOver) {
      await server.kill();
      if (isOver) rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function twoServers(settings: Record<string, string>): Promise<Site> {
  const cluster = await ServerCluster.make(await newDatabase(), { servers: 2, settings });
  let kills = 0;
  return {
    start: () => cluster.start(),
    get target() {
      return (cluster.living[kills % cluster.living.length] ?? cluster.server(1)).target;
    },
    async kill() {
      kills += 1;
      const server = cluster.server(1 + (kills % 2));
      await server.kill();
      await server.start();
    },
    close: (isOver) => cluster.close(!isOver),
  };
}
