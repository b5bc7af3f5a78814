/**
 * Plays rounds on one folder: the server starts, works and is killed, perhaps with a power cut, and then the test
 * checks what is left. After some rounds the folder is replaced by a new one. So first starts are killed too, and the
 * checks stay short.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, makeClient, type Target } from '../client.ts';
import type { TestDatabase } from '../postgres.ts';
import type { Bench } from './acts/act.ts';
import { checkAll, checkTouched, type Site } from './checks.ts';
import type { Doom } from './failpoints.ts';
import { Model } from './model.ts';
import { prepareSite } from './prepare.ts';
import type { Random } from './random.ts';
import { ServerProcess } from './server-process.ts';
import type { Tally } from './tally.ts';
import { startWork, type Work } from './work.ts';

const CLIENTS = 4;
/** The number of writes that are acknowledged in a round before a kill from outside. */
const MOST_WRITES = 20;
/** A server that should kill itself is killed from outside if it has not done so after this many writes. */
const PATIENT_WRITES = 30;
/** The milliseconds within which a start is killed. */
const START = 700;

export type NewDatabase = () => Promise<TestDatabase>;

export class Lane {
  folder = '';
  protected readonly random: Random;
  protected readonly tally: Tally;
  protected model = new Model();
  protected server!: ServerProcess;
  protected target: Target = { port: 0, ca: '' };
  private readonly newDatabase: NewDatabase | null;
  private token = '';
  private registrationKey = '';
  /** Whether a death since the last check was a power cut. */
  private wasCut = false;
  private unaudited = new Set<string>();

  /** @param newDatabase makes one for each life; null for SQLite */
  constructor(random: Random, tally: Tally, newDatabase: NewDatabase | null = null) {
    this.newDatabase = newDatabase;
    this.random = random;
    this.tally = tally;
  }

  /** @param rounds how many rounds to play on a new folder; the last one checks everything */
  async live(rounds: number, playing: (round: number) => void): Promise<void> {
    this.folder = mkdtempSync(join(tmpdir(), 'hawser-crash-'));
    const database = await this.newDatabase?.();
    this.server = new ServerProcess(this.folder, database?.url ?? null);
    this.model = new Model();
    this.unaudited = new Set();
    try {
      await this.begin();
      for (let round = 1; round <= rounds; round += 1) {
        playing(round);
        await this.play();
        await this.check(round === rounds);
      }
    } catch (error) {
      writeFileSync(join(this.folder, 'log'), this.server.log);
      throw error;
    } finally {
      await this.server.kill();
    }
    await database?.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Kills the first start as well. */
  protected async begin(): Promise<void> {
    await this.dieStarting();
    await this.setUp();
  }

  protected async setUp(): Promise<void> {
    this.target = await this.server.start();
    const { token, registrationKey } = await prepareSite(this.target, this.model);
    this.token = token;
    this.registrationKey = registrationKey;
  }

  /** The server runs before and after a round. In one of six rounds it is killed once more while it starts. */
  protected async play(): Promise<void> {
    const { random, tally } = this;
    // Three of four servers are killed at a failpoint.
    const doom = random.below(4) === 0 ? null : tally.chooseDoom(random, false);
    if (doom) this.server.arm(doom);
    await this.work(doom);
    this.bury(doom);
    if (random.below(6) === 0) await this.dieStarting();
    this.target = await this.server.start();
  }

  private async check(isLast: boolean): Promise<void> {
    const { server, model, target, tally } = this;
    const client = this.connect();
    const { dataDir, reposDir, databaseUrl } = server;
    const { token, wasCut, unaudited } = this;
    const folders = { dataDir, reposDir, databaseUrl };
    const site: Site = { client, target, token, model, ...folders, wasCut, unaudited };
    this.wasCut = false;
    tally.checks += await checkTouched(site);
    if (isLast) tally.checks += await checkAll(site);
    client.close();
    this.checkLog();
    tally.rounds += 1;
  }

  protected checkLog(): void {
    const { errors } = this.server;
    if (errors.length > 0) throw new Error(`the server logged errors:\n${errors.join('\n')}`);
  }

  protected startWork(isDying: boolean): Work & { close(): void } {
    const { model, random, registrationKey, target } = this;
    const clients = Array.from({ length: CLIENTS }, () => this.connect());
    const bench = (client: Client): Bench => ({ client, target, model, random, registrationKey });
    const close = () => {
      for (const client of clients) client.close();
    };
    return { ...startWork(clients.map(bench), isDying), close };
  }

  private async work(doom: Doom | null): Promise<void> {
    const { model, random } = this;
    const acknowledged = model.acknowledged;
    const work = this.startWork(doom !== null);
    await work.reached(doom ? PATIENT_WRITES : 1 + random.below(MOST_WRITES));
    // A random pause, so that the kill comes at any moment of the clients' work.
    if (!doom) await sleep(random.below(20));
    work.stop();
    await this.server.kill();
    await work.done;
    work.close();
    this.tally.writes += model.acknowledged - acknowledged;
  }

  private async dieStarting(): Promise<void> {
    const { random, server, tally } = this;
    const doom = random.below(2) === 0 ? null : tally.chooseDoom(random, true);
    server.launch(doom);
    await Promise.race([server.ended(), sleep(doom ? 3 * START : random.below(START))]);
    await server.kill();
    this.bury(doom);
  }

  /** Records how far the dead server got, and turns a random half of the deaths into power cuts. */
  private bury(doom: Doom | null): void {
    const { random, server, tally } = this;
    tally.note(server.record.takePassings(), doom);
    if (random.below(2) === 0) return;
    tally.cuts += 1;
    this.wasCut = true;
    tally.atStake += server.record.cutPower(random);
  }

  protected connect(): Client {
    return makeClient(this.target).with({ Authorization: `Bearer ${this.token}` });
  }
}
