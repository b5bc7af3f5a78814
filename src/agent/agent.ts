/** The agent: one cycle, and cycle after cycle. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Duration } from '../domain/duration.ts';
import { type Clock, DAY } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { BundleStore } from './bundles.ts';
import { fillTemplate, runCommand } from './command.ts';
import { Connection } from './connection.ts';
import { Contact } from './contact.ts';
import {
  type LcmConfig,
  type LcmStatus,
  type Mode,
  NodeApi,
  type NodeCalls,
  type Polled,
  Refusal,
  type ReportedConfig,
} from './node-api.ts';
import { pull } from './pull.ts';
import { toResult } from './result.ts';
import { backOff, firstDelay, nextDelay, obeyed, type Random } from './schedule.ts';
import type { AgentSettings } from './settings.ts';
import { StateFolder } from './state.ts';

export interface AgentDependencies {
  clock: Clock;
  random: Random;
  log: Log;
  /** Ends what is going on, and with it `run`. */
  stop: AbortSignal;
}

/** What the node goes by: what the server wants, else its own settings. */
interface Plan {
  mode: Mode;
  interval: Duration;
  reportsCompliance: boolean;
}

type CycleEnd = { failed: true; error: unknown } | { failed: false; hadErrors: boolean };

export class Agent {
  private readonly settings: AgentSettings;
  private readonly dependencies: AgentDependencies;
  private readonly state: StateFolder;
  private readonly bundles: BundleStore;
  private readonly contact: Contact;
  private plan: Plan;
  /** What the server was told last, as JSON. */
  private toldConfig: string | null = null;
  private toldStatus: LcmStatus | null = null;

  private constructor(
    settings: AgentSettings,
    dependencies: AgentDependencies,
    stores: { state: StateFolder; bundles: BundleStore },
  ) {
    const { clock, log, stop } = dependencies;
    const { name, registrationKey, csr } = settings;
    this.settings = settings;
    this.dependencies = dependencies;
    this.state = stores.state;
    this.bundles = stores.bundles;
    this.contact = new Contact({
      state: this.state,
      connect: (identity) => new NodeApi(new Connection(settings, identity, stop), () => clock.now()),
      name,
      registrationKey,
      csr,
      clock,
      log,
    });
    this.plan = this.planFor(null);
  }

  /** Clears up what an earlier run has left unfinished. */
  static async open(settings: AgentSettings, dependencies: AgentDependencies): Promise<Agent> {
    const state = await StateFolder.open(settings.stateDir);
    return new Agent(settings, dependencies, { state, bundles: await BundleStore.open(settings.stateDir) });
  }

  /** Cycle after cycle until it is stopped; failures are logged and tried again. */
  async run(): Promise<void> {
    const { log, random, stop } = this.dependencies;
    // Someone waits for a new node; the others may all be starting after the same power cut.
    const isNew = !(await this.contact.isRegistered());
    let delay = isNew ? 0 : firstDelay(this.plan.interval.milliseconds, random);
    for (let failures = 0; ; ) {
      await wait(delay, stop);
      if (stop.aborted) return;
      const end = await this.tryCycle();
      failures = end.failed ? failures + 1 : 0;
      delay = end.failed
        ? this.delayAfter(end.error, failures)
        : nextDelay(this.plan.interval.milliseconds, random);
      log.debug({ milliseconds: Math.round(delay) }, 'waiting');
    }
  }

  /** One cycle. @returns whether it went through and the command had no errors */
  async once(): Promise<boolean> {
    const end = await this.tryCycle();
    return !end.failed && !end.hadErrors;
  }

  close(): void {
    this.contact.close();
  }

  private async tryCycle(): Promise<CycleEnd> {
    const { log, stop } = this.dependencies;
    try {
      return { failed: false, hadErrors: await this.cycle() };
    } catch (error) {
      if (!stop.aborted) log.error(describe(error), 'the cycle failed');
      return { failed: true, error };
    }
  }

  /** @returns whether the command had errors; false where there was none to run */
  private async cycle(): Promise<boolean> {
    const { calls, lcm } = await this.contact.signIn(toReported(this.planFor(null)));
    this.plan = this.planFor(lcm);
    await this.tellConfig(calls);
    await this.sendReport(calls);
    const bundle = await this.pullBundle(calls);
    if (bundle !== null && this.settings.command !== null) {
      return this.apply(calls, bundle, this.settings.command);
    }
    if (this.toldStatus !== null && this.toldStatus !== 'Idle') await this.tell(calls, 'Idle');
    return false;
  }

