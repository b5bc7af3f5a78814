/**
 * What an operation answers: statuses, headers and bodies. Most problems follow from what the route is (its caller, its
 * input, its answer). A route declares only the problems of its own rules.
 */

import { z } from 'zod';
import { needsSession } from '../../security/access.ts';
import { NOT_FOUND, PROBLEM_CODES, type ProblemName, problemNamed } from '../problem-codes.ts';
import type { AnswerSpec, Route } from '../route.ts';
import { FieldErrorView, FindingView, Timestamp } from '../schemas.ts';
import { securityOf } from './access.ts';
import type { Components, JsonSchema } from './components.ts';

const header = (description: string, isRequired: boolean, schema: JsonSchema = { type: 'string' }) => ({
  description,
  ...(isRequired ? { required: true } : {}),
  schema,
});

export const HEADERS = {
  RequestId: header('Names the request in the log; one that the client sends is kept', true),
  ETag: header('A strong validator, for If-None-Match here and If-Match on changes', true),
  ETagOfPages: header('A strong validator, for If-None-Match; not of `text/csv`', false),
  Location: header('Path of what was made, or of where to go', true),
  TotalCount: header('How many match in all', true, { type: 'integer', minimum: 0 }),
  TotalCountOfPages: header('How many match in all; not of `text/csv`, which has them all', false, {
    type: 'integer',
    minimum: 0,
  }),
  NextPage: header('`<...>; rel="next"` (RFC 8288) while more follow', false),
  SessionCookie: header('The session, renewed after some use', false),
  Challenge: header('How to send credentials', true),
  RetryAfter: header('Seconds', false, { type: 'integer', minimum: 0 }),
};

