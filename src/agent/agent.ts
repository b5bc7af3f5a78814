/** The agent: in each cycle it signs in, pulls its bundle, runs the command on it and reports the result. */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Duration } from '../domain/duration.ts';
import { type Clock, DAY } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { BundleStore, pull } from './bundles.ts';
import type { Identity } from './certificates.ts';
import { fillTemplate, runCommand, toResult } from './command.ts';
import { Connection } from './connection.ts';
import { Enrollment } from './enrollment.ts';
import {
  type LcmConfig,
  type LcmStatus,
  type NodeApi,
  type Polled,
  Refusal,
  type ReportedConfig,
} from './node-api.ts';
import { backOff, delayAfterRetryAfter, firstDelay, nextDelay, type Random } from './schedule.ts';
import type { AgentSettings } from './settings.ts';
import { StateFolder } from './state.ts';

export interface AgentDependencies {
  clock: Clock;
  random: Random;
  log: Log;
  /** Aborts all calls and commands, and so ends `run`. */
  stop: AbortSignal;
}

/** The wishes of the server, or the node's own settings where the server has none. */
interface Plan {
  mode: AgentSettings['mode'];
  interval: Duration;
  reportsCompliance: boolean;
}

type CycleEnd = { failed: true; error: unknown } | { failed: false; hadErrors: boolean };

export class Agent {
  private readonly settings: AgentSettings;
  private readonly dependencies: AgentDependencies;
  private readonly state: StateFolder;
  private readonly bundles: BundleStore;
  private readonly enrollment: Enrollment;
  private plan: Plan;
  /** The configuration that was reported last, as JSON. */
  private reportedConfig: string | null = null;
  private reportedStatus: LcmStatus | null = null;

  private constructor(
    settings: AgentSettings,
    dependencies: AgentDependencies,
    stores: { state: StateFolder; bundles: BundleStore },
  ) {
    const { clock, log, stop } = dependencies;
    this.settings = settings;
    this.dependencies = dependencies;
    this.state = stores.state;
    this.bundles = stores.bundles;
    const connect = (identity: Identity) => new Connection(settings, identity, stop);
    this.enrollment = new Enrollment(settings, { state: this.state, connect, clock, log });
    this.plan = this.planFor(null);
  }

  /** Removes what an earlier run has left unfinished. */
  static async open(settings: AgentSettings, dependencies: AgentDependencies): Promise<Agent> {
    const state = await StateFolder.open(settings.stateDir);
    return new Agent(settings, dependencies, { state, bundles: await BundleStore.open(settings.stateDir) });
  }

