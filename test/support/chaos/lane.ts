/**
 * Plays rounds on one cluster: clients work through HAProxy and at the servers themselves, something is killed and started
 * again, and then the test checks what is left, at each server.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, makeClient, type Target } from '../client.ts';
import { ServerCluster } from '../cluster/cluster.ts';
import type { ClusterServer } from '../cluster/server.ts';
import type { Bench } from '../crash/acts/act.ts';
import { checkAnswers, checkAudit, checkDatabase, checkKeys } from '../crash/checks.ts';
import { checkMirrors, repositoriesOf } from '../crash/mirrors.ts';
import { Model } from '../crash/model.ts';
import { isOfOutage } from '../crash/outages.ts';
import { type Credentials, prepareSite } from '../crash/prepare.ts';
import type { Random } from '../crash/random.ts';
import { ACTS, type Deck, startWork, type Work } from '../crash/work.ts';
import { openPlace } from '../engines/both.ts';
import { eventually } from '../eventually.ts';
import type { OwnCluster } from '../postgres.ts';
import { type Blow, chooseBlow, strike } from './blows.ts';
import { retentionActs } from './retention.ts';
import type { ChaosTally } from './tally.ts';

const CLIENTS = 6;
/** The most writes that are acknowledged in a round before the kill, and those after it where a server lives on. */
const MOST_BEFORE = 25;
const AFTER = 10;
/** The milliseconds within which a start is killed. */
const START = 1_500;
/** Milliseconds within which what a lost answer has left open is ended. */
const SETTLED = 15_000;

export class ChaosLane {
  private readonly own: OwnCluster;
  private readonly random: Random;
  private readonly tally: ChaosTally;
  private readonly count: number;
  private readonly longestFreeze: number;
  private cluster!: ServerCluster;
  private model = new Model();
  private credentials: Credentials = { token: '', registrationKey: '' };
  private deck: Deck = ACTS;

  /** @param servers how many there are, and for how many milliseconds one is frozen at most */
  constructor(
    own: OwnCluster,
    random: Random,
    tally: ChaosTally,
    servers: { count: number; longestFreeze: number },
  ) {
    this.own = own;
    this.random = random;
    this.tally = tally;
    this.count = servers.count;
    this.longestFreeze = servers.longestFreeze;
  }

  /**
   * Plays rounds on a new cluster; the last one checks everything.
   * @throws Error with the folder that it left, at the first fault
   */
  async live(rounds: number, onRound: (blow: Blow['kind'], seconds: number) => void): Promise<void> {
    this.cluster = await ServerCluster.make(await this.own.newDatabase(), { servers: this.count });
    let isWhole = false;
    try {
      await this.begin();
      for (let round = 1; round <= rounds; round += 1) {
        const start = performance.now();
        const { kind } = await this.play();
        await this.check(round === rounds);
        this.tally.note(kind);
        onRound(kind, (performance.now() - start) / 1_000);
      }
      isWhole = true;
    } catch (error) {
      const { message } = error as Error;
      throw new Error(`left in ${this.cluster.folder}: ${message}`, { cause: error });
    } finally {
      await this.cluster.close(!isWhole);
    }
  }

  private async begin(): Promise<void> {
    this.model = new Model();
    const { limitVersions, cleanUp } = retentionActs();
    this.deck = [...ACTS, [limitVersions, 2], [cleanUp, 5]];
    await this.cluster.start();
    this.credentials = await prepareSite(this.cluster.server(1).target, this.model);
  }

  private async play(): Promise<Blow> {
    const { cluster, model, random, tally } = this;
    const before = model.acknowledged;
    const blow = chooseBlow(cluster, random, this.longestFreeze);
    const clients: Client[] = [];
    const work = this.startWork(clients);
    try {
      await work.reached(1 + random.below(MOST_BEFORE));
      // A random pause, so that the kill comes at any moment of the clients' work.
      await sleep(random.below(20));
      work.stop();
      work.setAway(blow.hitsPostgres || blow.frozenFor > 0);
      await strike(blow, this.own.cluster);
      const isOver = sleep(blow.frozenFor);
      if (blow.hitsPostgres) await this.own.cluster.start();
      if (blow.frozenFor > 0) await this.wake(work, clients, isOver);
      else if (cluster.living.length > 0) await this.goOn(work);
      await work.done;
    } finally {
      for (const client of clients) client.close();
    }
    tally.writes += model.acknowledged - before;
    if (random.below(4) === 0) await this.dieStarting(blow.servers.filter(({ isRunning }) => !isRunning));
    await cluster.restart();
    return blow;
  }