const shared = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` });

/** A POST is one where its body names the resource of which it makes something. */
export function isConditionalWrite({ method, namedInBody }: Route): boolean {
  return ['PUT', 'PATCH', 'DELETE'].includes(method) || (method === 'POST' && namedInBody !== undefined);
}

/** Whether the Accept header of a request can rule the answer out. */
function answersWithBody({ answers }: Route): boolean {
  return Object.values(answers).some(
    ({ schema, mediaType }) => schema !== undefined || mediaType !== undefined,
  );
}

/** Whether a GET answers with an ETag. Answers that are never stored have none. */
export function hasETag(route: Route): boolean {
  const answer = route.answers[200];
  if (route.method !== 'GET' || answer === undefined) return false;
  return answersWithBody(route) && !/no-store|max-age=0/.test(answer.headers?.['Cache-Control'] ?? '');
}

/** The responses of an operation by status. */
export function responsesOf(
  route: Route,
  components: Components,
  isPaged: boolean,
): Record<string, JsonSchema> {
  const responses: Record<string, JsonSchema> = {};
  if (hasETag(route)) {
    responses[304] = {
      description: 'What If-None-Match names still holds',
      headers: headersOf(route, 304, isPaged),
    };
  }
  for (const [status, answer] of Object.entries(route.answers)) {
    const headers = headersOf(route, Number(status), isPaged);
    responses[status] = { description: answer.description, headers, ...contentOf(answer, components) };
  }
  for (const [status, codes] of problemsOf(route)) {
    const problem = problemResponse(route, components, status, codes);
    const answer = responses[status];
    // The name says all that the response depends on, and so shows the codes in the place of the operation.
    const name = [status, ...codes, ...(route.showFailure ? ['page'] : route.caller ? ['git'] : [])].join(
      '-',
    );
    responses[status] =
      answer === undefined ? components.shareResponse(name, problem) : eitherOf(answer, problem);
  }
  return responses;
}

const eTagOf = ({ wholeAs }: Route) => (wholeAs === undefined ? 'ETag' : 'ETagOfPages');
const totalOf = ({ wholeAs }: Route) => (wholeAs === undefined ? 'TotalCount' : 'TotalCountOfPages');

function headersOf(route: Route, status: number, isPaged = false): JsonSchema {
  // RFC 9110 15.4.5: a 304 has the headers that the 200 would have, unless the route says otherwise.
  const { answers } = route;
  const headers = answers[status]?.headers ?? (status === 304 ? answers[200]?.headers : {}) ?? {};
  const isRenewed = securityOf(route).some((requirement) => 'session' in requirement);
  return {
    'X-Request-Id': shared('RequestId'),
    ...(hasETag(route) && (status === 200 || status === 304) ? { ETag: shared(eTagOf(route)) } : {}),
    ...(isPaged ? { 'X-Total-Count': shared(totalOf(route)), Link: shared('NextPage') } : {}),
    ...([201, 302, 303].includes(status) ? { Location: shared('Location') } : {}),
    ...(isRenewed ? { 'Set-Cookie': shared('SessionCookie') } : {}),
    ...Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, header(text, true)])),
  };
}

function contentOf({ schema, mediaType, alternatives = [] }: AnswerSpec, components: Components): JsonSchema {
  const others = Object.fromEntries(alternatives.map((type) => [type, bytesOf(type)]));
  if (schema !== undefined) {
    const json = { [mediaType ?? 'application/json']: { schema: components.convert(schema, 'output') } };
    return { content: { ...json, ...others } };
  }
  if (mediaType === undefined) return {};
  const [type = ''] = mediaType.split(';', 1);
  return { content: { [type]: bytesOf(type), ...others } };
}

const bytesOf = (type: string): JsonSchema => (type.startsWith('text/') ? TEXT : {});

/** One status may be an answer in one media type and a problem in another, such as 503 of the readiness check. */
function eitherOf(answer: JsonSchema, problem: JsonSchema): JsonSchema {
  const merge = (name: string) => ({ ...(answer[name] as JsonSchema), ...(problem[name] as JsonSchema) });
  return {
    description: `${answer['description']}\n\n${problem['description']}`,
    headers: merge('headers'),
    content: merge('content'),
  };
}

const TEXT: JsonSchema = { schema: { type: 'string' } };

const PROBLEM = z
  .object({
    type: z.string().meta({ description: '`about:blank`: the code says which problem it is' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'For people; may change at any time' }),
    code: z.string().meta({ description: 'For programs; never changes' }),
    errors: z
      .array(z.union([FindingView, FieldErrorView]))
      .optional()
      .meta({
        description:
          'Of `validation_failed` and `too_complex`: one entry per fault, at most 100; of `document_unreadable`: findings',
      }),
    compatibilityReport: z
      .unknown()
      .optional()
      .meta({
        description: 'Of `incompatible_parameters`: what breaks, and which parameter files it concerns',
        published: { type: 'object', additionalProperties: true },
      }),
    nodes: z
      .int()
      .optional()
      .meta({ description: 'Of `certificates_too_old`: how many nodes would be locked out' }),
    reason: z.string().optional().meta({ description: 'Of `frozen`: why' }),
    until: Timestamp.optional().meta({ description: 'Of `frozen`: when the freeze ends' }),
    frozenBy: z.string().optional().meta({ description: 'Of `frozen`: who has set it' }),
    keyId: z.string().optional().meta({ description: 'Of `secret_key_missing`: which key' }),
    path: z.string().optional().meta({ description: 'Of `secret_unreadable`: the JSON Pointer of the text' }),
    paths: z
      .array(z.string())
      .optional()
      .meta({ description: 'Of `secret_in_clear`: JSON Pointers of the first such secrets' }),
    error: z
      .literal('invalid_grant')
      .optional()
      .meta({ description: 'Of `invalid_grant`: what clients of OAuth 2.0 look for (RFC 6749, 5.2)' }),
    missing: z
      .object({ permission: z.string(), by: z.enum(['User', 'Token']) })
      .optional()
      .meta({
        description:
          'Of `forbidden`, where a permission is missing: `User` does not hold it, or only the scopes of `Token` lack it',
      }),
  })
  .meta({
    id: 'Problem',
    description: 'RFC 9457 problem details',
    examples: [
      {
        type: 'about:blank',
        title: 'Forbidden',
        status: 403,
        detail: 'This needs nodes.write',
        code: 'forbidden',
      },
    ],
  });

function problemResponse(
  { showFailure, caller }: Route,
  components: Components,
  status: number,
  codes: readonly string[],
): JsonSchema {
  const properties = { status: { const: status }, code: { enum: codes } };
  return {
    description: codes.map((code) => `- \`${code}\`: ${PROBLEM_CODES[code]?.meaning}`).join('\n'),
    headers: {
      'X-Request-Id': shared('RequestId'),
      ...(status === 401 ? { 'WWW-Authenticate': shared('Challenge') } : {}),
      ...(status === 429 || status === 503 ? { 'Retry-After': shared('RetryAfter') } : {}),
    },
    content: {
      'application/problem+json': { schema: { ...components.convert(PROBLEM, 'output'), properties } },
      // Stock git shows nothing else to its user.
      ...(caller === 'git' ? { 'text/plain': TEXT } : {}),
      // Browsers prefer it.
      ...(showFailure ? { 'text/html': TEXT } : {}),
    },
  };
}

