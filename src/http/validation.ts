/** Reads JSON, and judges untrusted input by a schema. Every fault is reported with a JSON Pointer (RFC 6901). */

import type { core, ZodType } from 'zod';
import { type FieldError, type HawserError, invalid, invalidField } from '../lib/errors.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** @throws TypeError for bytes that are not UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  return UTF8.decode(bytes);
}

/** @throws HawserError `validation_failed`, in it `malformed_json`, for bytes that are not UTF-8 */
export function decodeJson(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes);
  } catch {
    throw malformedJson();
  }
}

/** @throws HawserError `validation_failed`, in it `malformed_json` */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformedJson();
  }
}

export function malformedJson(): HawserError {
  return invalidField('', 'The body is not JSON in UTF-8', 'malformed_json');
}

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

/** A rule of our own names its code in `params`. The rules of zod have codes of zod. */
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
