/** The agent: in each cycle it signs in, pulls its bundle, runs the command on it and reports the result. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, DAY } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { BundleStore } from './bundles.ts';
import { type Enrollment, enrollmentOf } from './enrollment.ts';
import { type BundleRefusal, Gate } from './gate.ts';
import { Link } from './link.ts';
import { type Lack, type LcmConfig, type LcmStatus, type Polled, Refusal } from './node-api.ts';
import { Outbox } from './outbox.ts';
import { type Plan, planFor, toReported, toWishes } from './plan.ts';
import { type Pulled, pull } from './pull.ts';
import { assigning } from './register.ts';
import { describeRefusal, Runs } from './runs.ts';
import { firstDelay, type Random, Timetable, whileWaiting } from './schedule.ts';
import type { AgentSettings } from './settings.ts';
import { SignersFile } from './signers.ts';
import { StateFolder, type Wishes } from './state.ts';

export interface AgentDependencies {
  clock: Clock;
  random: Random;
  log: Log;
  /** Aborts all calls and commands, and so ends `run`. */
  stop: AbortSignal;
}

/** What a cycle has to do. */
interface Due {
  isRunDue: boolean;
  isCallDue: boolean;
}

interface CycleEnd {
  /** Why it failed, also when it went on without the server; null for a success. */
  failure: unknown;
  /** Whether the server was away. */
  wasAway: boolean;
  /** Whether it failed before anything was sent to the server. */
  wasNothingSent: boolean;
  /** Whether the command had errors; null when it was not run. */
  hadErrors: boolean | null;
  /** Whether a bundle is not taken into use. */
  isRefusing: boolean;
}

/** How a single cycle ended: it went well, it failed, or the server was not there and nothing was sent. */
export type Outcome = 'done' | 'failed' | 'nothing sent';

interface Stores {
  state: StateFolder;
  bundles: BundleStore;
  outbox: Outbox;
  runs: Runs;
  wishes: Wishes | null;
}

export class Agent {
  private readonly settings: AgentSettings;
  private readonly dependencies: AgentDependencies;
  private readonly stores: Stores;
  private readonly enrollment: Enrollment;
  private readonly signers: SignersFile;
  private readonly gate: Gate;
  /** What the server wanted when it answered last. */
  private wishes: Wishes | null;
  private plan: Plan;
  /** The configuration that was reported last, as JSON. */
  private reportedConfig: string | null = null;
  private status: LcmStatus = 'Idle';
  /** The status that the server was told last; null when it was told none. */
  private reportedStatus: LcmStatus | 'unsure' | null = null;
  /** What the node lacked when the server answered last, and whether it has never had a bundle. */
  private lack: { what: Lack; isFirst: boolean } | null = null;
  /** The refusal that was logged, so that it is not in each cycle; and the bundle whose versions are noted. */
  private loggedRefusal: BundleRefusal | null = null;
  private notedBundle: string | null = null;

  private constructor(settings: AgentSettings, dependencies: AgentDependencies, stores: Stores) {
    this.settings = settings;
    this.dependencies = dependencies;
    this.stores = stores;
    this.enrollment = enrollmentOf(settings, dependencies, stores.state);
    this.signers = new SignersFile(settings);
    const { state, bundles } = stores;
    const { clock } = dependencies;
    this.gate = new Gate({ state, bundles, clock, refusesOlder: settings.refuseOlder });
    this.wishes = stores.wishes;
    this.plan = planFor(settings, stores.wishes);
  }

  /** Removes what an earlier run has left unfinished. */
  static async open(settings: AgentSettings, dependencies: AgentDependencies): Promise<Agent> {
    const state = await StateFolder.open(settings.stateDir);
    const bundles = await BundleStore.open(settings.stateDir);
    const outbox = await Outbox.open(settings.stateDir, dependencies.log);
    const runs = await Runs.open(settings, { state, bundles, outbox, ...dependencies });
    const wishes = await state.wishes();
    return new Agent(settings, dependencies, { state, bundles, outbox, runs, wishes });
  }

