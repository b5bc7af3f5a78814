/** What an operation takes: parameters in its path, its query and its headers, and a body. */

import type { BodySpec, Route, UploadBody } from '../route.ts';
import type { Components, JsonSchema } from './components.ts';
import { hasETag, isConditionalWrite } from './responses.ts';

const ID = { type: 'string', format: 'uuid' };
const TEXT = { type: 'string' };

/** Every parameter that a path may have, by name. A route whose path has another one must add it here. */
const IN_PATH: Record<string, { description: string; schema: JsonSchema; example?: string }> = {
  id: { description: 'Id of what the path names', schema: ID },
  nodeId: { description: 'Id of the node; for users also its fqdn, in any case', schema: TEXT },
  keyId: { description: 'Id of the registration key', schema: ID },
  tokenId: { description: 'Id of the token', schema: ID },
  identityId: { description: 'Id of the identity', schema: ID },
  federationId: { description: 'Id of the federation', schema: ID },
  deliveryId: { description: 'Id of the delivery', schema: ID },
  provider: {
    description: 'Name of the identity provider in the file of the server',
    schema: { type: 'string' },
    example: 'entra',
  },
  childId: { description: 'Id of the item, not of the configuration', schema: ID },
  configurationId: { description: 'Id of the configuration', schema: ID },
  scopeTypeId: { description: 'Id of the scope type', schema: ID },
  scopeValueId: { description: 'Id of the scope value', schema: ID },
  principalId: { description: 'Id of the user or group', schema: ID },
  principalType: { description: 'In any case', schema: { type: 'string', enum: ['User', 'Group'] } },
  name: { description: 'Name of the configuration or composite, exactly', schema: TEXT, example: 'web' },
  version: { description: 'The version, exactly', schema: TEXT, example: '1.2.0' },
  checksum: {
    description: 'SHA-256, hex, in any case',
    schema: TEXT,
    example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  },
  groupId: { description: 'Id of a group of nodes in the preview', schema: TEXT, example: '1' },
  major: { description: 'The major version', schema: { type: 'integer', minimum: 0 } },
  filePath: {
    description: 'Path of the file in the version; slashes stay as they are',
    schema: TEXT,
    example: 'main.dsc.yaml',
  },
  assetPath: { description: 'Name of the file, as the page has it', schema: TEXT },
  pagePath: { description: 'What the page is to show', schema: TEXT, example: 'nodes' },
};

/** A node names itself by its id alone. */
const OWN_ID = { name: 'nodeId', in: 'path', required: true, description: 'Id of the node', schema: ID };

/** @throws Error for a name in the path that is not described here */
export function parametersOf(route: Route, query: JsonSchema | null): JsonSchema[] {
  return [
    ...[...route.path.matchAll(/\{\*?(\w+)\}/g)].map(([, name = '']) => inPath(name, route)),
    ...(query === null ? [] : inQuery(query)),
    ...(hasETag(route) ? [{ $ref: '#/components/parameters/IfNoneMatch' }] : []),
    ...(isConditionalWrite(route) ? [{ $ref: '#/components/parameters/IfMatch' }] : []),
  ];
}

const inHeader = (name: string, description: string) => ({ name, in: 'header', description, schema: TEXT });

export const SHARED_PARAMETERS: Record<string, JsonSchema> = {
  IfMatch: inHeader('If-Match', 'The ETag that was read: 412 `precondition_failed` if it has changed since'),
  IfNoneMatch: inHeader('If-None-Match', 'The ETag that is known: 304 if it still holds'),
};

function inPath(name: string, { access }: Route): JsonSchema {
  if (name === 'nodeId' && access.kind === 'node:self') return OWN_ID;
  const known = IN_PATH[name];
  if (known === undefined) throw new Error(`The path parameter ${name} is not described`);
  return { name, in: 'path', required: true, ...known };
}

/** The query as the schema of one object; null where the route takes no query. */
export function queryOf({ query }: Route, components: Components): JsonSchema | null {
  return query === undefined ? null : components.convert(query, 'input');
}

/** Whether the answer is a page of a list, with the number of all. Such a list takes `skip`, and nothing else does. */
export function isPaged(query: JsonSchema | null): boolean {
  return query !== null && 'skip' in propertiesOf(query);
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

type Body = BodySpec<unknown>;

export function requestBodyOf(body: Body, components: Components): JsonSchema {
  // A request without a body makes an empty file.
  const isOptional = body.kind === 'file' || (body.kind === 'json' && body.isOptional === true);
  return { ...(isOptional ? {} : { required: true }), content: contentOf(body, components) };
}

function contentOf(body: Body, components: Components): JsonSchema {
  switch (body.kind) {
    case 'json':
      return {
        'application/json': { schema: components.convert(body.schema, 'input') },
        ...(body.ofCsv && { 'text/csv': { schema: { type: 'string' } } }),
      };
    case 'jsonBytes':
      return { 'application/json': { schema: components.convert(body.described, 'input') } };
    case 'form':
      return { 'application/x-www-form-urlencoded': { schema: components.convert(body.schema, 'input') } };
    case 'upload':
      return {
        'multipart/form-data': { schema: formOf(body, components) },
        ...(body.json && { 'application/json': { schema: components.convert(body.json, 'input') } }),
        ...(body.document && { '*/*': {} }),
      };
    case 'file':
      return { '*/*': {} };
    case 'document':
      return Object.fromEntries(body.mediaTypes.map((mediaType) => [mediaType, { schema: {} }]));
    case 'stream':
      return { [body.mediaType]: {} };
  }
}

const BYTES = { type: 'string', format: 'binary', contentMediaType: 'application/octet-stream' };

/** The fields, and beside them the one file that the route names, or else any number of files or an archive. */
function formOf(body: UploadBody<unknown>, components: Components): JsonSchema {
  const form = components.convert(body.schema, 'input');
  const fields = (form['properties'] ?? {}) as JsonSchema;
  const required = (form['required'] ?? []) as string[];
  if (body.file !== undefined) {
    const file = { ...BYTES, description: `At most ${body.file.bytes} bytes` };
    const properties = { ...fields, [body.file.name]: file };
    return { ...form, properties, required: [...required, body.file.name] };
  }
  const files = {
    type: 'array',
    items: BYTES,
    description: 'One part per file, whose filename is the relative path',
  };
  const archive = { ...BYTES, description: 'A ZIP of all files, in place of `files`' };
  return { ...form, properties: { ...fields, files, archive } };
}
