/** Parameters of an operation: those in its path, those of its query, and the conditional headers. */

import type { Route } from '../route.ts';
import { hasValidator, isConditionalWrite } from './answers.ts';
import type { Components, JsonSchema } from './components.ts';

const ID = { type: 'string', format: 'uuid' };
const TEXT = { type: 'string' };

/** What stands in paths, by name. A name that is not here is a fault of who adds the route. */
const IN_PATH: Record<string, { description: string; schema: JsonSchema; example?: string }> = {
  id: { description: 'Id of what the path names', schema: ID },
  nodeId: { description: 'Id of the node', schema: ID },
  keyId: { description: 'Id of the registration key', schema: ID },
  childId: { description: 'Id of the item, not of the configuration', schema: ID },
  configurationId: { description: 'Id of the configuration', schema: ID },
  scopeTypeId: { description: 'Id of the scope type', schema: ID },
  scopeValueId: { description: 'Id of the scope value', schema: ID },
  principalId: { description: 'Id of the user or group', schema: ID },
  principalType: { description: 'In any case', schema: { type: 'string', enum: ['User', 'Group'] } },
  name: { description: 'Name of the configuration or composite, exactly', schema: TEXT, example: 'web' },
  version: { description: 'The version, exactly', schema: TEXT, example: '1.2.0' },
  major: { description: 'The major version', schema: { type: 'integer', minimum: 0 } },
  filePath: {
    description: 'Path of the file in the version; slashes stay as they are',
    schema: TEXT,
    example: 'main.dsc.yaml',
  },
};

/** @throws Error for a name in the path that is not described here */
export function parametersOf(route: Route, query: JsonSchema | null): JsonSchema[] {
  const isRead = hasValidator(route, isPaged(query));
  return [
    ...[...route.path.matchAll(/\{\*?(\w+)\}/g)].map(([, name = '']) => inPath(name)),
    ...(query === null ? [] : inQuery(query)),
    ...(isRead ? [{ $ref: '#/components/parameters/IfNoneMatch' }] : []),
    ...(isConditionalWrite(route.method) ? [{ $ref: '#/components/parameters/IfMatch' }] : []),
  ];
}

export const SHARED_PARAMETERS: Record<string, JsonSchema> = {
  IfMatch: inHeader('If-Match', 'The ETag that was read: 412 `precondition_failed` if it has changed since'),
  IfNoneMatch: inHeader('If-None-Match', 'The ETag that is known: 304 if it still holds'),
};

function inHeader(name: string, description: string): JsonSchema {
  return { name, in: 'header', description, schema: TEXT };
}

function inPath(name: string): JsonSchema {
  const known = IN_PATH[name];
  if (known === undefined) throw new Error(`The path parameter ${name} is not described`);
  return { name, in: 'path', required: true, ...known };
}

/** The query as one object, or null where the route takes none. */
export function queryOf({ query }: Route, components: Components): JsonSchema | null {
  return query === undefined ? null : components.convert(query, 'input');
}

/** Lists are told by what they take: all of them have `take` and `skip`. */
export function isPaged(query: JsonSchema | null): boolean {
  return query !== null && 'take' in propertiesOf(query);
}

function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  return (schema['properties'] ?? {}) as Record<string, JsonSchema>;
}

function inQuery(query: JsonSchema): JsonSchema[] {
  const required = (query['required'] ?? []) as string[];
  return Object.entries(propertiesOf(query)).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(description === undefined ? {} : { description }),
    ...(required.includes(name) ? { required: true } : {}),
    schema,
  }));
}
