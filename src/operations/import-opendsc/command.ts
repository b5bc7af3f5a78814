/** The command line of `hawser import-opendsc`. */

import { SECOND } from '../../lib/clock.ts';
import { UsageError } from '../../lib/command-words.ts';
import type { Call, Command } from '../command-line.ts';
import { KINDS, type Kind } from './kinds.ts';

/** Something was left out, or another one is here. */
const EXIT_NOT_ALL = 2;

const PROGRESS = 2 * SECOND;

export const importCommand: Command = {
  name: 'import-opendsc',
  help: 'bring what an OpenDSC server holds into this server, which must not run; exit code 2 if something is left out or, with --check, served otherwise',
  options: {
    ...{ database: 'file or URL', files: 'folder', skip: 'kinds' },
    ...{ 'dry-run': null, check: null, json: null },
  },
  required: ['database', 'files'],
  run,
};

/** Imports, or says what an import would do. */
async function run({ config, clock, options }: Call): Promise<number> {
  // The other commands do not need this code.
  const [{ importOpenDsc, checkOpenDsc }, { describeImport, isAllIn }, { describeCheck }] = await Promise.all(
    [import('./import.ts'), import('./report.ts'), import('./check/check.ts')],
  );
  const source = { database: String(options['database']), files: String(options['files']) };
  const isDryRun = options['dry-run'] === true;
  const skip = readKinds(options['skip']);
  const given = { config, clock, ...source, onProgress: progress() };
  const toJson = (value: object) => `${JSON.stringify(value, null, 2)}\n`;
  if (options['check']) {
    if (isDryRun || skip.size > 0)
      throw new UsageError('import-opendsc: --check goes without --dry-run and --skip');
    const found = await checkOpenDsc(given);
    process.stdout.write(options['json'] ? toJson(found) : describeCheck(found));
    return found.differences.length === 0 ? 0 : EXIT_NOT_ALL;
  }
  const report = await importOpenDsc({ ...given, skip, isDryRun });
  const text = options['json'] ? toJson(report) : describeImport(report, isDryRun);
  process.stdout.write(text);
  return isAllIn(report) ? 0 : EXIT_NOT_ALL;
}

/** The kinds between commas. */
function readKinds(text: string | true | undefined): ReadonlySet<Kind> {
  const words = typeof text === 'string' ? text.split(',').map((word) => word.trim()) : [];
  return new Set(
    words.map((word) => {
      const kind = KINDS.find((each) => each === word);
      if (kind !== undefined) return kind;
      throw new UsageError(`import-opendsc: --skip does not know "${word}"; there are ${KINDS.join(', ')}`);
    }),
  );
}

/** Tells on stderr, every two seconds, how far the work is. */
function progress(): (what: string, done: number, all: number) => void {
  let next = Number.POSITIVE_INFINITY;
  return (what, done, all) => {
    if (next === Number.POSITIVE_INFINITY) next = performance.now() + PROGRESS;
    if (performance.now() < next) return;
    next = performance.now() + PROGRESS;
    process.stderr.write(`${what}: ${done} of ${all}\n`);
  };
}
