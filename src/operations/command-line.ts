/** The command line: what a command is, how its words are read, and how all of them are told to people. */

import { parseArgs } from 'node:util';
import type { Config } from '../config.ts';
import type { Clock } from '../lib/clock.ts';

/** EX_USAGE of BSD sysexits. */
export const EXIT_USAGE = 64;

/** A line that cannot be understood, or arguments that do not go together. */
export class UsageError extends Error {}

/** What a command is given to work with. */
export interface Call {
  config: Readonly<Config>;
  clock: Clock;
  /** As many as the command names. */
  positionals: readonly string[];
  /** By name; true where the option takes no value. An option that was not given is absent. */
  options: Readonly<Record<string, string | true>>;
}

export interface Command {
  name: string;
  /** One line for the list of commands. */
  help: string;
  /** Names of the arguments, each of which must be given. */
  positionals?: readonly string[];
  /** Options by name: what stands for the value in the help, or null where the option takes none. */
  options?: Readonly<Record<string, string | null>>;
  /** @returns the exit code */
  run(call: Call): Promise<number>;
}

export type Request =
  | { kind: 'help' }
  | { kind: 'version' }
  | { kind: 'run'; command: Command; given: Pick<Call, 'positionals' | 'options'> };

/**
 * @param words what follows the name of the program; none at all means the first command of the list
 * @throws UsageError
 */
export function readCommandLine(commands: readonly Command[], words: readonly string[]): Request {
  const [name = commands[0]?.name, ...rest] = words;
  if (words.some((word) => word === '--help' || word === '-h') || name === 'help') return { kind: 'help' };
  if (name === '--version') return { kind: 'version' };
  const command = commands.find((each) => each.name === name);
  if (command !== undefined) return { kind: 'run', command, given: readWords(command, rest) };
  throw new UsageError(`unknown ${name?.startsWith('-') ? 'option' : 'command'} "${name}"`);
}

function readWords(command: Command, words: string[]): Pick<Call, 'positionals' | 'options'> {
  const { positionals, values } = parse(command, words);
  const wanted = command.positionals ?? [];
  const missing = wanted[positionals.length];
  if (missing !== undefined) throw new UsageError(`${command.name}: <${missing}> is missing`);
  if (positionals.length > wanted.length)
    throw new UsageError(`${command.name}: "${positionals[wanted.length]}" is one argument too many`);
  return { positionals, options: { ...values } as Record<string, string | true> };
}

function parse(command: Command, words: string[]) {
  const options = Object.fromEntries(
    Object.entries(command.options ?? {}).map(([name, value]) => {
      return [name, { type: value === null ? ('boolean' as const) : ('string' as const) }];
    }),
  );
  try {
    return parseArgs({ args: words, options, allowPositionals: true });
  } catch (error) {
    // Node adds advice on how to pass such a word nevertheless; the first sentence says what is wrong.
    const [fault] = (error instanceof Error ? error.message : String(error)).split('. ', 1);
    throw new UsageError(`${command.name}: ${fault}`);
  }
}

/** The commands, and what their exit codes mean. */
export function describeCommands(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => [`  ${usageOf(command)}`, `      ${command.help}`]);
  return [
    'usage: hawser [<command>] [<arguments>]',
    '',
    ...lines,
    '  help, --help',
    '      this text',
    '  --version',
    '      the version of the program',
    '',
    `Without a command it is "${commands[0]?.name}". Settings are the HAWSER_* variables of the environment, the same for all`,
    'commands. Exit codes: 0 done, 1 failed, 64 the command line is wrong, 78 a setting is wrong.',
    '',
  ].join('\n');
}

function usageOf({ name, positionals = [], options = {} }: Command): string {
  const words = Object.entries(options).map(([option, value]) => {
    return value === null ? `[--${option}]` : `[--${option} <${value}>]`;
  });
  return [name, ...words, ...positionals.map((positional) => `<${positional}>`)].join(' ');
}
