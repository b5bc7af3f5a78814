/** Reads JSON, and judges untrusted input by a schema. Every fault is reported with a JSON Pointer (RFC 6901). */

import { type core, ZodObject, type ZodType } from 'zod';
import { jsonFault } from '../domain/json-text.ts';
import { type FieldError, type HawserError, invalid, invalidField } from '../lib/errors.ts';
import { describeIssue } from '../lib/issue-text.ts';

/** The place of a fault is looked for in at most so many characters, because that takes far longer than JSON.parse. */
const MAX_SEARCHED = 64 * 1024;

/** The code of zod for a member that the schema does not have. */
const UNKNOWN_MEMBER = 'unrecognized_keys';

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
    throw malformedJson('The body is not UTF-8, in which JSON is written');
  }
}

/** @throws HawserError `validation_failed`, in it `malformed_json` */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const fault = text.length > MAX_SEARCHED ? null : jsonFault(text);
    throw malformedJson(fault === null ? 'The body is not JSON' : `The body is not JSON. ${fault}`);
  }
}

/** The body is missing or empty where a route wants one. */
export function missingJson(): HawserError {
  return malformedJson('The body is empty, and must be JSON');
}

function malformedJson(message: string): HawserError {
  return invalidField('', message, 'malformed_json');
}

/** @throws HawserError `validation_failed` with one entry per fault, which repeats no value of the input */
export function validate<T>(schema: ZodType<T>, input: unknown, part: string): T {
  const result = schema.safeParse(input, { error: describeIssue });
  if (result.success) return result.data;
  const errors = result.error.issues.flatMap(toFieldErrors);
  throw invalid('validation_failed', `The ${part} has ${summarize(errors)}`, errors.slice(0, 100));
}

/** Those members of the input that the schema of an object names. */
export function membersOf(schema: ZodType | undefined, input: object): Record<string, unknown> {
  if (!(schema instanceof ZodObject)) return {};
  return Object.fromEntries(Object.entries(input).filter(([name]) => Object.hasOwn(schema.shape, name)));
}

/**
 * Tells the first fault too, because many clients show the detail alone. The log has the detail, so it does not repeat a
 * member's name that the client has made up.
 */
function summarize([first, ...others]: readonly FieldError[]): string {
  const { path = '', message = '', code = '' } = first ?? {};
  const place = path === '' || code === UNKNOWN_MEMBER ? '' : ` in ${path}`;
  const text = message.charAt(0).toLowerCase() + message.slice(1);
  if (others.length === 0) return `a fault${place}: ${text}`;
  return `${others.length + 1} faults, the first${place}: ${text}`;
}

function toFieldErrors(issue: core.$ZodIssue): FieldError[] {
  const path = toPointer(issue.path);
  if (issue.code !== UNKNOWN_MEMBER) return [{ path, message: issue.message, code: codeOf(issue) }];
  return issue.keys.slice(0, 100).map((key) => ({
    path: `${path}/${escapeToken(key)}`,
    message: issue.message,
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
