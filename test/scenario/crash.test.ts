/**
 * Kills the server with SIGKILL while it works, over and over on the same folders, and looks after every
 * start whether it kept its word. `CRASH_TEST_SEED` gives the seed that a failure names, `CRASH_TEST_ROUNDS`
 * another number of rounds.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Client, makeClient, type Target } from '../support/client.ts';
import {
  checkAll,
  checkDisk,
  checkRegistry,
  checkRepositories,
  checkTouched,
} from '../support/crash/checks.ts';
import { Model, Random } from '../support/crash/model.ts';
import { ServerProcess } from '../support/crash/server-process.ts';
import { startWork } from '../support/crash/work.ts';
import { ADMIN_PASSWORD, createKey, createToken, signIn } from '../support/hawser.ts';

const SEED = Number(process.env['CRASH_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const ROUNDS = Number(process.env['CRASH_TEST_ROUNDS'] ?? 25);
/** Servers that are killed side by side, each on folders of its own: a start keeps one core busy. */
const LANES = 2;
const WORKERS = 4;
/** Acknowledged in a round before the kill. */
const MOST_WRITES = 10;
/** All is looked at in one round of so many, and in the last. */
const DEEP_EVERY = 13;
const SCOPES = [
  'nodes.read',
  'registration-keys.manage',
  'configurations.create',
  'configurations.admin-override',
];

describe('a server that is killed', () => {
  it('has all that it acknowledged, whole, and nothing by halves', async function () {
    this.timeout(600_000);
    const lanes = Array.from({ length: LANES }, (_, lane) => new Lane(SEED + lane));
    const acknowledged = await Promise.all(lanes.map((lane) => lane.run()));
    // Else the kills hit nothing.
    for (const writes of acknowledged) expect(writes).to.be.greaterThan(ROUNDS);
  });
});

class Lane {
  private readonly seed: number;
  private readonly random: Random;
  private readonly model = new Model();
  private readonly folder = mkdtempSync(join(tmpdir(), 'hawser-crash-'));
  private readonly server = new ServerProcess(this.folder);
  private readonly unchecked = new Set<string>();
  private target: Target = { port: 0, ca: '' };
  private token = '';
  private registrationKey = '';
  private acknowledged = 0;

  constructor(seed: number) {
    this.seed = seed;
    this.random = new Random(seed);
  }

  /** @returns how many writes were acknowledged */
  async run(): Promise<number> {
    let round = 0;
    try {
      await this.prepare();
      const csr = makeRequest(this.folder);
      for (round = 1; round <= ROUNDS; round += 1) await this.playRound(round, csr);
    } catch (error) {
      const where = `CRASH_TEST_SEED=${SEED}, this lane's ${this.seed}, round ${round}, left in ${this.folder}`;
      throw new Error(`${where}: ${(error as Error).message}`, { cause: error });
    } finally {
      await this.server.kill();
    }
    rmSync(this.folder, { recursive: true, force: true });
    return this.acknowledged;
  }

  /** The first start too is killed on its way. */
  private async prepare(): Promise<void> {
    await this.server.startAndKill(300 + this.random.below(900));
    this.target = await this.server.start();
    const client = makeClient(this.target);
    const session = await signIn(client, 'admin', ADMIN_PASSWORD);
    this.token = await createToken(client, session, SCOPES);
    client.close();
    const admin = this.connect();
    this.registrationKey = await createKey(admin);
    admin.close();
  }

  private async playRound(round: number, csr: string): Promise<void> {
    const { model, random, registrationKey } = this;
    const clients = Array.from({ length: WORKERS }, () => this.connect());
    const work = startWork({ clients, model, random, registrationKey, csr, round });
    // The kill hits whatever the clients are in the middle of just then.
    await work.reached(1 + random.below(MOST_WRITES));
    await sleep(random.below(30));
    work.stop();
    await this.server.kill();
    this.acknowledged += await work.done;
    for (const client of clients) client.close();
    if (random.below(12) === 0) await this.server.startAndKill(300 + random.below(900));
    this.target = await this.server.start();
    await this.check(round);
  }

  private async check(round: number): Promise<void> {
    const { model, server, unchecked } = this;
    const client = this.connect();
    for (const name of model.touched) unchecked.add(name);
    await checkTouched(client, model, round);
    model.touched.clear();
    await checkRegistry(client, server);
    checkDisk(server);
    if (round % DEEP_EVERY === 0 || round === ROUNDS) {
      await checkAll(client, model);
      checkRepositories(
        server,
        [...unchecked].filter((name) => model.configurations.has(name)),
      );
      unchecked.clear();
    }
    client.close();
    expect(server.errors).to.deep.equal([]);
  }

  private connect(): Client {
    return makeClient(this.target).with({ Authorization: `Bearer ${this.token}` });
  }
}

function makeRequest(folder: string): string {
  const key = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    join(folder, 'k'),
  ];
  return execFileSync('openssl', ['req', '-new', ...key, '-subj', '/CN=x'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}