  private async pullBundle(calls: NodeCalls): Promise<Polled | null> {
    const { bundles, settings } = this;
    const tell = (status: LcmStatus) => this.tell(calls, status);
    try {
      return await pull({ calls, bundles, limit: settings.bundleLimit, tell, log: this.dependencies.log });
    } catch (error) {
      // The failure itself matters more than that it could not be told.
      if (!(error instanceof Refusal)) await this.tell(calls, 'Error').catch(() => undefined);
      throw error;
    }
  }

  private async apply(calls: NodeCalls, bundle: Polled, template: readonly string[]): Promise<boolean> {
    const { log, stop } = this.dependencies;
    const { mode, reportsCompliance } = this.plan;
    const { commandTimeout, outputLimit, environment } = this.settings;
    const folder = this.bundles.folderOf(bundle);
    const command = fillTemplate(template, {
      operation: mode === 'Remediate' ? 'set' : 'test',
      entryPoint: join(folder, bundle.entryPoint),
      parametersFile: bundle.parametersFile && join(folder, bundle.parametersFile),
    });
    await this.tell(calls, mode === 'Remediate' ? 'Remediating' : 'Testing');
    const timeout = commandTimeout.milliseconds;
    const outcome = await runCommand(command, { cwd: folder, environment, timeout, outputLimit, stop });
    // What was broken off says nothing of the node's state.
    if (outcome.wasStopped) throw new Error('The command was ended, because the agent ends');
    const { json, hadErrors } = toResult(outcome, command[0] ?? '');
    const { exitCode, fault } = outcome;
    log[hadErrors ? 'warn' : 'info'](
      { mode, version: bundle.version, exitCode, fault, hadErrors },
      'command ended',
    );
    if (reportsCompliance) {
      const operation = mode === 'Remediate' ? 'Set' : 'Test';
      await this.state.saveReport(`{"operation":"${operation}","result":${json}}`);
    }
    await this.tell(calls, hadErrors ? 'Error' : 'Idle');
    await this.sendReport(calls);
    return hadErrors;
  }

  /** What is kept is sent; it is dropped when the server has it, or will never take it. */
  private async sendReport(calls: NodeCalls): Promise<void> {
    const report = await this.state.report();
    if (report === null) return;
    try {
      await calls.postReport(report);
    } catch (error) {
      if (!(error instanceof Refusal) || error.isPassing || error.status === 401) throw error;
      this.dependencies.log.error(describe(error), 'the report is refused and dropped');
    }
    await this.state.discardReport();
  }

  private async tellConfig(calls: NodeCalls): Promise<void> {
    const reported = toReported(this.plan);
    if (this.toldConfig === JSON.stringify(reported)) return;
    await this.tolerate('the settings are refused', () => calls.putReportedConfig(reported));
    this.toldConfig = JSON.stringify(reported);
  }

  private async tell(calls: NodeCalls, status: LcmStatus): Promise<void> {
    await this.tolerate('the status is refused', () => calls.putStatus(status));
    this.toldStatus = status;
  }

  /** What is only for the server to know does not stop the cycle when the server does not want it. */
  private async tolerate(message: string, call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      if (!(error instanceof Refusal) || error.isPassing) throw error;
      this.dependencies.log.warn(describe(error), message);
    }
  }

  private planFor(lcm: LcmConfig | null): Plan {
    return {
      mode: lcm?.configurationMode ?? this.settings.mode,
      interval: lcm?.configurationModeInterval ?? this.settings.interval,
      reportsCompliance: lcm?.reportCompliance ?? true,
    };
  }

  private delayAfter(error: unknown, failures: number): number {
    const { random } = this.dependencies;
    const retryAfter = error instanceof Refusal ? error.retryAfter : null;
    return retryAfter === null ? backOff(failures, random) : obeyed(retryAfter, random);
  }
}

function toReported({ mode, interval, reportsCompliance }: Plan): ReportedConfig {
  return {
    configurationMode: mode,
    configurationModeInterval: interval.text,
    reportCompliance: reportsCompliance,
  };
}

/** For the log: no stack, no headers, nothing that was sent. */
function describe(error: unknown): Record<string, unknown> {
  if (error instanceof Refusal) {
    const { message, status, code, retryAfter } = error;
    return {
      error: message,
      status,
      code,
      retryAfterSeconds: retryAfter === null ? null : retryAfter / 1_000,
    };
  }
  return { error: error instanceof Error ? error.message : String(error) };
}

/** Returns early when stopped. In parts, because a timer beyond 24 days goes off at once. */
async function wait(milliseconds: number, stop: AbortSignal): Promise<void> {
  for (let left = milliseconds; left > 0 && !stop.aborted; left -= DAY) {
    await sleep(Math.min(left, DAY), undefined, { signal: stop }).catch(() => undefined);
  }
}
