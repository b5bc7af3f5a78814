/** Finds the codes of problems and of fields in the source text, call by call. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../../scripts/support/project.ts';
import { problemAnswer } from '../../src/http/problem.ts';
import * as errors from '../../src/lib/errors.ts';

const SRC = join(PROJECT, 'src');

/** The agent, the console and the operator's commands have their own messages, which are not answers of the server. Nor are those
 * of the readers of other programs' databases, which a command alone uses. */
const OTHER_PROGRAMS = /^(?:(?:agent|operations|ui)\/|db\/\w+\/foreign\.ts$)/;

/** The file with the helpers. Their own calls of the constructor pass on the code that they are given. */
const HELPERS = 'lib/errors.ts';

export interface SourceFile {
  path: string;
  text: string;
}

export function serverSources(): SourceFile[] {
  return readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !OTHER_PROGRAMS.test(path) && path !== HELPERS)
    .map((path) => ({ path, text: readFileSync(join(SRC, path), 'utf8') }));
}

/** For each function that makes an error: which argument has its code, and the code without this argument. */
const MAKERS: Record<string, { at: number; make(code: string): errors.HawserError; absent?: string }> = {
  invalid: { at: 0, make: (code) => errors.invalid(code, '') },
  conflict: { at: 0, make: (code) => errors.conflict(code, '') },
  internal: { at: 0, make: (code) => errors.internal(code, '') },
  notFound: { at: 1, make: (code) => errors.notFound('', code), absent: 'not_found' },
  forbidden: { at: 1, make: (code) => errors.forbidden('', code), absent: 'forbidden' },
  unauthenticated: { at: 1, make: (code) => errors.unauthenticated('', code), absent: 'unauthenticated' },
  tooLarge: { at: 1, make: () => errors.tooLarge(''), absent: 'payload_too_large' },
  invalidField: { at: 4, make: () => errors.invalidField('', ''), absent: 'validation_failed' },
};
/** These two get the kind of the error as the first argument. */
const CONSTRUCTORS = ['HawserError', 'super'];

/** Errors that are passed on with the code that they had. */
const PASSED_ON = new Set(['error.code', 'hawser.code']);

/**
 * @returns `code status` of every error that the source makes
 * @throws Error for a code that cannot be determined
 */
export function problemsInSource(files: readonly SourceFile[]): Set<string> {
  const found = new Set<string>();
  for (const file of files) {
    const made = callsOf(file, Object.keys(MAKERS)).flatMap((call) => madeByHelper(file, call));
    const constructors = /extends HawserError\b/.test(file.text) ? CONSTRUCTORS : CONSTRUCTORS.slice(0, 1);
    for (const { args } of callsOf(file, constructors)) {
      const [kind = ''] = literals(args[0] ?? '');
      for (const code of codesIn(file, args[1]))
        made.push(new errors.HawserError(kind as errors.ErrorKind, code, ''));
    }
    for (const error of made) found.add(`${error.code} ${problemAnswer(error).status}`);
    for (const answer of writtenByHand(file)) found.add(answer);
  }
  return found;
}

function madeByHelper(file: SourceFile, { name, args }: Call): errors.HawserError[] {
  const maker = MAKERS[name];
  if (maker === undefined) return [];
  const given = args[maker.at];
  const codes = given === undefined && maker.absent ? [maker.absent] : codesIn(file, given);
  return codes.map((code) => maker.make(code));
}

/** Answers that are not errors: for input that never became a request, and for a method that a path does not have. */
function writtenByHand({ text }: SourceFile): string[] {
  if (!text.includes("type: 'about:blank'")) return [];
  const members = text.matchAll(/status: (\d+),\s*(?:detail,\s*)?code: '(\w+)'/g);
  return Array.from(members, ([, status, code]) => `${code} ${status}`);
}

/** The codes that an argument may have: its literals, or those of the type of the parameter. */
function codesIn({ path, text }: SourceFile, argument = ''): string[] {
  if (PASSED_ON.has(argument)) return [];
  const own = literals(argument);
  if (own.length > 0) return own;
  const declared = new RegExp(`\\b${argument}: ((?:'\\w+'(?: \\| )?)+)[,)]`, 'g');
  const typed = [...text.matchAll(declared)].flatMap(([, union = '']) => literals(union));
  if (typed.length === 0) throw new Error(`${path}: the code ${argument} is neither literal nor of literals`);
  return typed;
}

/** The parts of the source that check input. */
const OF_INPUT = /^(?:(?:api|deeds|domain|http|security)\/|versions\/rules|resolve\/secret-leaves)/;

/** The codes of `errors[]`: of single fields, of readers of documents, and of our own rules in schemas. */
export function fieldCodesInSource(files: readonly SourceFile[]): Set<string> {
  const found = new Set<string>();
  for (const file of files) {
    if (!OF_INPUT.test(file.path) || file.text.includes("type: 'about:blank'")) continue;
    for (const { name, args } of callsOf(file, ['invalidField', 'refuse', 'refuseAt', 'blockError'])) {
      if (name === 'invalidField' && args.length < 3) found.add('custom');
      for (const argument of args) for (const code of snakeLiterals(argument)) found.add(code);
    }
    for (const [, , value = ''] of file.text.matchAll(/\bcode(:| =) ([^,;}\n]*)/g))
      for (const code of snakeLiterals(value.replace(/[^?:|]*===? ?\S+/g, ''))) found.add(code);
  }
  return found;
}

const literals = (text: string): string[] => Array.from(text.matchAll(/'(\w+)'/g), ([, code = '']) => code);
const snakeLiterals = (text: string) => literals(text).filter((code) => /^[a-z]+(?:_[a-z0-9]+)*$/.test(code));

interface Call {
  name: string;
  args: string[];
}

/** Every call of one of these functions. Declarations and comments do not count. */
function callsOf({ text }: SourceFile, names: readonly string[]): Call[] {
  const code = text.replace(/^\s*(?:\/\*[\s\S]*?\*\/|\/\/.*$)/gm, (comment) =>
    comment.replace(/[^\n]/g, ' '),
  );
  const pattern = new RegExp(`(?<!(?:function|private) )(?<!\\w)(${names.join('|')})\\(`, 'g');
  return [...code.matchAll(pattern)].map((match) => ({
    name: match[1] ?? '',
    args: argumentsAt(code, match.index + match[0].length),
  }));
}

/** The arguments of a call, from after its opening bracket, split at the commas of the same level. */
function argumentsAt(code: string, start: number): string[] {
  const args: string[] = [];
  let [depth, from, at] = [0, start, start];
  for (; depth >= 0; at += 1) {
    const char = code[at];
    if (char === undefined) throw new Error('A call has no end');
    if (char === "'" || char === '"' || char === '`') at = endOfText(code, at);
    else if ('([{'.includes(char)) depth += 1;
    else if (')]}'.includes(char)) depth -= 1;
    if ((char === ',' && depth === 0) || depth < 0) {
      const argument = code.slice(from, at).trim();
      if (argument !== '') args.push(argument);
      from = at + 1;
    }
  }
  return args;
}

function endOfText(code: string, start: number): number {
  for (let at = start + 1; at < code.length; at += 1) {
    if (code[at] === '\\') at += 1;
    else if (code[at] === code[start]) return at;
  }
  throw new Error('A text has no end');
}