  /** Runs one cycle after the other until it is stopped. A cycle that failed is logged and tried again. */
  async run(): Promise<void> {
    const { log, random, stop } = this.dependencies;
    // A node that has never had a bundle starts at once, because somebody waits for it. All the others may start after the
    // same power cut.
    const isNew = (await this.stores.bundles.current()) === null;
    const first = isNew ? 0 : firstDelay(this.plan.interval.milliseconds, random);
    const start = performance.now();
    const timetable = new Timetable(start + first, random);
    for (;;) {
      await wait(timetable.next - performance.now(), stop);
      if (stop.aborted) return;
      // Timers may fire a little early.
      const due = timetable.dueAt(Math.max(performance.now(), timetable.next));
      const { failure, hadErrors } = await this.tryCycle(due);
      timetable.note(
        {
          wasDue: due.isRunDue,
          hasRun: hadErrors !== null,
          hasCalled: due.isCallDue,
          failure:
            failure === null ? null : { retryAfter: failure instanceof Refusal ? failure.retryAfter : null },
        },
        performance.now(),
        this.intervalAfter(performance.now() - start),
      );
      log.debug({ milliseconds: Math.round(timetable.next - performance.now()) }, 'waiting');
    }
  }

  /** Somebody waits for a node that has never had a bundle. @param waited milliseconds since the start */
  private intervalAfter(waited: number): number {
    const { milliseconds } = this.plan.interval;
    return this.lack?.isFirst ? whileWaiting(waited, milliseconds) : milliseconds;
  }

  /** Runs one cycle. */
  async once(): Promise<Outcome> {
    const end = await this.tryCycle({ isRunDue: true, isCallDue: true });
    if (end.wasNothingSent) return 'nothing sent';
    return end.failure === null && end.hadErrors !== true && !end.isRefusing ? 'done' : 'failed';
  }

  close(): void {
    this.enrollment.close();
  }

  private async tryCycle(due: Due): Promise<CycleEnd> {
    const { log, stop } = this.dependencies;
    try {
      const end = await this.cycle(due);
      if (end.failure === null || stop.aborted) return end;
      if (!end.wasAway) log.warn(describe(end.failure), 'the server takes no reports: they are kept');
      else if (end.hadErrors !== null)
        log.warn(describe(end.failure), 'the server is away: the node goes on without it');
      else if (due.isRunDue) log.error(describe(end.failure), 'the cycle failed');
      else log.warn(describe(end.failure), 'the server is still away');
      return end;
    } catch (error) {
      if (!stop.aborted) log.error(describe(error), 'the cycle failed');
      return { failure: error, wasAway: false, wasNothingSent: false, hadErrors: null, isRefusing: false };
    }
  }

  private async cycle({ isRunDue, isCallDue }: Due): Promise<CycleEnd> {
    this.gate.use(await this.signers.read());
    const link = new Link(this.dependencies.stop);
    const pulled = (isCallDue ? await this.callServer(link) : null) ?? (await this.withoutServer());
    const { bundle, isNew, refusal } = pulled;
    const isRefusing = refusal !== null;
    this.logRefused(refusal, bundle);
    if (bundle !== null) await this.noteVersions(bundle);
    const hasRuns = bundle !== null && this.settings.command.length > 0;
    const hadErrors = hasRuns && (isRunDue || isNew) ? await this.apply(bundle, link, refusal) : null;
    if (!hasRuns) this.status = 'Idle';
    if (!isRefusing) await this.stores.runs.forgetRefused();
    else if (!hasRuns) await this.stores.runs.tellRefused(refusal, bundle, this.plan);
    if (isRefusing) this.status = 'Error';
    if (this.reportedStatus !== null || isRefusing) await this.tell(link, this.status);
    await this.sendReports(link);
    const { failure, isAway: wasAway, isNothingSent: wasNothingSent } = link;
    return { failure, wasAway, wasNothingSent, hadErrors, isRefusing };
  }

  /** Says what is refused, once and not in each cycle. */
  private logRefused(refusal: BundleRefusal | null, inUse: Polled | null): void {
    if (refusal !== null && refusal !== this.loggedRefusal)
      this.dependencies.log.error({ inUse: inUse?.checksum ?? null }, describeRefusal(refusal));
    this.loggedRefusal = refusal;
  }

  private async noteVersions(bundle: Polled): Promise<void> {
    if (this.notedBundle === bundle.checksum) return;
    await this.gate.noteVersions(bundle);
    this.notedBundle = bundle.checksum;
  }

  /** @returns null when the server is away */
  private async callServer(link: Link): Promise<Pulled | null> {
    const session = await link.open(() => this.enrollment.signIn(toReported(planFor(this.settings, null))));
    if (session === null) return null;
    await this.takeWishes(session.lcm, this.wishes?.isAssigned ?? false);
    await this.reportConfig(link);
    await this.sendReports(link);
    const pulled = await this.pullBundle(link);
    if (pulled === null) return null;
    await this.takeWishes(session.lcm, pulled.lack === null);
    await this.noteLack(pulled.lack);
    return pulled;
  }

