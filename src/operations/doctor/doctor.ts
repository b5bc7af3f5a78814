/** `hawser doctor`: looks at everything that the server keeps, and says what is wrong and what to do. */

import { toTimestamp } from '../../lib/clock.ts';
import type { Command } from '../command-line.ts';
import { type Check, type Severity, several } from './findings.ts';

export const doctor: Command = {
  name: 'doctor',
  help: 'look at everything kept, changing nothing; exit code 1 when there are errors, 0 with no more than warnings',
  options: { json: null },
  async run({ config, clock, options }) {
    const { refuseUnfinishedRestore } = await import('../backup/restore-folders.ts');
    refuseUnfinishedRestore(config);
    const { examine } = await import('./examine.ts');
    const now = clock.now();
    const checks = await examine({ config, now, progress: showProgress });
    process.stdout.write(options['json'] ? formatJson(checks, now) : formatText(checks));
    return count(checks, 'error') === 0 ? 0 : 1;
  },
};

function formatJson(checks: readonly Check[], now: number): string {
  const [errors, warnings] = [count(checks, 'error'), count(checks, 'warning')];
  const document = { examinedAt: toTimestamp(now), healthy: errors === 0, errors, warnings, checks };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function formatText(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap((check) => [
    `${worstOf(check).padEnd(7)}  ${check.name.padEnd(width)}  ${check.summary}`,
    ...check.findings.flatMap(({ severity, where, what, remedy }) => [
      `  ${severity}: ${where}: ${what}`,
      ...(remedy === null ? [] : [`    -> ${remedy}`]),
    ]),
  ]);
  const errors = several(count(checks, 'error'), 'error');
  return [...lines, '', `${errors}, ${several(count(checks, 'warning'), 'warning')}`, ''].join('\n');
}

function worstOf({ findings }: Check): string {
  const severities = new Set(findings.map(({ severity }) => severity));
  return severities.has('error') ? 'ERROR' : severities.has('warning') ? 'warning' : 'ok';
}

function count(checks: readonly Check[], wanted: Severity): number {
  return checks.flatMap(({ findings }) => findings).filter(({ severity }) => severity === wanted).length;
}

/** One line that is written over, and gone in the end; nothing where nobody watches. */
function showProgress(done: number, all: number): void {
  if (!process.stderr.isTTY) return;
  process.stderr.write(done === all ? '\r\x1b[K' : `\rrepository ${done + 1} of ${all}\x1b[K`);
}
