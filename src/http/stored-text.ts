/** Refuses U+0000 in every text that is stored: other programs take it for the end of the text. */

import { escapeToken } from '../domain/value.ts';
import { type FieldError, invalid } from '../lib/errors.ts';

/** Members that are left out: of passwords only a hash is stored, and a file path has rules of its own (`invalid_path`). */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['/password', '/currentPassword', '/newPassword', '/repeatedPassword', '/entryPoint'],
]);

const MAX_FAULTS = 100;
const MESSAGE = 'Must not have the character U+0000';

/**
 * Looks at every text in a body, and at the names of members.
 * @param body as the route's schema gives it, which leaves out what the route ignores
 * @throws HawserError `validation_failed`, with at most 100 faults
 */
export function refuseNul(body: unknown): void {
  const errors: FieldError[] = [];
  const members = membersOf('', body).filter(({ path }) => !LEFT_OUT.has(path));
  // The list grows while it is gone through. Recursion would not do, because a body may be nested deeper than the stack.
  for (const { path, name, value } of members) {
    if (name.includes('\0') || (typeof value === 'string' && value.includes('\0')))
      errors.push({ path, message: MESSAGE, code: 'control_character' });
    else for (const member of membersOf(path, value)) members.push(member);
    if (errors.length === MAX_FAULTS) break;
  }
  const [first] = errors;
  if (first !== undefined) throw invalid('validation_failed', `${MESSAGE}: ${first.path}`, errors);
}

interface Member {
  path: string;
  name: string;
  value: unknown;
}

function membersOf(path: string, value: unknown): Member[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([name, member]) => ({
    path: `${path}/${escapeToken(name)}`,
    name,
    value: member,
  }));
}
