/** `/api/v1/configurations/{name}/parameters`: the schema of a configuration's parameters, and checks with it. */

import { json, writtenJson } from '../../http/answer.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import { RawDocument, type Route, route } from '../../http/route.ts';
import { notFound } from '../../lib/errors.ts';
import { newSource } from '../../resolve/documents.ts';
import type { SchemaReader, SchemaVersion } from '../../resolve/schemas.ts';
import { contentTypeNamed, readFile } from './content.ts';
import { type SchemaTools, uploadSchema } from './files.ts';
import {
  JsonSchemaView,
  OfVersion,
  SCHEMA_FIELDS,
  SchemaForm,
  SchemaUploadView,
  Validation,
  ValidationView,
} from './schemas.ts';

const TAGS = ['Parameters'];

const reading = { kind: 'grant', on: 'parameters', level: 'Read' } as const;
const modifying = { ...reading, level: 'Modify' } as const;

const FILE = { name: 'parametersFile', bytes: 5 * 1024 * 1024 };
const DOCUMENT_TYPES = [
  'application/json',
  'application/yaml',
  'application/x-yaml',
  'text/yaml',
  'text/x-yaml',
];

export function schemaRoutes(tools: SchemaTools): Route[] {
  return [uploadRoute(tools), schemaRoute(tools), validateRoute(tools)];
}

function uploadRoute(tools: SchemaTools): Route {
  return route({
    id: 'uploadParameterSchema',
    method: 'PUT',
    path: '/api/v1/configurations/{name}/parameters',
    summary: 'Upload the schema of a version',
    description:
      'A document, YAML or JSON, whose `parameters` block defines the parameters as that of an entry point does; it ' +
      'goes before that of the same version, and takes the place of an earlier upload. It is compared with the ' +
      'highest version before it: a published one, which may be of this very version, or an uploaded schema below ' +
      'it. What breaks that one is refused with a `compatibilityReport`, unless the major version rises.',
    tags: TAGS,
    access: modifying,
    body: { kind: 'upload', schema: SchemaForm, fields: SCHEMA_FIELDS, file: FILE },
    answers: { 200: { description: 'The schema as it is now', schema: SchemaUploadView } },
    problems: [
      'too_complex',
      'incompatible_parameters',
      'version_exists',
      'schema_changed',
      ...WRITING_REPOSITORIES,
    ],
    async handle({ principal, resource, body, file, facts }) {
      if (file === null) throw notFound('The form has no file');
      const { actor, over: gone } = facts;
      const target = { kind: 'parameters', resource, principal, actor, gone } as const;
      const { version } = body;
      const reader = { documents: tools.documents, caller: principal.userId };
      const content = await readFile(reader, FILE.name, file);
      const schema = await uploadSchema(tools, target, version, content);
      return writtenJson(`{"version":${JSON.stringify(version)},"schema":${schema}}`);
    },
  });
}

function schemaRoute({ schemas, documents }: SchemaTools): Route {
  return route({
    id: 'getParameterSchema',
    method: 'GET',
    path: '/api/v1/configurations/{name}/parameters',
    summary: 'Read the JSON Schema of the parameter documents of a version',
    description: 'Integers beyond 2^53 show rounded, though documents are checked with their exact values.',
    tags: TAGS,
    access: reading,
    query: OfVersion,
    answers: { 200: { description: 'JSON Schema 2020-12', schema: JsonSchemaView } },
    problems: READING_REPOSITORIES,
    async handle({ principal, resource, query }) {
      const wish = { version: query.version, caller: principal.userId };
      const version = await versionMeant(schemas, resource.name, wish);
      const schema = version && (await schemas.schemaOf(resource.name, version, wish.caller));
      if (!schema) throw notFound('There is no schema');
      return writtenJson(await documents.run(wish.caller, 'printJsonSchema', { schema }));
    },
  });
}

function validateRoute({ schemas, documents }: SchemaTools): Route {
  return route({
    id: 'validateParameters',
    method: 'POST',
    path: '/api/v1/configurations/{name}/parameters/validate',
    summary: 'Check a parameter document; nothing is kept',
    description:
      'A document that breaks the schema is answered with 200 and its errors; text that is no document at all with ' +
      '400, line and column. Everything is valid for a version without a schema.',
    tags: TAGS,
    access: reading,
    query: Validation,
    body: { kind: 'document', schema: RawDocument, mediaTypes: DOCUMENT_TYPES },
    answers: { 200: { description: 'The verdict', schema: ValidationView } },
    problems: ['too_complex', ...READING_REPOSITORIES],
    logLevel: 'debug',
    async handle({ principal, resource, query, body }) {
      const caller = principal.userId;
      const version = await versionMeant(schemas, resource.name, { version: query.version, caller });
      const document = newSource(body.bytes, contentTypeNamed(body.mediaType) ?? 'yaml');
      const schema = version && (await schemas.schemaOf(resource.name, version, caller));
      const isPartial = query.partial ?? false;
      const errors = await documents.run(caller, 'checkDocument', { schema, document, isPartial });
      return json({ isValid: errors.length === 0, errors });
    },
  });
}

/**
 * The version that a request means. Null where it names none, and there is none.
 * @throws HawserError not_found for one that it names
 */
async function versionMeant(
  schemas: SchemaReader,
  name: string,
  { version, caller }: { version: string | undefined; caller: string },
): Promise<SchemaVersion | null> {
  if (version === undefined) return (await schemas.findCurrent(name, caller)) ?? null;
  const found = await schemas.find(name, version);
  if (found === undefined) throw notFound('There is neither such a version nor a schema for it');
  return found;
}
