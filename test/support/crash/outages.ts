/** Plays rounds in which the server lives on while its PostgreSQL is killed, frozen, or ends all connections. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../eventually.ts';
import type { OwnCluster } from '../postgres.ts';
import { Lane } from './lane.ts';
import type { Random } from './random.ts';
import type { Tally } from './tally.ts';

/** One way to lose the database. */
export interface Outage {
  what: string;
  /** Milliseconds for which it is away. */
  away: number;
  take(own: OwnCluster): Promise<void>;
  bring(own: OwnCluster): Promise<void>;
}

/** The writes that are acknowledged before an outage, at most, and after it. */
const BEFORE = 20;
const AFTER = 20;

/** What a log must not hold: a statement, or the values of a row. */
const SECRETS = /\b(?:insert into|delete from|update "|select ")|Failing row|Key \([^)]*\)=/i;

export class OutageLane extends Lane {
  private readonly own: OwnCluster;
  private readonly outages: readonly Outage[];
  private played = 0;

  /** @param outages one for each round, in their order */
  constructor(random: Random, tally: Tally, own: OwnCluster, outages: readonly Outage[]) {
    super(random, tally, () => own.newDatabase());
    this.own = own;
    this.outages = outages;
  }

  /** The server is started once, and never again. */
  protected override async begin(): Promise<void> {
    await this.setUp();
  }

  protected override async play(): Promise<void> {
    const { own, model, random, tally } = this;
    const outage = this.outages[this.played % this.outages.length] as Outage;
    this.played += 1;
    const before = model.acknowledged;
    const work = this.startWork(false);
    try {
      await work.reached(1 + random.below(BEFORE));
      await sleep(random.below(20));
      work.setAway(true);
      await outage.take(own);
      await sleep(outage.away);
      await outage.bring(own);
      await eventually(() => this.expectBack());
      work.setAway(false);
      const back = model.acknowledged;
      await work.reached(back - before + AFTER);
      await work.finish();
      expect(model.acknowledged - back, outage.what).to.be.at.least(AFTER);
    } finally {
      work.close();
    }
    tally.writes += model.acknowledged - before;
  }

  /** That PostgreSQL was away is an error in the log. What it was asked, and with which password, is not for the log. */
  protected override checkLog(): void {
    const { log, errors } = this.server;
    const others = errors.filter((line) => !isOfOutage(line));
    if (others.length > 0) throw new Error(`the server logged errors:\n${others.join('\n')}`);
    const { password } = this.own.cluster.address;
    expect(log).not.to.include(password).and.not.to.include(encodeURIComponent(password));
    expect(log).not.to.match(SECRETS);
  }

  private async expectBack(): Promise<void> {
    const client = this.connect();
    try {
      const reply = await client.get('/api/v1/nodes');
      expect(reply.status, reply.text).to.equal(200);
    } finally {
      client.close();
    }
  }
}

interface LogLine {
  msg: string;
  status?: number;
  code?: string;
  err?: { message: string };
}

/** Whether a line of the log only says that the database is away, or that a request got 503 for it. */
export function isOfOutage(line: string): boolean {
  const { msg, status, code, err } = JSON.parse(line) as LogLine;
  // Work in the background meets the absence too, and says what it could not do.
  if (err?.message === 'The database cannot be reached at the moment' && status === undefined) return true;
  if (msg === 'request') return status === 503 && code === 'unavailable';
  return /^PostgreSQL cannot be reached|that is gone is still on the disk$/.test(msg);
}
