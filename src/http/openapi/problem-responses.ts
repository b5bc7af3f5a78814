/** How problems look: one response per status, shared by all operations that have the same codes there. */

import { PROBLEM_CODES } from '../problem-codes.ts';
import type { Route } from '../route.ts';
import { type Components, type JsonSchema, TO_SCHEMAS } from './components.ts';
import { problemsOf } from './problems.ts';

const FIELD_ERROR: JsonSchema = {
  type: 'object',
  description: 'One fault of the input',
  properties: {
    path: { type: 'string', description: 'JSON Pointer to the member at fault; empty for the whole' },
    message: { type: 'string' },
    code: { type: 'string' },
  },
  required: ['path', 'message', 'code'],
};

const PROBLEM: JsonSchema = {
  type: 'object',
  description: 'RFC 9457 problem details',
  properties: {
    type: { type: 'string', description: '`about:blank`: the code says which problem it is' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'For people; may change at any time' },
    code: { type: 'string', description: 'For programs; never changes' },
    errors: {
      type: 'array',
      items: { $ref: `${TO_SCHEMAS}FieldError` },
      description: 'Of `validation_failed` and `too_complex`: one entry per fault, at most 100',
    },
    compatibilityReport: {
      type: 'object',
      additionalProperties: true,
      description: 'Of `incompatible_parameters`: what breaks, and which parameter files it concerns',
    },
  },
  required: ['type', 'title', 'status', 'detail', 'code'],
  examples: [
    {
      type: 'about:blank',
      title: 'Forbidden',
      status: 403,
      detail: 'This needs nodes.write',
      code: 'forbidden',
    },
  ],
};

export interface NamedResponse {
  /** Made of all that it depends on, so that the document tells the codes of an operation in its own place. */
  name: string;
  response: JsonSchema;
}

/** The problem responses of an operation by status. */
export function problemResponses(route: Route, components: Components): Map<string, NamedResponse> {
  components.shareSchema('FieldError', FIELD_ERROR);
  components.shareSchema('Problem', PROBLEM);
  return new Map(
    [...problemsOf(route)].map(([status, codes]) => [String(status), problemResponse(route, status, codes)]),
  );
}

function problemResponse(route: Route, status: number, codes: readonly string[]): NamedResponse {
  const audience = route.showFailure ? ['page'] : route.caller === 'git' ? ['git'] : [];
  const response = {
    description: codes.map((code) => `- \`${code}\`: ${PROBLEM_CODES[code]?.meaning}`).join('\n'),
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/RequestId' },
      ...(status === 401 ? { 'WWW-Authenticate': { $ref: '#/components/headers/Challenge' } } : {}),
      ...(MAY_COME_AGAIN.has(status) ? { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } : {}),
    },
    content: contentOf(route, status, codes),
  };
  return { name: [status, ...codes, ...audience].join('-'), response };
}

const MAY_COME_AGAIN: ReadonlySet<number> = new Set([429, 503]);
const TEXT = { schema: { type: 'string' } };

function contentOf({ showFailure, caller }: Route, status: number, codes: readonly string[]): JsonSchema {
  const schema = {
    $ref: `${TO_SCHEMAS}Problem`,
    properties: { status: { const: status }, code: { enum: codes } },
  };
  return {
    'application/problem+json': { schema },
    // Stock git shows nothing else to its user.
    ...(caller === 'git' ? { 'text/plain': TEXT } : {}),
    // For whoever prefers it, as browsers do.
    ...(showFailure ? { 'text/html': TEXT } : {}),
  };
}
