/** Which problems an operation can answer: those that follow from what the route is, and those that it declares. */

import { type ProblemName, problemNamed } from '../problem-codes.ts';
import type { Route } from '../route.ts';
import { answersWithBody, isConditionalWrite } from './answers.ts';

/** The codes of each status, in the order of the statuses. */
export function problemsOf(route: Route): Map<number, string[]> {
  const names: ProblemName[] = [
    ...ofCaller(route),
    ...ofInput(route),
    ...ofAnswer(route),
    ...OF_ALL,
    ...(route.problems ?? []),
  ];
  const codes = new Map<number, Set<string>>();
  const add = (status: number, code: string) => codes.set(status, (codes.get(status) ?? new Set()).add(code));
  for (const { status, code } of names.map(problemNamed)) {
    add(status, code);
    // Pages say 403: with 401 would go a challenge, which browsers for text take for a question of their own.
    if (status === 401 && route.showFailure) add(403, code);
  }
  return new Map([...codes].sort(([a], [b]) => a - b).map(([status, set]) => [status, [...set].sort()]));
}

/** A database that is busy and a disk that is full can meet every request: a session is renewed by reading, too. */
const OF_ALL: ProblemName[] = ['internal_error', 'unavailable', 'insufficient_storage'];

function ofCaller({ access, method }: Route): ProblemName[] {
  const codes: ProblemName[] = method === 'GET' ? [] : ['cross_site_request'];
  if (access.kind === 'public') return codes;
  codes.push('unauthenticated');
  if (access.kind === 'metrics') return [...codes, 'not_found'];
  codes.push('forbidden');
  if (access.kind.startsWith('node:self')) codes.push('overloaded');
  if (access.kind === 'grant') codes.push('not_found');
  if (access.kind !== 'user') return [...codes, 'password_change_required'];
  if (access.session) codes.push('session_required');
  return access.duringPasswordChange ? codes : [...codes, 'password_change_required'];
}

const INVALID = [400, 'validation_failed'] as const;

function ofInput(route: Route): ProblemName[] {
  const { body, query, path, access, method } = route;
  const codes: ProblemName[] = query ? [INVALID] : [];
  // A node that may use its own route exists, so nothing in the path can be wrong.
  if (path.includes('{') && access.kind !== 'node:self') codes.push('not_found');
  if (isConditionalWrite(method)) codes.push('precondition_failed');
  if (body === undefined) return codes;
  codes.push('payload_too_large', 'unsupported_media_type');
  switch (body.kind) {
    case 'upload': {
      const ofFiles: ProblemName[] = body.file ? [] : ['invalid_path', 'too_many_files'];
      return [...codes, INVALID, 'upload_too_slow', ...ofFiles];
    }
    case 'stream':
      return [...codes, 'malformed_body'];
    case 'json':
    case 'jsonBytes':
    case 'document':
    case 'form':
      return [...codes, INVALID, 'malformed_body', 'body_timeout'];
  }
}

function ofAnswer(route: Route): ProblemName[] {
  return answersWithBody(route) ? ['not_acceptable'] : [];
}
