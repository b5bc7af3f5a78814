/**
 * Looks at the machine before `npm test` does anything else, so that what is missing is told at once and all together,
 * and not by a test that fails after minutes. Prints one line with the remedy for each thing and ends with 1; also prints
 * which tests are left out.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromiumKind, NO_CHROMIUM } from '../test/support/chromium.ts';
import { isInstalled, OPTIONAL_TOOLS } from '../test/support/optional-tools.ts';
import { findPrograms } from '../test/support/postgres/programs.ts';
import { DEMANDED_PROGRAMS, faultsOf, leftOut, type Machine } from './preflight/machine.ts';
import { PROJECT } from './support/project.ts';

function thisMachine(): Machine {
  return {
    node: process.versions.node,
    neededNode: enginesOf(join(PROJECT, 'package.json')),
    git: gitVersion(),
    programs: DEMANDED_PROGRAMS.filter(isInstalled),
    hasBetterSqlite: existsSync(
      join(PROJECT, 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'),
    ),
    postgres: postgresFault(),
    chromium: chromiumKind() === null ? NO_CHROMIUM : null,
    room: { memory: availableMemory(), project: freeBytes(PROJECT), temporary: freeBytes(tmpdir()) },
    missingOptional: OPTIONAL_TOOLS.filter((tool) => !isInstalled(tool)),
  };
}

function enginesOf(file: string): string {
  const { engines } = JSON.parse(readFileSync(file, 'utf8')) as { engines: { node: string } };
  return engines.node.replace('>=', '');
}

function gitVersion(): string | null {
  const { stdout } = spawnSync('git', ['--version'], { encoding: 'utf8' });
  return /\d+\.\d+(\.\d+)?/.exec(stdout ?? '')?.[0] ?? null;
}

function postgresFault(): string | null {
  try {
    findPrograms();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** What programs may use without that others lose memory, which is more than what is free. */
function availableMemory(): number {
  const kibibytes = /^MemAvailable: *(\d+) kB$/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1];
  return Number(kibibytes) * 1024;
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

const machine = thisMachine();
const faults = faultsOf(machine);
const left = leftOut(machine);
if (left !== null) console.log(left);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
