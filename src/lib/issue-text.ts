/** Says what a schema wants of a value, in place of zod's own texts. No text repeats a value of the input. */

import type { core } from 'zod';

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  guid: 'an id, which is a UUID such as 0b0e7a52-93f5-4b3e-9c8d-6d6d7b8a9f10',
  datetime: 'a time such as 2026-11-20T09:08:00Z',
};

/** What a length or size is counted in. */
const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item' };

/** The codes under which zod reports that a member is absent. */
const ABSENCES: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value']);

/** More names than this are not listed in one text. */
const MAX_LISTED = 40;

/**
 * The text for a fault that a schema finds. It is given to zod as the `error` of a parse, so a text that a schema has of
 * its own goes before this one.
 */
export function describeIssue(issue: core.$ZodRawIssue): string {
  if (issue.input === undefined && ABSENCES.has(issue.code)) return 'Is required';
  switch (issue.code) {
    case 'invalid_type':
      return `Must be ${KINDS[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `Must be ${oneOf(issue.values)}`;
    case 'too_small':
      return `Must ${bound(issue.origin, issue.minimum, issue.inclusive === false ? 'more than' : 'at least')}`;
    case 'too_big':
      return `Must ${bound(issue.origin, issue.maximum, issue.inclusive === false ? 'less than' : 'at most')}`;
    case 'invalid_format':
      return `Must be ${FORMATS[issue.format] ?? 'in another form'}`;
    case 'unrecognized_keys':
      return noSuchMember(issue.inst);
    default:
      return 'Is not allowed here';
  }
}

function oneOf(names: readonly unknown[]): string {
  return names.length === 1 ? String(names[0]) : `one of ${names.map(String).join(', ')}`;
}

function bound(origin: string, limit: unknown, comparison: string): string {
  const unit = UNITS[origin];
  return unit === undefined
    ? `be ${comparison} ${limit}`
    : `have ${comparison} ${limit} ${unit}${limit === 1 ? '' : 's'}`;
}

function noSuchMember(schema: core.$ZodRawIssue['inst']): string {
  const shape = (schema as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def?.shape;
  const names = Object.keys(shape ?? {});
  if (names.length === 0 || names.length > MAX_LISTED) return 'No such member';
  return `No such member; there ${names.length === 1 ? 'is' : 'are'} ${names.join(', ')}`;
}
