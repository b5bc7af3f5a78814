/** What ends a command, and with which exit code. */

import { ApiProblem, Unreachable } from '../client/errors.ts';
import { type Finding, lineOfFinding } from '../domain/findings.ts';
import { printable } from './printable.ts';

export const EXIT = { done: 0, failed: 1, usage: 2, unreachable: 3 } as const;

/** The command line cannot be understood, or its words do not fit together. */
export class UsageError extends Error {}

/** What was asked for cannot be done, such as a file that cannot be read. The message is for people. */
export class Failure extends Error {}

/** @returns the lines for stderr, and the exit code */
export function explain(error: unknown): { text: string; code: number } {
  if (error instanceof UsageError) return { text: error.message, code: EXIT.usage };
  if (error instanceof Unreachable) return { text: error.message, code: EXIT.unreachable };
  if (error instanceof ApiProblem) return { text: describeProblem(error), code: EXIT.failed };
  if (error instanceof Error) return { text: error.message, code: EXIT.failed };
  return { text: String(error), code: EXIT.failed };
}

/** A token or a registration key that was given where none belongs must not be printed. Its prefix may be. */
export function withoutSecrets(text: string): string {
  return text.replace(/\b(pat_|reg_)[\w-]{9,}/g, '$1…');
}

function describeProblem(problem: ApiProblem): string {
  const { code, message } = problem;
  const faults = faultsOf(problem).map((fault) => `  ${fault}`);
  const advice =
    code === 'unauthenticated'
      ? ['Sign in with "hawserctl login", or set HAWSER_TOKEN to a valid token.']
      : [];
  return [`${code}: ${message}`, ...faults, ...advice].map(printable).join('\n');
}

function faultsOf({ code, errors, members }: ApiProblem): string[] {
  if (code === 'document_unreadable') return (members['errors'] as Finding[]).map(lineOfFinding);
  return errors.map(({ path, message }) => `${path || '/'}: ${message}`);
}
