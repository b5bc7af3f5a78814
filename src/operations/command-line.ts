/** The command line: what a command is, how its words are read, and the help about all commands. */

import type { Config } from '../config.ts';
import type { Clock } from '../lib/clock.ts';
import { readWords, UsageError } from '../lib/command-words.ts';

/** EX_USAGE of BSD sysexits. */
export const EXIT_USAGE = 64;

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
  /** The names of the arguments. All of them must be given. */
  positionals?: readonly string[];
  /** An option that may be given in place of the arguments. */
  insteadOf?: string;
  /** By the name of the option: the name of its value in the help, or null where it takes none. */
  options?: Readonly<Record<string, string | null>>;
  /** The options that must be given, each with a value. */
  required?: readonly string[];
  /** Whether it reads no file of a secret. In ExecReload= systemd 252 does not show the credentials of the unit. */
  needsNoSecrets?: true;
  /** @returns the exit code */
  run(call: Call): Promise<number>;
}

export type Request =
  | { kind: 'help' }
  | { kind: 'version' }
  | { kind: 'run'; command: Command; given: Pick<Call, 'positionals' | 'options'> };

/**
 * Finds the command, its arguments and its options.
 * @param words what follows the name of the program; without words it is the first command of the list
 * @throws UsageError
 */
export function readCommandLine(commands: readonly Command[], words: readonly string[]): Request {
  const [name = commands[0]?.name, ...rest] = words;
  if (words.some((word) => word === '--help' || word === '-h') || name === 'help') return { kind: 'help' };
  if (name === '--version') return { kind: 'version' };
  const command = commands.find((each) => each.name === name);
  if (command !== undefined) return { kind: 'run', command, given: argumentsOf(command, rest) };
  throw new UsageError(`unknown ${name?.startsWith('-') ? 'option' : 'command'} "${name}"`);
}

function argumentsOf(
  { name, positionals: listed = [], options = {}, required = [], insteadOf }: Command,
  args: string[],
): Pick<Call, 'positionals' | 'options'> {
  const types = Object.entries(options).map(([option, value]) => {
    return [option, { type: value === null ? ('boolean' as const) : ('string' as const) }];
  });
  const read = readWords(args, Object.fromEntries(types), `${name}: `);
  const { positionals, values }: { positionals: string[]; values: Record<string, unknown> } = read;
  const wanted = insteadOf !== undefined && values[insteadOf] !== undefined ? [] : listed;
  const missing = wanted[positionals.length];
  if (missing !== undefined) throw new UsageError(`${name}: <${missing}> is missing`);
  if (positionals.length > wanted.length)
    throw new UsageError(`${name}: "${positionals[wanted.length]}" is one argument too many`);
  const absent = required.find((option) => !values[option]);
  if (absent !== undefined) throw new UsageError(`${name}: --${absent} is missing`);
  return { positionals, options: { ...values } as Record<string, string | true> };
}

/** The commands, and what their exit codes mean. */
export function describeCommands(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => [`  ${usageOf(command)}`, `      ${command.help}`]);
  return `usage: hawser [<command>] [<arguments>]

${lines.join('\n')}
  help, --help
      this text
  --version
      the version of the program

Without a command it is "${commands[0]?.name}". Settings are the HAWSER_* variables of the environment, the same for all
commands. Exit codes: 0 done, 1 failed, 64 the command line is wrong, 78 a setting is wrong, and those
that the text of a command names.
`;
}

/** How the command is called that the words begin with, or all commands where there is none. */
export function describeUsage(commands: readonly Command[], [name]: readonly string[]): string {
  const command = commands.find((each) => each.name === name);
  return command ? `usage: hawser ${usageOf(command)}\n` : describeCommands(commands);
}

function usageOf({ name, positionals = [], options = {}, required = [], insteadOf }: Command): string {
  const words = Object.entries(options).map(([option, value]) => {
    const word = value === null ? `--${option}` : `--${option} <${value}>`;
    return required.includes(option) ? word : `[${word}]`;
  });
  const last = positionals.map((positional) => `<${positional}>`);
  return [name, ...words, ...(insteadOf === undefined ? last : last.map((word) => `[${word}]`))].join(' ');
}
