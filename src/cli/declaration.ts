/** What a command is: data from which the reading of its words, its help and the completion are made. */

import type { Api } from '../client/api.ts';
import type { Ask } from './ask.ts';
import type { HostStore } from './hosts.ts';
import type { Out } from './out.ts';

export interface ArgumentDeclaration {
  /** In capitals in the help. One called file, folder or folder-or-… is completed as such. */
  name: string;
  summary: string;
  isOptional?: boolean;
  /** Takes all words that are left. Only the last argument may. */
  isVariadic?: boolean;
  choices?: readonly string[];
}

export interface OptionDeclaration {
  summary: string;
  /** The name of its value in the help, such as FILE; an option without one is said or not. FILE and FOLDER are completed. */
  value?: string;
  /** One letter. */
  short?: string;
  /** May be said several times, and then has a list. */
  isRepeatable?: boolean;
  choices?: readonly string[];
}

type ArgumentValue<A> = A extends { isVariadic: true }
  ? readonly string[]
  : A extends { isOptional: true }
    ? string | undefined
    : string;

type OptionValue<O> = O extends { value: string; isRepeatable: true }
  ? readonly string[]
  : O extends { value: string }
    ? string | undefined
    : boolean;

/** What a command is given to work with. */
export interface Context<
  A extends readonly ArgumentDeclaration[] = readonly ArgumentDeclaration[],
  O extends Record<string, OptionDeclaration> = Record<string, OptionDeclaration>,
> {
  /** The keys are the names of the declaration. */
  arguments: { [D in A[number] as D['name']]: ArgumentValue<D> };
  options: { [N in keyof O]: OptionValue<O[N]> };
  /** The server that was signed in to. It is connected to at the first call. @throws Failure where there is none */
  readonly api: Api;
  out: Out;
  ask: Ask;
  /** The servers that are known. */
  hosts: HostStore;
  env: Readonly<Record<string, string | undefined>>;
  /** Absolute. Paths in arguments are relative to it. */
  cwd: string;
  stdin: NodeJS.ReadStream;
}

export interface Command {
  /** The words that call it, such as `config show`. */
  path: string;
  /** One sentence without its full stop, for lists. */
  summary: string;
  /** More for its own help. */
  description?: string;
  arguments: readonly ArgumentDeclaration[];
  options: Readonly<Record<string, OptionDeclaration>>;
  /** Whole lines, for its own help. */
  examples?: readonly string[];
  /** @returns the exit code; nothing stands for 0 */
  run(context: Context): Promise<number | undefined>;
}

interface Declaration<A extends readonly ArgumentDeclaration[], O extends Record<string, OptionDeclaration>>
  extends Omit<Command, 'arguments' | 'options' | 'run'> {
  arguments?: A;
  options?: O;
  run(context: Context<A, O>): Promise<number | undefined> | Promise<void>;
}

/** What commands that ask before they do something have among their options. `Ask.confirm` reads it. */
export const YES = { yes: { summary: 'do it without asking', short: 'y' } } as const;

/** Options that every command has. */
export const COMMON_OPTIONS: Readonly<Record<string, OptionDeclaration>> = {
  json: { summary: "print the API's answer as it is" },
  help: { summary: 'show this help', short: 'h' },
};

/** Declares a command. The types of what it is given follow from what it declares. */
export function command<
  const A extends readonly ArgumentDeclaration[] = readonly [],
  const O extends Record<string, OptionDeclaration> = Record<never, never>,
>(declaration: Declaration<A, O>): Command {
  return {
    ...declaration,
    arguments: declaration.arguments ?? [],
    options: declaration.options ?? {},
    run: async (context) => (await declaration.run(context as Context<A, O>)) ?? 0,
  };
}
