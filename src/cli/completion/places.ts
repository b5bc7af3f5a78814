/** What can be typed at each place of a command line: the common ground of the completions for all shells. */

import { COMMON_OPTIONS, type Command, type OptionDeclaration } from '../declaration.ts';

export interface Candidate {
  word: string;
  summary: string;
}

/** What follows a name: one of these words, a file, or what nobody can guess. */
export type Values = readonly string[] | 'files' | null;

export interface PlaceOption extends Candidate {
  /** It begins with its hyphen. */
  short: string | null;
  takesValue: boolean;
  values: Values;
}

/** The words so far are the path of a command or of a group, or none. */
export interface Place {
  /** Such as `config show`; empty at the start. */
  path: string;
  /** The next words of commands. */
  words: readonly Candidate[];
  options: readonly PlaceOption[];
  /** What the arguments of a command can be. */
  values: Values;
}

/** @returns the start first */
export function listPlaces(commands: readonly Command[]): Place[] {
  const groups = new Set(['', ...commands.flatMap(({ path }) => prefixesOf(path))]);
  const places = [...groups].map((path): Place => {
    const options = Object.entries(path === '' ? ROOT_OPTIONS : HELP).map(toOption);
    return { path, words: wordsAfter(path, commands), options, values: null };
  });
  return [...places, ...commands.map(placeOf)];
}

const HELP = { help: { summary: 'show this help', short: 'h' } };
const ROOT_OPTIONS = { ...HELP, version: { summary: 'show the version' } };

function placeOf({ path, arguments: expected, options }: Command): Place {
  const choices = expected.flatMap((argument) => argument.choices ?? []);
  const hasFiles = expected.some(({ name }) => isFile(name));
  return {
    path,
    words: [],
    options: Object.entries({ ...options, ...COMMON_OPTIONS }).map(toOption),
    values: choices.length > 0 ? choices : hasFiles ? 'files' : null,
  };
}

function toOption([name, { summary, short, value, choices }]: [string, OptionDeclaration]): PlaceOption {
  return {
    word: `--${name}`,
    summary,
    short: short === undefined ? null : `-${short}`,
    takesValue: value !== undefined,
    values: choices ?? (value !== undefined && isFile(value) ? 'files' : null),
  };
}

function wordsAfter(path: string, commands: readonly Command[]): Candidate[] {
  const start = path === '' ? '' : `${path} `;
  const found = new Map<string, string>();
  for (const { path: each, summary } of commands) {
    const [word, ...more] = each.startsWith(start) ? each.slice(start.length).split(' ') : [];
    if (word !== undefined && !found.has(word))
      found.set(word, more.length === 0 ? summary : `commands about ${word}`);
  }
  return Array.from(found, ([word, summary]) => ({ word, summary }));
}

function prefixesOf(path: string): string[] {
  const words = path.split(' ');
  return words.slice(1).map((_, at) => words.slice(0, at + 1).join(' '));
}

function isFile(name: string): boolean {
  return /^(file|folder|\w+-or-folder|folder-or-\w+)$/i.test(name);
}
