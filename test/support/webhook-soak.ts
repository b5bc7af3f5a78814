/** Changes on servers that are killed meanwhile, and what a receiver of a bad kind is told of them. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Client, type Identity, makeClient, type Reply, type Target } from './client.ts';
import { makeClientCertificate } from './client-certificates.ts';
import { addVersion, MAIN, publish } from './configurations.ts';
import type { Random } from './crash/random.ts';
import { testedService, testOutput } from './dsc-results.ts';
import { eventually } from './eventually.ts';
import {
  ADMIN_PASSWORD,
  ALL_SCOPES,
  createKey,
  createToken,
  publishConfiguration,
  signIn,
} from './hawser.ts';
import type { Answering } from './webhooks.ts';
import { offerAgain, withdraw } from './withdrawals.ts';

const COMPOSITES = '/api/v1/composite-configurations';
const WRITERS = 3;
/** Each configuration has so many rounds of versions. */
const NAMES = 4;

export interface Arrival {
  id: string;
  subject: string;
  /** Whether the server could see that it was taken. */
  isTaken: boolean;
}

/** Answers in every way that a receiver should not, and notes what it has been told. */
export class BadReceiver {
  readonly arrivals: Arrival[] = [];
  isBad = true;
  private readonly random: Random;

  constructor(random: Random) {
    this.random = random;
  }

  readonly answering: Answering = ({ event: { id, subject } }, response) => {
    const arrival = { id, subject, isTaken: false };
    this.arrivals.push(arrival);
    const take = () => {
      arrival.isTaken = true;
      return 204;
    };
    const kind = this.isBad ? this.random.below(10) : 9;
    // The answer is lost: the receiver has taken it, and the server cannot know.
    if (kind === 0) response.socket?.destroy();
    else if (kind === 1) response.writeHead(302, { Location: 'https://127.0.0.1:9/elsewhere' }).end();
    else if (kind === 2) void sleep(this.random.below(3_000)).then(() => response.writeHead(take()).end());
    else if (kind === 3) return 500;
    else return take();
    return null;
  };
}

/** Who makes changes, and remembers what was answered. */
export class Changes {
  /** What was acknowledged, as `<type> <subject>`. */
  readonly acknowledged: string[] = [];
  /** What was asked for and not answered, so it may have happened. */
  readonly unknown: string[] = [];
  /** How many events the preparation makes: each configuration is created and published, and a node registers. */
  readonly prepared = 2 * WRITERS + 1;
  isOver = false;
  private readonly targetOf: () => Target;
  private readonly headers: Record<string, string>;
  private readonly node: { id: string; identity: Identity };

  private constructor(targetOf: () => Target, token: string, node: Changes['node']) {
    this.targetOf = targetOf;
    this.headers = { Authorization: `Bearer ${token}` };
    this.node = node;
  }

  /** @param targetOf gives a server that runs, or is about to */
  static async prepare(targetOf: () => Target): Promise<Changes> {
    const client = makeClient(targetOf());
    const token = await createToken(client, await signIn(client, 'admin', ADMIN_PASSWORD), ALL_SCOPES);
    const admin = client.with({ Authorization: `Bearer ${token}` });
    for (let at = 0; at < WRITERS; at += 1)
      await publishConfiguration(admin, `web-${at}`, { '0.1.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    const registrationKey = await createKey(admin);
    const identity = await makeClientCertificate({ commonName: 'n.example.org' });
    const own = makeClient(targetOf(), identity);
    const reply = await own.post('/api/v1/nodes/register', { registrationKey, fqdn: 'n.example.org' });
    own.close();
    client.close();
    return new Changes(targetOf, token, { id: reply.json.nodeId, identity });
  }

  /** Calls as the administrator, on a connection of its own. */
  async asAdmin<T>(work: (admin: Client) => Promise<T>): Promise<T> {
    const client = makeClient(this.targetOf());
    try {
      return await work(client.with(this.headers));
    } finally {
      client.close();
    }
  }

  /** Makes changes until it is over. */
  async run(): Promise<void> {
    const writers = Array.from({ length: WRITERS }, (_, at) => this.write(at));
    await Promise.all(writers);
  }

  /** Waits until so many more changes are acknowledged. */
  async untilAcknowledged(more: number): Promise<void> {
    const goal = this.acknowledged.length + more;
    await eventually(async () => expect(this.acknowledged.length).to.be.at.least(goal));
  }

  private async write(at: number): Promise<void> {
    const name = `web-${at}`;
    for (let round = 0; !this.isOver; round += 1) {
      const composite = `site-${at}-${round % NAMES}`;
      const version = `1.${round}.0`;
      const whole = `composite-configurations/${composite}`;
      await this.attempt(`composite.created ${whole}`, (admin) =>
        admin.post(COMPOSITES, { name: composite }),
      );
      const files = { files: { [MAIN]: `# ${version}\n` } };
      await this.attempt(null, (admin) => addVersion(admin, name, { version }, files));
      const own = (what: string) => `configuration.${what} configurations/${name}`;
      await this.attempt(own('version_published'), (admin) => publish(admin, name, version));
      await this.attempt(own('version_withdrawn'), (admin) => withdraw(admin, name, version));
      await this.attempt(own('version_offered_again'), (admin) => offerAgain(admin, name, version));
      if (at === 0) await this.report(round % 2 === 0);
      await this.attempt(`composite.deleted ${whole}`, (admin) => admin.delete(`${COMPOSITES}/${composite}`));
    }
  }

  /** Whether the status changes depends on what came before, and a report is lost where the server is killed. */
  private async report(isWell: boolean): Promise<void> {
    const { id, identity } = this.node;
    const body = { operation: 'Test', result: testOutput([testedService(isWell)]) };
    const client = makeClient(this.targetOf(), identity);
    await client.post(`/api/v1/nodes/${id}/reports`, body).catch(() => undefined);
    client.close();
  }

  private async attempt(what: string | null, work: (admin: Client) => Promise<Reply>): Promise<void> {
    const reply = await this.asAdmin(work).catch(() => null);
    // A server that stops answers 503, and may have done what was asked.
    const list = reply !== null && reply.status < 300 ? this.acknowledged : this.unknown;
    if (what !== null && (reply === null || reply.status < 300 || reply.status >= 500)) list.push(what);
    await sleep(reply === null ? 500 : 100);
  }
}