  /** The servers that live on must acknowledge more, and nothing needs a start for it. */
  private async goOn(work: Work): Promise<void> {
    await eventually(() => this.expectBack());
    work.setAway(false);
    await this.acknowledgeMore(work);
    await work.finish();
  }

  /**
   * While a server is frozen, the others go on. What it has begun holds them up for some seconds, or ends with 503 when it
   * wakes. Then all of them go on.
   * @param isOver is done when the server is to wake
   */
  private async wake(work: Work, clients: Client[], isOver: Promise<void>): Promise<void> {
    await eventually(() => this.expectBack());
    await this.acknowledgeMore(work);
    // Those who wait for the frozen server end when it has woken.
    const ended = work.finish();
    await isOver;
    for (const server of this.cluster.servers) server.thaw();
    await ended;
    await eventually(() => this.expectBack());
    const again = this.startWork(clients);
    // HAProxy may lead to the server by now, and may end what it led to it before.
    again.stop();
    await this.acknowledgeMore(again);
    await again.finish();
  }

  private acknowledgeMore(work: Work): Promise<void> {
    return work.reached(this.model.acknowledged - work.before + AFTER);
  }

  private async expectBack(): Promise<void> {
    for (const { target } of this.cluster.living) {
      const client = this.connect(target);
      const { status, text } = await client.get('/api/v1/nodes');
      client.close();
      if (status !== 200) throw new Error(`the database is back, and the answer is ${status} ${text}`);
    }
  }

  private async dieStarting(victims: readonly ClusterServer[]): Promise<void> {
    for (const victim of victims) victim.launch();
    await sleep(this.random.below(START));
    await Promise.all(victims.map((victim) => victim.kill()));
  }

  /** Every second client goes through HAProxy. The others each have a server of their own. */
  private startWork(clients: Client[]): Work {
    const { cluster, credentials, model, random } = this;
    const at = (target: Target) => {
      const client = this.connect(target);
      clients.push(client);
      return { client, target };
    };
    const elsewhere = () => {
      const server = random.pick(cluster.living);
      return server === undefined ? null : at(server.target);
    };
    const bench = (number: number): Bench => ({
      ...at(number % 2 === 0 ? cluster.target : cluster.server(1 + (number % this.count)).target),
      ...{ model, random, elsewhere, isBehind: true, registrationKey: credentials.registrationKey },
    });
    return startWork(
      Array.from({ length: CLIENTS }, (_, number) => bench(number)),
      false,
      this.deck,
    );
  }

  /** Compares each server with what was acknowledged, so that all give the same answers. */
  private async check(isLast: boolean): Promise<void> {
    const { cluster, model, tally } = this;
    const keys = model.takeTouched();
    const { token } = this.credentials;
    for (const server of cluster.servers) {
      const { target } = server;
      const client = this.connect(target);
      try {
        await checkKeys({ client, target, model }, keys);
        tally.checks += keys.length;
        if (isLast) tally.checks += await checkAnswers({ client, target, model });
      } finally {
        client.close();
      }
    }
    await this.checkDatabase(keys);
    const repositories = repositoriesOf(model, isLast ? model.keys('') : keys);
    // Clones take most of a round, so only the last one makes each of them from each server.
    for (const [at, server] of cluster.servers.entries()) {
      const cloned = repositories.filter((_, number) => isLast || number % this.count === at);
      tally.clones += await checkMirrors(server, { model, token, repositories: cloned });
    }
    this.checkLogs();
  }

  private async checkDatabase(keys: readonly string[]): Promise<void> {
    const { url: databaseUrl } = this.cluster.database;
    const database = await openPlace({ dataDir: this.cluster.folder, databaseUrl });
    try {
      await eventually(() => checkAudit({ model: this.model }, database, keys), SETTLED);
      await eventually(() => checkDatabase(database), SETTLED);
    } finally {
      await database.close();
    }
  }

  /** That PostgreSQL was away is an error in the log. A kill alone must cause none. */
  private checkLogs(): void {
    for (const { errors, number } of this.cluster.servers) {
      const others = errors.filter((line) => !isOfOutage(line));
      if (others.length > 0) throw new Error(`server ${number} logged errors:\n${others.join('\n')}`);
    }
  }

  private connect(target: Target): Client {
    return makeClient(target).with({ Authorization: `Bearer ${this.credentials.token}` });
  }
}
