/** The runs of the command: what it is run with, and the report that is kept of each run. */

import { join } from 'node:path';
import { type DscResult, judgeReport } from '../domain/report-verdict.ts';
import { type Clock, toTimestamp } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { BundleStore } from './bundles.ts';
import { fillTemplate, runCommand, toMissingResult, toResult } from './command.ts';
import type { Tell } from './link.ts';
import type { Polled } from './node-api.ts';
import type { Outbox } from './outbox.ts';
import { describeMissing, findProgram } from './programs.ts';
import type { AgentSettings } from './settings.ts';
import type { StateFolder } from './state.ts';

/** How a run is made. */
export interface RunPlan {
  mode: AgentSettings['mode'];
  reportsCompliance: boolean;
}

type Settings = Pick<AgentSettings, 'command' | 'commandTimeout' | 'outputLimit' | 'environment'>;

interface Dependencies {
  state: StateFolder;
  bundles: BundleStore;
  outbox: Outbox;
  clock: Clock;
  log: Log;
  stop: AbortSignal;
}

export class Runs {
  private readonly settings: Settings;
  private readonly dependencies: Dependencies;

  private constructor(settings: Settings, dependencies: Dependencies) {
    this.settings = settings;
    this.dependencies = dependencies;
  }

  /** Notes that the absence of the command was reported if a killed agent has kept the report and not the note. */
  static async open(settings: Settings, dependencies: Dependencies): Promise<Runs> {
    const { state, outbox } = dependencies;
    const isNoted = (await state.missingCommand()) !== null;
    if (!isNoted && (await outbox.endsWithMissing()))
      await state.saveMissingCommand(settings.command[0] ?? '');
    return new Runs(settings, dependencies);
  }

  /**
   * Runs the command on the bundle, and keeps a report of it.
   * @returns whether the command had errors
   * @throws Error when the command was ended because the agent ends
   */
  async run(bundle: Polled, plan: RunPlan, tell: Tell): Promise<boolean> {
    const { command, environment } = this.settings;
    const { bundles, state } = this.dependencies;
    const folder = bundles.folderOf(bundle);
    const [program = ''] = command;
    if ((await findProgram(program, environment, folder)) === null) {
      await this.tellMissing(program, bundle, plan);
      await tell('Error');
      return true;
    }
    if ((await state.missingCommand()) !== null) await state.discardMissingCommand();
    await tell(plan.mode === 'Remediate' ? 'Remediating' : 'Testing');
    const { json, hadErrors } = await this.runOn(bundle, folder, plan);
    if (plan.reportsCompliance) await this.keep(json, bundle, plan, false);
    await tell(hadErrors ? 'Error' : 'Idle');
    return hadErrors;
  }

  private async runOn(bundle: Polled, folder: string, { mode }: RunPlan) {
    const { log, stop } = this.dependencies;
    const { command: template, commandTimeout, outputLimit, environment } = this.settings;
    const command = fillTemplate(template, {
      operation: mode === 'Remediate' ? 'set' : 'test',
      entryPoint: join(folder, bundle.entryPoint),
      parametersFile: bundle.parametersFile && join(folder, bundle.parametersFile),
    });
    const timeout = commandTimeout.milliseconds;
    const outcome = await runCommand(command, { cwd: folder, environment, timeout, outputLimit, stop });
    // The output of a command that was stopped says nothing about the state of the node.
    if (outcome.wasStopped) throw new Error('The command was ended, because the agent ends');
    const result = toResult(outcome, command[0] ?? '');
    const { exitCode, fault } = outcome;
    const { hadErrors } = result;
    log[hadErrors ? 'warn' : 'info'](
      { mode, version: bundle.version, exitCode, fault, hadErrors },
      'command ended',
    );
    return result;
  }

  /** Reports the absence of the command once, and again only after the command was there in between. */
  private async tellMissing(program: string, bundle: Polled, plan: RunPlan): Promise<void> {
    const { state, log } = this.dependencies;
    const isNew = (await state.missingCommand()) !== program;
    log[isNew ? 'error' : 'debug']({ command: program }, describeMissing(program));
    if (!isNew || !plan.reportsCompliance) return;
    // The note comes second. If the agent is killed in between, `open` makes it, so there is one report all the same.
    await this.keep(toMissingResult(program, describeMissing(program)), bundle, plan, true);
    await state.saveMissingCommand(program);
  }

  private async keep(result: string, { checksum }: Polled, { mode }: RunPlan, isAboutMissing: boolean) {
    const { state, outbox, clock } = this.dependencies;
    const operation = mode === 'Remediate' ? 'Set' : 'Test';
    const ran = `"configurationChecksum":"${checksum}"`;
    await outbox.add(`{"operation":"${operation}",${ran},"result":${result}}`, isAboutMissing);
    const read = JSON.parse(result) as DscResult;
    const { inDesiredState } = judgeReport(operation, read);
    const madeAt = toTimestamp(clock.now());
    const { hadErrors } = read;
    await state.saveLastReport({
      ...{ madeAt, operation, inDesiredState, hadErrors, configurationChecksum: checksum },
    });
  }
}
