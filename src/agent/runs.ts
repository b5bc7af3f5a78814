/** The runs of the command: what it is run with, and the report that is kept of each run. */

import { join } from 'node:path';
import { type DscResult, judgeReport } from '../domain/report-verdict.ts';
import { type Clock, toTimestamp } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { BundleStore } from './bundles.ts';
import { fillTemplate, runCommand, toErrorResult, toMissingResult, toResult, withError } from './command.ts';
import type { BundleRefusal } from './gate.ts';
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
   * @param refusal of the bundle that should be in the place of this one; each report tells of it
   * @returns whether the command had errors, or something is refused
   * @throws Error when the command was ended because the agent ends
   */
  async run(bundle: Polled, plan: RunPlan, tell: Tell, refusal: BundleRefusal | null): Promise<boolean> {
    const { command, environment } = this.settings;
    const { bundles, state } = this.dependencies;
    const folder = bundles.folderOf(bundle);
    const [program = ''] = command;
    if ((await findProgram(program, environment, folder)) === null) {
      await this.tellMissing(program, bundle, plan, refusal);
      await tell('Error');
      return true;
    }
    if ((await state.missingCommand()) !== null) await state.discardMissingCommand();
    await tell(plan.mode === 'Remediate' ? 'Remediating' : 'Testing');
    const { json, hadErrors } = await this.runOn(bundle, folder, plan);
    if (plan.reportsCompliance) await this.keep(andRefusal(json, refusal), bundle, plan);
    const isFine = !hadErrors && refusal === null;
    await tell(isFine ? 'Idle' : 'Error');
    return !isFine;
  }

  /** Reports a refusal once, where no report of a run will tell of it. @param inUse null where nothing is */
  async tellRefused(refusal: BundleRefusal, inUse: Polled | null, plan: RunPlan): Promise<void> {
    const { state } = this.dependencies;
    const { bundle, reason, signers } = refusal;
    const note = `${bundle.checksum} ${reason} ${signers}`;
    if (!plan.reportsCompliance || (await state.refused()) === note) return;
    await this.keep(toErrorResult(describeRefusal(refusal)), inUse, plan);
    await state.saveRefused(note);
  }

  /** What was refused is so no more, so that it is reported if it is once again. */
  async forgetRefused(): Promise<void> {
    const { state } = this.dependencies;
    if ((await state.refused()) !== null) await state.discardRefused();
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
  private async tellMissing(
    program: string,
    bundle: Polled,
    plan: RunPlan,
    refusal: BundleRefusal | null,
  ): Promise<void> {
    const { state, log } = this.dependencies;
    const isNew = (await state.missingCommand()) !== program;
    log[isNew ? 'error' : 'debug']({ command: program }, describeMissing(program));
    if (!isNew || !plan.reportsCompliance) return;
    // The note comes second. If the agent is killed in between, `open` makes it, so there is one report all the same.
    const result = toMissingResult(program, describeMissing(program));
    await this.keep(andRefusal(result, refusal), bundle, plan, true);
    await state.saveMissingCommand(program);
  }

  private async keep(result: string, inUse: Polled | null, { mode }: RunPlan, isAboutMissing = false) {
    const checksum = inUse?.checksum ?? null;
    const { state, outbox, clock } = this.dependencies;
    const operation = mode === 'Remediate' ? 'Set' : 'Test';
    const ran = checksum === null ? '' : `"configurationChecksum":"${checksum}",`;
    await outbox.add(`{"operation":"${operation}",${ran}"result":${result}}`, isAboutMissing);
    const read = JSON.parse(result) as DscResult;
    const { inDesiredState } = judgeReport(operation, read);
    const madeAt = toTimestamp(clock.now());
    const { hadErrors } = read;
    await state.saveLastReport({
      ...{ madeAt, operation, inDesiredState, hadErrors, configurationChecksum: checksum },
    });
  }
}

function andRefusal(result: string, refusal: BundleRefusal | null): string {
  return refusal === null ? result : withError(result, describeRefusal(refusal));
}

/** For reports. It begins with a code and the reason, which programs may read. */
export function describeRefusal({ reason, bundle }: BundleRefusal): string {
  return `signature_refused: ${reason}: ${bundle.configurationName} ${bundle.version} is not run (checksum ${bundle.checksum})`;
}
