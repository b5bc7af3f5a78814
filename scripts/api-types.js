/**
 * Writes src/client/api-types.ts, the types of the API for its clients, from docs/openapi.json. The build, the check and all
 * scripts do this first, so the file is in no commit. It is JavaScript, because the build is.
 *
 * It knows the part of OpenAPI and JSON Schema that the server writes, and refuses the rest. openapi-typescript is not
 * used, because it needs the compiler of TypeScript 5 in the process, which version 7 no longer has.
 */

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const DOCUMENT = join(PROJECT, 'docs/openapi.json');
const API_TYPES = join(PROJECT, 'src/client/api-types.ts');
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

const HEAD = `/** What docs/openapi.json declares, as types. The build writes this file (scripts/api-types.js). */

/** The parts of a form: plain fields, and files in parts of these names. */
export interface FormOf<Fields, Parts extends string> {
  fields: Fields;
  files: readonly { part: Parts; filename: string; content: Uint8Array }[];
}

/** A body that is sent as it is. */
export interface BytesOf<Type extends string> {
  type: Type;
  content: Uint8Array;
}
`;

/** Reads what the server declares. */
export function readApiDocument() {
  return JSON.parse(readFileSync(DOCUMENT, 'utf8'));
}

/** @returns the text of src/client/api-types.ts */
export function generateApiTypes({ paths, components }) {
  const schemas = Object.entries(components.schemas).map(([name, schema]) => {
    return `  ${key(name)}: ${typeOf(schema, '  ')};`;
  });
  const routes = Object.entries(paths).filter(([path]) => path.startsWith('/api/v1/'));
  const operations = routes.flatMap(([path, item]) => {
    return METHODS.flatMap((method) => (item[method] ? [{ path, method, operation: item[method] }] : []));
  });
  const conditional = operations
    .filter(({ operation }) => operation.parameters?.some(({ $ref }) => $ref?.endsWith('/IfMatch')))
    .map(({ method, path }) => `  '${method} ${path}',`);
  return [
    HEAD,
    `export interface Schemas {\n${schemas.join('\n')}\n}\n`,
    `/** Every route below /api/v1, and what is given to it and comes from it. */\nexport interface Routes {`,
    ...routes.map(([path, item]) => routeType(path, item)),
    '}\n',
    '/** The operations that take If-Match, as method and path. */',
    `export const TAKES_IF_MATCH: ReadonlySet<string> = new Set([\n${conditional.join('\n')}\n]);\n`,
  ].join('\n');
}

function routeType(path, item) {
  const lines = METHODS.flatMap((method) => {
    const operation = item[method];
    if (operation === undefined) return [];
    const members = membersOf(operation).map((member) => `      ${member};`);
    const summary = operation.summary.replaceAll('*/', '* /');
    return [`    /** ${summary}. */`, `    ${method}: {`, ...members, '    };'];
  });
  return [`  '${path}': {`, ...lines, '  };'].join('\n');
}

function membersOf({ parameters = [], requestBody, responses }) {
  const named = parameters.filter(({ $ref }) => {
    if ($ref === undefined || /\/If(None)?Match$/.test($ref)) return $ref === undefined;
    throw new Error(`the parameter ${$ref} is not known here`);
  });
  const path = named.filter((parameter) => parameter.in === 'path');
  const query = named.filter((parameter) => parameter.in === 'query');
  const isPaged = ['take', 'skip'].every((name) => query.some((parameter) => parameter.name === name));
  return [
    ...(path.length === 0 ? [] : [`path: ${parametersType(path)}`]),
    ...(query.length === 0 ? [] : [queryMember(query)]),
    ...(requestBody === undefined ? [] : bodyMembers(requestBody)),
    ...(isPaged ? ['isPaged: true'] : []),
    `answer: ${answerType(responses)}`,
  ];
}

function queryMember(query) {
  const isNeeded = query.some(({ required }) => required === true);
  return isNeeded ? `query: ${parametersType(query)}` : `query?: ${parametersType(query)} | undefined`;
}

