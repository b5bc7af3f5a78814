/** What an operation answers when all is well: statuses, headers, bodies. */

import type { AnswerSpec, Method, Route } from '../route.ts';
import { securityOf } from './access.ts';
import type { Components, JsonSchema } from './components.ts';

const header = (description: string, isRequired: boolean, schema: JsonSchema = { type: 'string' }) => ({
  description,
  ...(isRequired ? { required: true } : {}),
  schema,
});

export const HEADERS: Record<string, JsonSchema> = {
  RequestId: header('Names the request in the log; one that the client sends is kept', true),
  ETag: header('A strong validator, for If-None-Match here and If-Match on changes', true),
  Location: header('Path of what was made, or of where to go', true),
  TotalCount: header('How many match in all', true, { type: 'integer', minimum: 0 }),
  NextPage: header('`<...>; rel="next"` (RFC 8288) while more follow', false),
  SessionCookie: header('The session, renewed after some use', false),
  Challenge: header('How to send credentials', true),
  RetryAfter: header('Seconds', false, { type: 'integer', minimum: 0 }),
};

const shared = (name: keyof typeof HEADERS) => ({ $ref: `#/components/headers/${name}` });

export function isConditionalWrite(method: Method): boolean {
  return method === 'PUT' || method === 'PATCH' || method === 'DELETE';
}

/** Whether the Accept header has a say. */
export function answersWithBody({ answers }: Route): boolean {
  return Object.values(answers).some(
    ({ schema, mediaType }) => schema !== undefined || mediaType !== undefined,
  );
}

/** Whether a GET answers with a validator: not a page of a list, nor what is never stored. */
export function hasValidator(route: Route, isPaged: boolean): boolean {
  const answer = route.answers[200];
  if (route.method !== 'GET' || isPaged || answer === undefined) return false;
  return answersWithBody(route) && answer.headers?.['Cache-Control'] === undefined;
}

/** The responses of an operation by status, without its problems. */
export function answerResponses(
  route: Route,
  components: Components,
  isPaged: boolean,
): Record<string, JsonSchema> {
  const responses = Object.entries(route.answers).map(([status, answer]): [string, JsonSchema] => [
    status,
    {
      description: answer.description,
      headers: headersOf(route, Number(status), isPaged),
      ...contentOf(answer, components),
    },
  ]);
  const known = Object.fromEntries(responses);
  return hasValidator(route, isPaged) ? { 304: notModified(route), ...known } : known;
}

const NAMES_A_PLACE: ReadonlySet<number> = new Set([201, 302, 303]);

function notModified(route: Route): JsonSchema {
  return { description: 'What If-None-Match names still holds', headers: headersOf(route, 304, false) };
}

function headersOf(route: Route, status: number, isPaged: boolean): JsonSchema {
  // 304 goes with the headers that 200 would go with (RFC 9110 15.4.5), unless the route says which.
  const { answers } = route;
  const headers = answers[status]?.headers ?? (status === 304 ? answers[200]?.headers : {}) ?? {};
  const isValidated = hasValidator(route, isPaged) && (status === 200 || status === 304);
  const isRenewed = securityOf(route).some((requirement) => 'session' in requirement);
  return {
    'X-Request-Id': shared('RequestId'),
    ...(isValidated ? { ETag: shared('ETag') } : {}),
    ...(isPaged ? { 'X-Total-Count': shared('TotalCount'), Link: shared('NextPage') } : {}),
    ...(NAMES_A_PLACE.has(status) ? { Location: shared('Location') } : {}),
    ...(isRenewed ? { 'Set-Cookie': shared('SessionCookie') } : {}),
    ...Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, header(text, true)])),
  };
}

function contentOf({ schema, mediaType }: AnswerSpec, components: Components): JsonSchema {
  if (schema !== undefined) {
    return {
      content: { [mediaType ?? 'application/json']: { schema: components.convert(schema, 'output') } },
    };
  }
  if (mediaType === undefined) return {};
  const [type = ''] = mediaType.split(';', 1);
  return { content: { [type]: type.startsWith('text/') ? { schema: { type: 'string' } } : {} } };
}
