/** The command line of the agent: its commands, their options, and the text of its help. */

import { readWords, UsageError } from '../lib/command-words.ts';

/** The options by command. All of them take --json too. */
const OPTIONS = {
  run: ['config', 'key-file', 'once', 'csr', 'signers', 'refuse-older'],
  register: ['config', 'key-file', 'csr', 'signers'],
  status: ['config'],
  install: ['config', 'root', 'print', 'read-only'],
  uninstall: ['root'],
} as const;

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean' } as const;
const TYPES = {
  ...{ config: TEXT, 'key-file': TEXT, root: TEXT, signers: TEXT },
  'refuse-older': FLAG,
  ...{ once: FLAG, csr: FLAG, print: FLAG, 'read-only': FLAG, json: FLAG },
};

export type CommandName = keyof typeof OPTIONS;

export interface Options {
  config?: string;
  'key-file'?: string;
  root?: string;
  once?: boolean;
  csr?: boolean;
  print?: boolean;
  'read-only'?: boolean;
  signers?: string;
  'refuse-older'?: boolean;
  json?: boolean;
}

export type Request =
  | { kind: 'help' }
  | { kind: 'version'; json: boolean }
  | { kind: 'command'; name: CommandName; options: Options };

export const USAGE = `usage: hawser-agent [<command>] [<options>]

  run [--once] [--csr] [--key-file <file>] [--signers <file>] [--refuse-older]
      pull, run the command and report, again and again; --once makes one cycle. This is what it does without a command
  register [--csr] [--key-file <file>] [--signers <file>]
      register this node, and say whether the command is there
  status
      what this node runs, since when, its last report, and the end of its certificate
  install [--root <folder>] [--print] [--read-only]
      make a service of systemd, below <folder> for an image; --print only shows the unit; with --read-only the service
      cannot change the machine, whatever the server wants
  uninstall [--root <folder>]
      remove the service; settings and state stay

  --config <file>    JSON file of settings; HAWSER_AGENT_* variables win over it
  --key-file <file>  the registration key is its first line; - is stdin. Without a key, register asks for it
  --signers <file>   run only what one of these has signed, a file as OpenSSH's allowed_signers; register keeps a copy
  --refuse-older     run no version below the highest one that this node ran
  --csr              have the server's authority issue the certificates
  --json             print JSON; the log of run is always JSON
  --help, -h         this text
  --version          the version of the program

Exit codes: 0 done, 1 refused or failed, 2 the command line is wrong, 3 the server was not reached or not trusted, and
nothing was sent to it, 78 a setting is wrong.
`;

/**
 * @param words what follows the name of the program
 * @throws UsageError
 */
export function readCommandLine(words: readonly string[]): Request {
  if (words.some((word) => word === '--help' || word === '-h')) return { kind: 'help' };
  if (words.includes('--version')) return { kind: 'version', json: words.includes('--json') };
  const { positionals, values }: { positionals: string[]; values: Options } = readWords(words, TYPES);
  const [name = 'run', unexpected] = positionals;
  if (!Object.hasOwn(OPTIONS, name)) throw new UsageError(`unknown command "${name}"`);
  const command = name as CommandName;
  if (unexpected !== undefined) throw new UsageError(`${command}: "${unexpected}" is one argument too many`);
  const known: readonly string[] = [...OPTIONS[command], 'json'];
  const unknown = Object.keys(values).find((option) => !known.includes(option));
  if (unknown !== undefined) throw new UsageError(`${command}: there is no option --${unknown}`);
  return { kind: 'command', name: command, options: values };
}
