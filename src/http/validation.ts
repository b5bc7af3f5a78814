/** Runs a schema over untrusted input and reports every fault with a JSON Pointer (RFC 6901). */

import type { core, ZodType } from 'zod';
import { type FieldError, invalid } from '../lib/errors.ts';

/** @throws HawserError `validation_failed` with one entry per fault; no value of the input is repeated */
export function validate<T>(schema: ZodType<T>, input: unknown, part: string): T {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap(toFieldErrors);
  const count = errors.length === 1 ? 'a fault' : `${errors.length} faults`;
  throw invalid('validation_failed', `The ${part} has ${count}`, errors.slice(0, 100));
}

function toFieldErrors(issue: core.$ZodIssue): FieldError[] {
  const path = toPointer(issue.path);
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message, code: codeOf(issue) }];
  return issue.keys.slice(0, 100).map((key) => ({
    path: `${path}/${escapeToken(key)}`,
    message: 'No such member',
    code: issue.code,
  }));
}

/** A rule of our own names its code in `params`; the schema library's rules have theirs. */
function codeOf(issue: core.$ZodIssue): string {
  const own = issue.code === 'custom' ? issue.params?.['code'] : undefined;
  return typeof own === 'string' ? own : issue.code;
}

function toPointer(path: readonly PropertyKey[]): string {
  return path.map((token) => `/${escapeToken(String(token))}`).join('');
}

function escapeToken(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
