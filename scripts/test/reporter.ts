/**
 * Prints one line for each file of tests, and at the end which files took the most processor time, what failed and how many
 * tests there were.
 */

import { relative } from 'node:path';
import Mocha from 'mocha';
import { readCpuTimes } from '../../test/support/cpu-times.ts';

const {
  EVENT_HOOK_END,
  EVENT_RUN_END,
  EVENT_SUITE_END,
  EVENT_TEST_FAIL,
  EVENT_TEST_PASS,
  EVENT_TEST_PENDING,
} = Mocha.Runner.constants;

/** The tests of one file. */
export interface FileOutcome {
  /** The path in the project. */
  path: string;
  passing: number;
  pending: number;
  /** Each with its whole title and what went wrong. */
  failures: string[];
  /** Of its tests and hooks; loading the file is not in it. */
  milliseconds: number;
}

export interface ReporterOptions {
  /** The folder of transpiled files, from which the tests run. */
  folder: string;
  /** Gets what became of each file. */
  outcomes: Map<string, FileOutcome>;
}

export class FileReporter extends Mocha.reporters.Base {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const { folder, outcomes } = options.reporterOptions as ReporterOptions;
    const outcomeOf = ({ file }: Mocha.Runnable): FileOutcome => {
      const path = relative(folder, file ?? '').replace(/\.js$/, '.ts');
      const known = outcomes.get(path) ?? { path, passing: 0, pending: 0, failures: [], milliseconds: 0 };
      outcomes.set(path, known);
      return known;
    };
    const addTime = (work: Mocha.Runnable) => {
      if (work.file !== undefined) outcomeOf(work).milliseconds += work.duration ?? 0;
    };
    runner.on(EVENT_HOOK_END, addTime);
    runner.on(EVENT_TEST_PASS, (test) => {
      addTime(test);
      outcomeOf(test).passing += 1;
    });
    runner.on(EVENT_TEST_PENDING, (test) => {
      outcomeOf(test).pending += 1;
    });
    runner.on(EVENT_TEST_FAIL, (test, error: Error) => {
      addTime(test);
      outcomeOf(test).failures.push(`${test.fullTitle()}\n${error.stack ?? error.message}`);
    });
    let printed = 0;
    const times = () => new Map(readCpuTimes().map(({ path, seconds }) => [path, seconds]));
    // The events of a file come together, with those of its suites last.
    const print = () => {
      const seconds = times();
      for (const outcome of [...outcomes.values()].slice(printed))
        Mocha.reporters.Base.consoleLog(lineOf(outcome, seconds.get(outcome.path)));
      printed = outcomes.size;
    };
    runner.on(EVENT_SUITE_END, (suite) => {
      if (suite.root) print();
    });
    runner.once(EVENT_RUN_END, () => {
      print();
      for (const line of dearest(times())) Mocha.reporters.Base.consoleLog(line);
      this.epilogue();
    });
  }
}

/** How many files are named at the end. */
const NAMED = 10;

/** @param times the CPU seconds of each file */
function dearest(times: ReadonlyMap<string, number>): string[] {
  if (times.size <= NAMED) return [];
  const all = [...times.values()].reduce((sum, seconds) => sum + seconds, 0);
  const most = [...times].sort(([, one], [, other]) => other - one).slice(0, NAMED);
  return [
    `${Math.round(all)} CPU seconds, of which most went to these files:`,
    ...most.map(([path, seconds]) => `${seconds.toFixed(1).padStart(6)} ${path}`),
  ];
}

function lineOf(
  { path, passing, pending, failures, milliseconds }: FileOutcome,
  cpuSeconds: number | undefined,
): string {
  const counts = [
    `${passing} passed`,
    pending > 0 && `${pending} left out`,
    failures.length > 0 && `${failures.length} FAILED`,
  ];
  const cpu = cpuSeconds === undefined ? '' : `, ${cpuSeconds.toFixed(1)} CPU seconds`;
  return `${failures.length > 0 ? '✗' : '✓'} ${path}: ${counts.filter(Boolean).join(', ')} in ${Math.round(milliseconds / 1_000)} s${cpu}`;
}
