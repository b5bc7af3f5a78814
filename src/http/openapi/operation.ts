/** One route as an OpenAPI operation. */

import type { Route } from '../route.ts';
import { describeAccess, securityOf } from './access.ts';
import { answerResponses } from './answers.ts';
import { requestBodyOf } from './bodies.ts';
import type { Components, JsonSchema } from './components.ts';
import { isPaged, parametersOf, queryOf } from './parameters.ts';
import { problemResponses } from './problem-responses.ts';

export function operationOf(route: Route, components: Components): JsonSchema {
  const query = queryOf(route, components);
  const parameters = parametersOf(route, query);
  return {
    operationId: route.id,
    tags: route.tags,
    summary: route.summary,
    description: [route.description, describeAccess(route.access)].filter(Boolean).join('\n\n'),
    security: securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined ? {} : { requestBody: requestBodyOf(route.body, components) }),
    responses: responsesOf(route, components, isPaged(query)),
  };
}

function responsesOf(route: Route, components: Components, paged: boolean): Record<string, JsonSchema> {
  const responses = answerResponses(route, components, paged);
  for (const [status, { name, response }] of problemResponses(route, components)) {
    const answer = responses[status];
    responses[status] =
      answer === undefined ? components.shareResponse(name, response) : eitherOf(answer, response);
  }
  return responses;
}

/** One status may be an answer by one media type and a problem by another, such as 503 of the readiness check. */
function eitherOf(answer: JsonSchema, problem: JsonSchema): JsonSchema {
  const merge = (name: string) => ({ ...(answer[name] as JsonSchema), ...(problem[name] as JsonSchema) });
  return {
    description: `${answer['description']}\n\n${problem['description']}`,
    headers: merge('headers'),
    content: merge('content'),
  };
}
