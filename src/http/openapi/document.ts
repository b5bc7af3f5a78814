/**
 * The OpenAPI 3.1 document, made from the routes: what validates requests, decides access and shapes answers is what
 * is published (docs/decisions/0014).
 */

import type { Route } from '../route.ts';
import { ABOUT, TAGS } from './about.ts';
import { SECURITY_SCHEMES } from './access.ts';
import { HEADERS } from './answers.ts';
import { Components, type JsonSchema } from './components.ts';
import { operationOf } from './operation.ts';
import { SHARED_PARAMETERS } from './parameters.ts';

/**
 * Pure: the same routes, in any order, give the same document.
 * @param version of Hawser
 * @throws Error for what the document cannot say: two schemas or operations of one id, an unknown tag or path parameter
 */
export function openApiDocument(routes: readonly Route[], version: string): JsonSchema {
  const components = new Components();
  const paths: Record<string, JsonSchema> = {};
  const ids = new Set<string>();
  for (const route of [...routes].sort(byAddress)) {
    check(route, ids);
    const path = route.path.replace('{*', '{');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, components) };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Hawser', version, description: ABOUT, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/', description: 'The server that hands out this document' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: components.schemas,
      responses: components.responses,
      headers: HEADERS,
      parameters: SHARED_PARAMETERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function byAddress(a: Route, b: Route): number {
  const [left, right] = [a, b].map(({ path, method }) => `${path} ${method}`) as [string, string];
  return left < right ? -1 : 1;
}

function check({ id, tags }: Route, ids: Set<string>): void {
  if (ids.has(id)) throw new Error(`Two routes have the id ${id}`);
  ids.add(id);
  const unknown = tags.find((tag) => !Object.hasOwn(TAGS, tag));
  if (unknown !== undefined) throw new Error(`${id} has the tag ${unknown}, which is not described`);
}
