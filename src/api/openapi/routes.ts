/** `/openapi/v1.json`: the whole interface as OpenAPI 3.1, for developers of clients. */

import { z } from 'zod';
import { type Answer, json } from '../../http/answer.ts';
import { openApiDocument } from '../../http/openapi/document.ts';
import { NOT_FOUND } from '../../http/problem-codes.ts';
import { type Route, route } from '../../http/route.ts';
import { readVersion } from '../../lib/version.ts';

/** @param routes all other routes; the document describes this one too */
export function openApiRoute(routes: readonly Route[]): Route {
  let answer: Answer | undefined;
  const self = route({
    id: 'getOpenApiDocument',
    method: 'GET',
    path: '/openapi/v1.json',
    summary: 'Read this document',
    description: 'In development only (`HAWSER_ENV=development`).',
    tags: ['Reference'],
    access: { kind: 'public' },
    answers: { 200: { description: 'OpenAPI 3.1', schema: z.looseObject({ openapi: z.string() }) } },
    // The answer in production, where the route is not there.
    problems: [NOT_FOUND],
    handle: () => {
      // The document is made at the first request, because most servers are never asked for it.
      answer ??= json(openApiDocument([...routes, self], readVersion()));
      return answer;
    },
  });
  return self;
}
