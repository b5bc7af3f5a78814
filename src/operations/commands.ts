/**
 * The commands of operation, in the order in which the help lists them. `serve` is the process's own, in serve.ts.
 * Each loads what it works with when it runs: `health` is asked for all day long, and needs none of it.
 */

import { backup, restoring } from './backup/commands.ts';
import type { Command } from './command-line.ts';
import { doctor } from './doctor/doctor.ts';
import { health } from './health.ts';
import { resetAdminPasswordCommand } from './reset-admin-password.ts';

export const OPERATIONS: readonly Command[] = [health, doctor, backup, restoring, resetAdminPasswordCommand];
