/**
 * A program that ends a PostgreSQL cluster when the tests that made it have ended, however they ended, and deletes its
 * folder. Its arguments are the name of the process to wait for and the folder.
 */

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { killProcesses, nameOfProcess } from './processes.ts';

const PAUSE = 200;

const [owner = '', folder = ''] = process.argv.slice(2);
while (existsSync(folder) && nameOfProcess(Number.parseInt(owner, 10)) === owner) await sleep(PAUSE);
await killProcesses(join(folder, 'data'));
rmSync(folder, { recursive: true, force: true });