  /** Says what the node waits for, once and not in each cycle. */
  private async noteLack(what: Lack | null): Promise<void> {
    if (what === (this.lack?.what ?? null)) return;
    const current = what === null ? null : await this.stores.bundles.current();
    this.lack = what === null ? null : { what, isFirst: current === null };
    if (this.lack === null) return;
    this.dependencies.log.info(
      {
        keeps: current?.checksum ?? null,
        ...(what === 'assignment' && { next: assigning(this.settings.name) }),
      },
      `nothing to pull: ${describeLack(this.lack)}`,
    );
  }

  /** The bundle that the node has, unless the server has said that it should run none. */
  private async withoutServer(): Promise<Pulled> {
    const isAssigned = this.wishes?.isAssigned ?? false;
    const current = isAssigned ? await this.stores.bundles.current() : null;
    const bundle = await this.gate.usable(current);
    if (current !== null && bundle === null && this.gate.refusal === null)
      this.dependencies.log.warn('the signatures of the bundle were never checked, so it does not run');
    return { bundle, isNew: false, lack: null, refusal: isAssigned ? this.gate.refusal : null };
  }

  private async pullBundle(link: Link): Promise<Pulled | null> {
    const { settings, gate } = this;
    const { bundles } = this.stores;
    const { log } = this.dependencies;
    const onDownload = () => this.tell(link, 'Downloading');
    try {
      return await link.try((api) =>
        pull({ api, bundles, gate, limit: settings.bundleLimit, onDownload, log }),
      );
    } catch (error) {
      // If the report fails too, the first error is the one to throw.
      if (!(error instanceof Refusal)) await this.tell(link, 'Error').catch(() => undefined);
      throw error;
    }
  }

  /** @returns whether the command had errors */
  private async apply(bundle: Polled, link: Link, refusal: BundleRefusal | null): Promise<boolean> {
    const tell = (status: LcmStatus) => this.tell(link, status);
    const hadErrors = await this.stores.runs.run(bundle, this.plan, tell, refusal);
    this.status = hadErrors ? 'Error' : 'Idle';
    return hadErrors;
  }

  private sendReports(link: Link): Promise<void> {
    return link.report((api) => this.stores.outbox.send((report) => api.postReport(report)));
  }

  private async reportConfig(link: Link): Promise<void> {
    const config = toReported(this.plan);
    if (this.reportedConfig === JSON.stringify(config)) return;
    const isTold = await link.try((api) =>
      this.logRefusal('the settings are refused', () => api.putReportedConfig(config)),
    );
    if (isTold) this.reportedConfig = JSON.stringify(config);
  }

  private async tell(link: Link, status: LcmStatus): Promise<void> {
    if (this.reportedStatus === status) return;
    const isTold = await link.try((api) =>
      this.logRefusal('the status is refused', () => api.putStatus(status)),
    );
    this.reportedStatus = isTold ? status : 'unsure';
  }

  /** For calls that only inform the server: when it refuses them, the cycle goes on. */
  private async logRefusal(message: string, call: () => Promise<void>): Promise<true> {
    try {
      await call();
    } catch (error) {
      if (!(error instanceof Refusal) || error.isTemporary) throw error;
      this.dependencies.log.warn(describe(error), message);
    }
    return true;
  }

  /** Keeps what the server wants, so that the node can go on with it without the server. */
  private async takeWishes(lcm: LcmConfig, isAssigned: boolean): Promise<void> {
    const wishes = toWishes(lcm, isAssigned);
    this.plan = planFor(this.settings, wishes);
    if (JSON.stringify(wishes) === JSON.stringify(this.wishes)) return;
    await this.stores.state.saveWishes(wishes);
    this.wishes = wishes;
  }
}

function describeLack({ what, isFirst }: { what: Lack; isFirst: boolean }): string {
  if (what === 'version') return 'no published version fits what is assigned to this node';
  return isFirst ? 'this node waits for its first assignment' : 'nothing is assigned to this node any more';
}

/** An error for the log, without its stack, headers and anything that was sent. */
function describe(error: unknown): Record<string, unknown> {
  if (error instanceof Refusal) {
    const { message, status, code, retryAfter, nextStep } = error;
    return {
      error: message,
      status,
      code,
      retryAfterSeconds: retryAfter === null ? null : retryAfter / 1_000,
      ...(nextStep !== null && { next: nextStep }),
    };
  }
  return { error: error instanceof Error ? error.message : String(error) };
}

/** Returns early when stopped. It waits a day at a time, because a timer of more than 24 days fires at once. */
async function wait(milliseconds: number, stop: AbortSignal): Promise<void> {
  for (let left = milliseconds; left > 0 && !stop.aborted; left -= DAY) {
    await sleep(Math.min(left, DAY), undefined, { signal: stop }).catch(() => undefined);
  }
}
