#!/usr/bin/env node
/** The program `hawser`. It reads the command line and the settings, runs the command and gives its exit code. */

import { COMMANDS } from './commands.ts';
import { ConfigError, EXIT_CONFIG, readConfig } from './config.ts';
import { systemClock } from './lib/clock.ts';
import { UsageError } from './lib/command-words.ts';
import { HawserError, sentenceOf } from './lib/errors.ts';
import { keepHeapSmall, keepTicksFast } from './lib/node-tuning.ts';
import { readVersion } from './lib/version.ts';
import { describeCommands, describeUsage, EXIT_USAGE, readCommandLine } from './operations/command-line.ts';

async function main(): Promise<void> {
  keepHeapSmall();
  keepTicksFast();
  const request = readCommandLine(COMMANDS, process.argv.slice(2));
  if (request.kind === 'help') process.stdout.write(describeCommands(COMMANDS));
  else if (request.kind === 'version') process.stdout.write(`hawser ${readVersion()}\n`);
  else {
    const { command, given } = request;
    const config = readConfig(command.needsNoSecrets === true ? withoutFiles(process.env) : process.env);
    process.exitCode = await command.run({ ...given, config, clock: systemClock });
  }
}

/** Leaves out the files of secrets. The settings that remain are complete without them. */
function withoutFiles(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.endsWith('_FILE')));
}

function fail(error: unknown): never {
  const usage = error instanceof UsageError ? `\n${describeUsage(COMMANDS, process.argv.slice(2))}` : '';
  process.stderr.write(`hawser: ${sentenceOf(error)}\n${usage}`);
  process.exit(exitCodeOf(error));
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT_USAGE;
  const isSetting =
    error instanceof ConfigError || (error instanceof HawserError && error.kind === 'invalid');
  return isSetting ? EXIT_CONFIG : 1;
}

main().catch(fail);