/** The problem codes that an operation can answer by status, in the order of the statuses. */
export function problemsOf(route: Route): Map<number, string[]> {
  const names: ProblemName[] = [
    ...problemsOfCaller(route),
    ...problemsOfInput(route),
    ...(answersWithBody(route) ? ['not_acceptable'] : []),
    // Even reading can write, because it renews a session: any request can meet a busy database or a full disk.
    ...['internal_error', 'unavailable', 'insufficient_storage'],
    ...(route.changesNodes ? ['frozen'] : []),
    ...(route.problems ?? []),
  ];
  const codes = new Map<number, Set<string>>();
  const add = (status: number, code: string) => codes.set(status, (codes.get(status) ?? new Set()).add(code));
  for (const { status, code } of names.map(problemNamed)) {
    add(status, code);
    // A page answers 403 where others answer 401, because browsers answer the challenge of a 401 with a dialogue.
    if (status === 401 && route.showFailure) add(403, code);
  }
  return new Map([...codes].sort(([a], [b]) => a - b).map(([status, set]) => [status, [...set].sort()]));
}

/** A node that shows its certificate gets these on each route that asks who calls. */
const OF_CERTIFICATES = ['certificate_revoked', 'certificate_untrusted', 'crl_expired'] as const;

function problemsOfCaller({ access, method }: Route): ProblemName[] {
  const codes: ProblemName[] = method === 'GET' ? [] : ['cross_site_request'];
  if (access.kind === 'public') return codes;
  codes.push('unauthenticated');
  if (access.kind === 'metrics') return [...codes, NOT_FOUND];
  codes.push('forbidden', ...OF_CERTIFICATES);
  if (access.kind.startsWith('node:self')) codes.push('overloaded');
  if (access.kind === 'grant') codes.push(NOT_FOUND);
  if (needsSession(access)) codes.push('session_required');
  if (access.kind === 'user' && access.duringPasswordChange) return codes;
  return [...codes, 'password_change_required'];
}

const INVALID = [400, 'validation_failed'] as const;

function problemsOfInput(route: Route): ProblemName[] {
  const { body, query, path, access } = route;
  const codes: ProblemName[] = query ? [INVALID] : [];
  // A node that may use its own route exists, so nothing in the path can be wrong.
  if (path.includes('{') && access.kind !== 'node:self') codes.push(NOT_FOUND);
  if (isConditionalWrite(route)) codes.push('precondition_failed');
  if (body === undefined) return codes;
  codes.push('payload_too_large', 'unsupported_media_type');
  if (body.kind === 'stream') return [...codes, 'malformed_body'];
  if (body.kind === 'file') return [...codes, 'malformed_body', 'upload_too_slow'];
  if (body.kind !== 'upload') return [...codes, INVALID, 'malformed_body', 'body_timeout'];
  if (body.json) codes.push('malformed_body', 'body_timeout');
  return [...codes, INVALID, 'upload_too_slow', ...(body.file ? [] : ['invalid_path', 'too_many_files'])];
}
