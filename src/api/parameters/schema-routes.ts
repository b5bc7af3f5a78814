/** `/api/v1/configurations/{name}/parameters`: the schema of a configuration's parameters, and checks with it. */

import { contentTypeNamed, MAX_FILE_BYTES, readFile } from '../../deeds/parameter-content.ts';
import { type SchemaTools, uploadSchema } from '../../deeds/put-parameters.ts';
import { leadingVHint } from '../../domain/version-order.ts';
import { json, noContent, writtenJson } from '../../http/answer.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import { RawDocument, type Route } from '../../http/route.ts';
import { conflict, type FieldError, HawserError, notFound } from '../../lib/errors.ts';
import { DESCRIBE_UNKNOWN, type Declared, NOTHING_DECLARED, schemaIn } from '../../resolve/declared.ts';
import { newSource, openedAt } from '../../resolve/documents.ts';
import { variablesKnownTo } from '../../resolve/known-variables.ts';
import type { GrantedResource } from '../../security/access.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { type GrantedRoutes, grantedRoutes } from '../shared/versioned.ts';
import {
  JsonSchemaView,
  SCHEMA_FIELDS,
  SchemaForm,
  SchemaUploadView,
  SchemaWish,
  Validation,
  ValidationView,
} from './schemas.ts';

const FILE = { name: 'parametersFile', bytes: MAX_FILE_BYTES };
const DOCUMENT_TYPES = [
  'application/json',
  'application/yaml',
  'application/x-yaml',
  'text/yaml',
  'text/x-yaml',
];

/** A text is checked for no scope. So what is encrypted in it opens nowhere, and the values of secrets are not looked at. */
const NOWHERE = { configurationId: '', scopeTypeId: '', ownerId: '' };

export function schemaRoutes(tools: SchemaTools): Route[] {
  const { reading, modifying } = grantedRoutes(tools.database, ['Parameters'], { on: 'parameters' });
  return [uploadRoute(tools, modifying), schemaRoute(tools, reading), validateRoute(tools, reading)];
}

function uploadRoute(tools: SchemaTools, modifying: GrantedRoutes): Route {
  return modifying.own('PUT', '/api/v1/configurations/{name}/parameters', {
    id: 'uploadParameterSchema',
    // It counts at once, as a publishing does, also for a version that is published.
    changesNodes: true,
    summary: 'Upload the schema of a version',
    description:
      'A document, YAML or JSON, whose `parameters` block defines the parameters as that of an entry point does; it ' +
      'goes before that of the same version, and takes the place of an earlier upload. It is compared with the ' +
      'highest version before it: a published one, which may be of this very version, or an uploaded schema below ' +
      'it. What breaks that one is refused with a `compatibilityReport`, unless the major version rises.',
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
      const content = await readFile(reader, FILE.name, file, 'readDocument');
      const schema = await uploadSchema(tools, target, version, content);
      return writtenJson(`{"version":${JSON.stringify(version)},"schema":${schema}}`);
    },
  });
}

function schemaRoute(tools: SchemaTools, reading: GrantedRoutes): Route {
  return reading.own('GET', '/api/v1/configurations/{name}/parameters', {
    id: 'getParameterSchema',
    summary: 'Read the JSON Schema of the parameter documents of a version',
    description: 'Integers beyond 2^53 show rounded, though documents are checked with their exact values.',
    query: SchemaWish,
    answers: {
      200: { description: 'JSON Schema 2020-12', schema: JsonSchemaView },
      204: { description: 'Asked for with `optional`: the version declares no parameters' },
    },
    problems: [[404, 'schema_unknown'], ...READING_REPOSITORIES],
    async handle(call) {
      const declared = await schemaMeant(tools, call);
      if (declared.kind === 'unknown') throw notFound(DESCRIBE_UNKNOWN, 'schema_unknown');
      const schema = schemaIn(declared);
      if (!schema && call.query.optional) return noContent();
      if (!schema) throw notFound('There is no schema');
      return writtenJson(await tools.documents.run(call.principal.userId, 'printJsonSchema', { schema }));
    },
  });
}

function validateRoute(tools: SchemaTools, reading: GrantedRoutes): Route {
  return reading.own('POST', '/api/v1/configurations/{name}/parameters/validate', {
    id: 'validateParameters',
    summary: 'Check a parameter document; nothing is kept',
    description:
      'A document that breaks the schema is answered with 200 and its errors; text that is no document at all with ' +
      '400, line and column. Everything is valid for a version without a schema, and so is each encrypted secret.',
    query: Validation,
    body: { kind: 'document', schema: RawDocument, mediaTypes: DOCUMENT_TYPES },
    answers: { 200: { description: 'The verdict', schema: ValidationView } },
    problems: ['too_complex', [409, 'schema_unknown'], ...READING_REPOSITORIES],
    logLevel: 'debug',
    async handle({ body, ...call }) {
      const declared = await schemaMeant(tools, call);
      if (declared.kind === 'unknown') throw conflict('schema_unknown', DESCRIBE_UNKNOWN);
      const schema = schemaIn(declared);
      const source = newSource(body.bytes, contentTypeNamed(body.mediaType) ?? 'yaml');
      const document = openedAt(source, NOWHERE, 0);
      const variables = await variablesKnownTo(tools.database.read, call.resource.name);
      const check = { schema, document, isPartial: call.query.partial ?? false, variables };
      const run = async () => tools.documents.run(call.principal.userId, 'checkDocument', check);
      const errors = await (call.query.anyText ? run().catch(faultsOf) : run());
      return json({ isValid: errors.length === 0, errors });
    },
  });
}

/** What is wrong with text that is no document. @throws any other error */
function faultsOf(error: unknown): FieldError[] {
  const errors = error instanceof HawserError && error.kind === 'invalid' && error.data['errors'];
  if (Array.isArray(errors)) return errors;
  throw error;
}

/**
 * What the version declares that a request means. Nothing where the request names no version and there is none.
 * @throws HawserError not_found for a version that it names
 */
async function schemaMeant(
  { schemas }: SchemaTools,
  call: { principal: UserPrincipal; resource: GrantedResource; query: { version?: string | undefined } },
): Promise<Declared> {
  const { name } = call.resource;
  const { userId } = call.principal;
  const { version } = call.query;
  const found =
    version === undefined ? await schemas.findCurrent(name, userId) : await schemas.find(name, version);
  if (found) return schemas.read(name, found, userId);
  if (version === undefined) return NOTHING_DECLARED;
  throw notFound(`There is neither such a version nor a schema for it${leadingVHint(version)}`);
}
