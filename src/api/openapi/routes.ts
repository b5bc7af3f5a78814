/** `/openapi/v1.json`: the whole interface as OpenAPI 3.1, for developers of clients. */

import { z } from 'zod';
import { type Answer, json } from '../../http/answer.ts';
import { openApiDocument } from '../../http/openapi/document.ts';
import { type Route, route } from '../../http/route.ts';
import { readVersion } from '../../lib/version.ts';

/** @param routes all others; this one is in the document too */
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
    // In production, where the route is not there.
    problems: ['not_found'],
    handle: () => {
      // Made when it is first asked for, as most servers never are.
      answer ??= json(openApiDocument([...routes, self], readVersion()));
      return answer;
    },
  });
  return self;
}