function parametersType(parameters) {
  const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]));
  const required = parameters.filter((parameter) => parameter.required === true).map(({ name }) => name);
  return typeOf({ type: 'object', properties, required }, '      ');
}

/** A body of several kinds is one of several members, of which a caller gives one. */
function bodyMembers({ required = false, content }) {
  const types = Object.keys(content);
  const bytes = types.filter((type) => !/^(application\/json|multipart\/form-data)$/.test(type));
  const kinds = [];
  const json = content['application/json']?.schema;
  if (json !== undefined) kinds.push(['json', typeOf(json, '      ')]);
  const form = content['multipart/form-data']?.schema;
  if (form !== undefined) kinds.push(['form', formType(form)]);
  if (bytes.length > 0) {
    const type = bytes.includes('*/*') ? 'string' : bytes.map(literal).join(' | ');
    kinds.push(['bytes', `BytesOf<${type}>`]);
  }
  const isNeeded = required && kinds.length === 1;
  return kinds.map(([name, type]) => (isNeeded ? `${name}: ${type}` : `${name}?: ${type} | undefined`));
}

function formType({ properties = {}, required = [] }) {
  const isFile = (schema) => (schema.items ?? schema).format === 'binary';
  const fields = Object.entries(properties).filter(([, schema]) => !isFile(schema));
  const parts = Object.entries(properties).filter(([, schema]) => isFile(schema));
  const wanted = required.filter((name) => fields.some(([field]) => field === name));
  const type = typeOf(
    { type: 'object', properties: Object.fromEntries(fields), required: wanted, additionalProperties: false },
    '      ',
  );
  return `FormOf<${type}, ${parts.map(([name]) => literal(name)).join(' | ')}>`;
}

/** JSON where the route has it; else bytes, or nothing. */
function answerType(responses) {
  const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  const types = good.map(([, { $ref, content }]) => {
    if ($ref !== undefined) throw new Error(`the answer ${$ref} is not known here`);
    if (content === undefined) return 'undefined';
    const json = content['application/json']?.schema;
    return json === undefined ? 'Uint8Array' : typeOf(json, '      ');
  });
  return types.length === 0 ? 'undefined' : [...new Set(types)].join(' | ');
}

function typeOf(schema, indent) {
  if (schema.$ref !== undefined) return `Schemas[${literal(schema.$ref.split('/').pop())}]`;
  if ('const' in schema) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map((choice) => typeOf(choice, indent)))].join(' | ');
  if (schema.type === undefined) return 'unknown';
  const types = [schema.type].flat().map((type) => singleType(type, schema, indent));
  return types.join(' | ');
}

function singleType(type, schema, indent) {
  if (type === 'array') {
    const item = typeOf(schema.items ?? {}, indent);
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
  }
  if (type === 'object') return objectType(schema, indent);
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'string' || type === 'boolean' || type === 'null') return type;
  throw new Error(`the schema has the unknown type ${type}`);
}

function objectType({ properties = {}, required = [], additionalProperties }, indent) {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(([name, schema]) => {
    const type = typeOf(schema, inner);
    return required.includes(name)
      ? `${inner}${key(name)}: ${type};`
      : `${inner}${key(name)}?: ${type} | undefined;`;
  });
  if (members.length > 0) return `{\n${members.join('\n')}\n${indent}}`;
  const others = typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown';
  return additionalProperties === false ? 'Record<string, never>' : `Record<string, ${others}>`;
}

const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name));

function literal(value) {
  if (typeof value !== 'string') return JSON.stringify(value);
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

/** Writes the file, unless it is that of this document already. Whoever reads it meanwhile finds the old one or the new one. */
export function writeApiTypes() {
  const text = generateApiTypes(readApiDocument());
  if (existsSync(API_TYPES) && readFileSync(API_TYPES, 'utf8') === text) return;
  const unfinished = `${API_TYPES}.${process.pid}.tmp`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, API_TYPES);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeApiTypes();
