/** All commands of the program `hawser`, in the order in which the help lists them. */

import type { Command } from './operations/command-line.ts';
import { OPERATIONS } from './operations/commands.ts';
import { importCommand } from './operations/import-opendsc/command.ts';
import { serve } from './serve-command.ts';

export const COMMANDS: readonly Command[] = [serve, ...OPERATIONS, importCommand];