  /** Runs one cycle after the other until it is stopped. A cycle that failed is logged and tried again. */
  async run(): Promise<void> {
    const { log, random, stop } = this.dependencies;
    // A new node starts at once, because somebody waits for it. All the others may start after the same power cut.
    const isNew = !(await this.enrollment.isRegistered());
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

  /** Runs one cycle. @returns whether it succeeded and the command had no errors */
  async once(): Promise<boolean> {
    const end = await this.tryCycle();
    return !end.failed && !end.hadErrors;
  }

  close(): void {
    this.enrollment.close();
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

  /** @returns whether the command had errors; false when no command was run */
  private async cycle(): Promise<boolean> {
    const { api, lcm } = await this.enrollment.signIn(toReported(this.planFor(null)));
    this.plan = this.planFor(lcm);
    await this.reportConfig(api);
    await this.sendReport(api);
    const bundle = await this.pullBundle(api);
    if (bundle !== null && this.settings.command !== null) {
      return this.apply(api, bundle, this.settings.command);
    }
    if (this.reportedStatus !== null && this.reportedStatus !== 'Idle') await this.reportStatus(api, 'Idle');
    return false;
  }

  private async pullBundle(api: NodeApi): Promise<Polled | null> {
    const { bundles, settings } = this;
    const onDownload = () => this.reportStatus(api, 'Downloading');
    const { log } = this.dependencies;
    try {
      return await pull({ api, bundles, limit: settings.bundleLimit, onDownload, log });
    } catch (error) {
      // If the report fails too, the first error is the one to throw.
      if (!(error instanceof Refusal)) await this.reportStatus(api, 'Error').catch(() => undefined);
      throw error;
    }
  }

  private async apply(api: NodeApi, bundle: Polled, template: readonly string[]): Promise<boolean> {
    const { log, stop } = this.dependencies;
    const { mode, reportsCompliance } = this.plan;
    const { commandTimeout, outputLimit, environment } = this.settings;
    const folder = this.bundles.folderOf(bundle);
    const command = fillTemplate(template, {
      operation: mode === 'Remediate' ? 'set' : 'test',
      entryPoint: join(folder, bundle.entryPoint),
      parametersFile: bundle.parametersFile && join(folder, bundle.parametersFile),
    });
    await this.reportStatus(api, mode === 'Remediate' ? 'Remediating' : 'Testing');
    const timeout = commandTimeout.milliseconds;
    const outcome = await runCommand(command, { cwd: folder, environment, timeout, outputLimit, stop });
    // The output of a command that was stopped says nothing about the state of the node.
    if (outcome.wasStopped) throw new Error('The command was ended, because the agent ends');
    const { json, hadErrors } = toResult(outcome, command[0] ?? '');
    const { exitCode, fault } = outcome;
    log[hadErrors ? 'warn' : 'info'](
      { mode, version: bundle.version, exitCode, fault, hadErrors },
      'command ended',
    );
    if (reportsCompliance) {
      const operation = mode === 'Remediate' ? 'Set' : 'Test';
      const ran = `"configurationChecksum":"${bundle.checksum}"`;
      await this.state.saveReport(`{"operation":"${operation}",${ran},"result":${json}}`);
    }
    await this.reportStatus(api, hadErrors ? 'Error' : 'Idle');
    await this.sendReport(api);
    return hadErrors;
  }

  /** Sends the kept report, and removes it when the server has taken it or will never take it. */
  private async sendReport(api: NodeApi): Promise<void> {
    const report = await this.state.report();
    if (report === null) return;
    try {
      await api.postReport(report);
    } catch (error) {
      if (!(error instanceof Refusal) || error.isTemporary || error.status === 401) throw error;
      this.dependencies.log.error(describe(error), 'the report is refused and dropped');
    }
    await this.state.discardReport();
  }

  private async reportConfig(api: NodeApi): Promise<void> {
    const config = toReported(this.plan);
    if (this.reportedConfig === JSON.stringify(config)) return;
    await this.logRefusal('the settings are refused', () => api.putReportedConfig(config));
    this.reportedConfig = JSON.stringify(config);
  }

  private async reportStatus(api: NodeApi, status: LcmStatus): Promise<void> {
    await this.logRefusal('the status is refused', () => api.putStatus(status));
    this.reportedStatus = status;
  }

  /** For calls that only inform the server: when it refuses them, the cycle goes on. */
  private async logRefusal(message: string, call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      if (!(error instanceof Refusal) || error.isTemporary) throw error;
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
    return retryAfter === null ? backOff(failures, random) : delayAfterRetryAfter(retryAfter, random);
  }
}

function toReported({ mode, interval, reportsCompliance }: Plan): ReportedConfig {
  return {
    configurationMode: mode,
    configurationModeInterval: interval.text,
    reportCompliance: reportsCompliance,
  };
}

/** An error for the log, without its stack, headers and anything that was sent. */
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

/** Returns early when stopped. It waits a day at a time, because a timer of more than 24 days fires at once. */
async function wait(milliseconds: number, stop: AbortSignal): Promise<void> {
  for (let left = milliseconds; left > 0 && !stop.aborted; left -= DAY) {
    await sleep(Math.min(left, DAY), undefined, { signal: stop }).catch(() => undefined);
  }
}
