/** Plays the courses of rollouts on one server, which is killed around their transitions. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Random } from '../random.ts';
import { ServerProcess } from '../server-process.ts';
import { Tally } from '../tally.ts';
import { COURSES, checkSuperseded, type Keeper, play, withstanding } from './courses.ts';
import { RingedSite } from './site.ts';

/** Each transition moves the ref of a rollout once; a start with a file moves those of the tags after it. */
const POINTS = [
  ...['before create rollout', 'before write rollout', 'after write rollout', 'before flush file of rollout'],
  ...['before rename to rollout', 'after rename to rollout'],
  ...['before rename to tag', 'after rename to tag'],
];
/** After the move of the ref come its flush, the audit trail and the answer. */
const LATER = 12;

export class RolloutLane implements Keeper {
  readonly folder = mkdtempSync(join(tmpdir(), 'hawser-rollouts-'));
  readonly tally: Tally;
  isAuditComplete = true;
  private readonly random: Random;
  private readonly kills: number;
  private readonly server: ServerProcess;
  private site: RingedSite | null = null;
  private doom: Parameters<ServerProcess['arm']>[0] | null = null;

  /**
   * @param kills how often the server, and those of other lanes with the same tally, are killed
   */
  constructor(random: Random, kills: number, tally = new Tally()) {
    this.random = random;
    this.kills = kills;
    this.tally = tally;
    this.server = new ServerProcess(this.folder);
  }

  /** Plays all courses, and again until the server was killed often enough. */
  async live(): Promise<void> {
    try {
      this.site = await RingedSite.prepare(await this.server.start());
      for (let minor = 1; minor === 1 || !this.isEnough; )
        for (const course of COURSES) await this.play(minor++, course);
    } catch (error) {
      writeFileSync(join(this.folder, 'log'), this.server.log);
      throw new Error(`left in ${this.folder}: ${(error as Error).message}`, { cause: error });
    } finally {
      this.site?.close();
      await this.server.kill();
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  async onStep(): Promise<void> {
    const { random } = this;
    // Where a transition is undone again and again, nothing else is tried.
    if (this.doom !== null || this.isEnough || random.below(3) > 0) return;
    const point = random.pick(POINTS) ?? '';
    this.doom = { point, passing: 1, later: random.below(LATER) };
    this.server.arm(this.doom);
  }

  /** A random half of the deaths are power cuts. */
  async onDeath(): Promise<void> {
    const { random, server, tally } = this;
    await server.ended();
    tally.note(server.record.takePassings(), this.doom);
    this.doom = null;
    if (random.below(2) === 0) {
      tally.cuts += 1;
      this.isAuditComplete = false;
      tally.atStake += server.record.cutPower(random);
    }
    this.checkLog();
    this.site?.use(await server.start());
  }

  private async play(minor: number, course: (typeof COURSES)[number]): Promise<void> {
    const { site, tally } = this;
    if (site === null) return;
    this.isAuditComplete = true;
    const before = COURSES[COURSES.indexOf(course) - 1];
    await play(site, `1.${minor}.0`, course, this);
    if (before?.history.at(-1) === 'admin Paused')
      await withstanding(this, () => checkSuperseded(site, `1.${minor - 1}.0`));
    tally.checks += 1;
    this.checkLog();
  }

  private get isEnough(): boolean {
    return sum(this.tally.kills.values()) >= this.kills;
  }

  private checkLog(): void {
    const { errors } = this.server;
    if (errors.length > 0) throw new Error(`the server logged errors:\n${errors.join('\n')}`);
  }
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, each) => total + each, 0);
}
