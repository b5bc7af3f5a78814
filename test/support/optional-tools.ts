/**
 * Tests that need more of a machine than `npm test` demands (scripts/preflight.ts). Where it is missing they count as
 * pending, with the reason in their titles. Nothing else may leave out a test.
 */

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Programs that a test may use although many machines have not got them. `npm test` names those that are missing. */
export const OPTIONAL_TOOLS = [
  ...([
    'apache2',
    'bash',
    'dash',
    'docker-compose',
    'fish',
    'haproxy',
    'nginx',
    'prometheus',
    'promtool',
    'pwsh',
    'python3',
  ] as const),
  ...(['script', 'ssh-keygen', 'systemd-analyze', 'systemd-notify', 'systemd-nspawn', 'zsh'] as const),
];

export type OptionalTool = (typeof OPTIONAL_TOOLS)[number];

/** Something else than a program. */
export interface Condition {
  isMet: boolean;
  /** What is told where it is not met. */
  otherwise: string;
}

export type Needs = readonly (OptionalTool | Condition)[];

/** For tests that use what only Linux has, such as prlimit. */
export const LINUX: Condition = { isMet: process.platform === 'linux', otherwise: 'this is not Linux' };

export function describeWith(needs: Needs, title: string, suite: (this: Mocha.Suite) => void): void {
  const reason = reasonToLeaveOut(needs);
  if (reason === null) describe(title, suite);
  else describe.skip(`${title} (left out: ${reason})`, suite);
}

export function itWith(needs: Needs, title: string, test: Mocha.Func | Mocha.AsyncFunc): void {
  const reason = reasonToLeaveOut(needs);
  if (reason === null) it(title, test);
  else it.skip(`${title} (left out: ${reason})`, test);
}

function reasonToLeaveOut(needs: Needs): string | null {
  const reasons = needs.flatMap((need) => {
    if (typeof need !== 'string') return need.isMet ? [] : [need.otherwise];
    return isInstalled(need) ? [] : [`${need} is not installed`];
  });
  return reasons.length === 0 ? null : reasons.join(', and ');
}

/** Debian installs servers in folders that are only on root's search path. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];

export function isInstalled(program: string): boolean {
  return FOLDERS.some((folder) => isProgram(join(folder, program)));
}

/** Whether there is a file that this user may run. */
export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
