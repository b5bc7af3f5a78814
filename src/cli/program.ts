/** The program: reads the words by what the commands declare, runs the command, and says how it ended. */

import {
  Argument,
  type Command as Commander,
  CommanderError,
  InvalidArgumentError,
  Command as NewCommander,
  Option,
} from 'commander';
import { readVersion } from '../lib/version.ts';
import { COMMANDS, GROUPS, PROGRAM } from './commands.ts';
import { type Given, openContext, type Surroundings } from './context.ts';
import {
  type ArgumentDeclaration,
  COMMON_OPTIONS,
  type Command,
  type OptionDeclaration,
} from './declaration.ts';
import { EXIT, explain, withoutSecrets } from './errors.ts';
import { printable } from './printable.ts';
import { suggestion } from './suggestion.ts';

const EXIT_CODES = `
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 the server cannot be reached or is not trusted, so that
nothing was sent. HAWSER_URL, HAWSER_TOKEN and HAWSER_CA_FILE go before what "${PROGRAM} login" has kept.
`;

/**
 * Runs one command line.
 * @param words what follows the name of the program
 * @returns the exit code
 */
export async function runProgram(
  words: readonly string[],
  surroundings: Surroundings,
  commands: readonly Command[] = COMMANDS,
): Promise<number> {
  const { stdout, stderr } = surroundings;
  let code: number = EXIT.done;
  const program = describeProgram(commands, async (command, given) => {
    code = await runCommand(command, given, surroundings);
  });
  for (const each of [program, ...descendants(program)]) {
    each.exitOverride().configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(withoutSecrets(text)),
      getOutHelpWidth: () => (stdout.isTTY ? (stdout.columns ?? 80) : 80),
      getErrHelpWidth: () => 80,
      outputError: (text, write) => write(text.replace(/^error: /, `${PROGRAM}: `)),
    });
  }
  try {
    await program.parseAsync(words, { from: 'user' });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and the version end with 0 where they were asked for; all else of this kind is wrong usage.
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
}

async function runCommand(command: Command, given: Given, surroundings: Surroundings): Promise<number> {
  const { context, close } = openContext(given, surroundings);
  try {
    return (await command.run(context)) ?? EXIT.done;
  } catch (error) {
    const { text, code } = explain(error);
    context.out.endProgress();
    // A message may repeat what the server has said.
    surroundings.stderr.write(`${PROGRAM}: ${withoutSecrets(printable(text))}\n`);
    const hint = await suggestion(error, command, context);
    if (hint !== null) context.out.note(hint);
    return code;
  } finally {
    context.out.endProgress();
    close();
  }
}

function describeProgram(
  commands: readonly Command[],
  run: (command: Command, given: Given) => Promise<void>,
): Commander {
  const program = new NewCommander(PROGRAM)
    .description('The command line of Hawser, for authors and operators.')
    .version(`${PROGRAM} ${readVersion()}`, '--version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .addHelpText('after', EXIT_CODES)
    // Behind a command its own options count: that of a version is not the one that shows the program's.
    .enablePositionalOptions();
  for (const command of commands) {
    const words = command.path.split(' ');
    const name = words.pop() ?? '';
    addCommand(groupOf(program, words).command(name), command, run);
  }
  return program;
}

function groupOf(program: Commander, words: readonly string[]): Commander {
  let group = program;
  for (const word of words) {
    const present = group.commands.find((each) => each.name() === word);
    const purpose = GROUPS[word] ?? '';
    group = present ?? group.command(word).summary(purpose).description(sentence(purpose)).helpCommand(false);
  }
  return group;
}

function addCommand(
  target: Commander,
  command: Command,
  run: (command: Command, given: Given) => Promise<void>,
): void {
  target.summary(command.summary).description(sentence(command.description ?? command.summary));
  target.helpOption('-h, --help', COMMON_OPTIONS['help']?.summary);
  for (const argument of command.arguments) target.addArgument(toArgument(argument));
  const { help: _, ...common } = COMMON_OPTIONS;
  const options = Object.entries({ ...command.options, ...common });
  for (const [name, option] of options) target.addOption(toOption(name, option));
  const { examples = [] } = command;
  if (examples.length > 0)
    target.addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}`).join('\n')}`);
  target.action(async () => {
    await run(command, {
      arguments: Object.fromEntries(
        command.arguments.map(({ name }, at) => [name, target.processedArgs[at]]),
      ),
      options: Object.fromEntries(
        options.map(([name, option]) => [name, saidOf(target, name) ?? absent(option)]),
      ),
    });
  });
}

function toArgument({ name, summary, isOptional, isVariadic, choices }: ArgumentDeclaration): Argument {
  const dots = isVariadic ? '...' : '';
  const text = isOptional ? `[${name}${dots}]` : `<${name}${dots}>`;
  const argument = new Argument(text, summary);
  return choices === undefined ? argument : argument.choices(choices);
}

function toOption(name: string, { summary, value, short, isRepeatable, choices }: OptionDeclaration): Option {
  const flags = `${short === undefined ? '' : `-${short}, `}--${name}`;
  const option = new Option(value === undefined ? flags : `${flags} <${value}>`, summary);
  if (choices !== undefined) option.choices(choices);
  if (!isRepeatable) return option;
  // A reader of one's own takes the place of commander's look at the choices.
  return option.argParser((each: string, before: string[] | undefined) => {
    if (choices?.includes(each) === false)
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
    return [...(before ?? []), each];
  });
}

/** What was said for an option. That one with `no-` was said is kept as the opposite of the rest of its name. */
function saidOf(target: Commander, name: string): unknown {
  if (name.startsWith('no-')) return target.getOptionValue(attributeOf(name.slice(3))) === false;
  return target.getOptionValue(attributeOf(name));
}

/** The name under which commander keeps an option. */
function attributeOf(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** What a command gets for an option that was not said. */
function absent({ value, isRepeatable }: OptionDeclaration): unknown {
  if (isRepeatable) return [];
  return value === undefined ? false : undefined;
}

function sentence(text: string): string {
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return first === '' || /[.!?]$/.test(first) ? first : `${first}.`;
}

function* descendants(command: Commander): Generator<Commander> {
  for (const each of command.commands) {
    yield each;
    yield* descendants(each);
  }
}
