/**
 * Compares the server's replies with docs/openapi.json. Every reply of an operation in it must be one that it
 * declares, including the members of its JSON. test/unit/http/openapi compares the document itself with the routes.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { PROJECT } from '../../scripts/support/project.ts';

export const DOCUMENT_FILE = join(PROJECT, 'docs/openapi.json');

/** The request and reply that are checked. */
export interface Exchanged {
  method: string;
  /** The path as it was sent, with the query. */
  path: string;
  status: number;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
}

interface Reference {
  $ref: string;
}

interface Header {
  required?: boolean;
}

interface Response {
  headers?: Record<string, Header | Reference>;
  content?: Record<string, { schema?: object }>;
}

interface Operation {
  operationId: string;
  responses: Record<string, Response | Reference>;
}

interface Components {
  headers: Record<string, Header>;
  responses: Record<string, Response>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: Components;
}

/**
 * The server sends these for input that it could not read as a request (src/http/malformed.ts), whatever path it had.
 */
const BEFORE_ROUTING = ['malformed_request', 'request_timeout', 'header_too_large'];
/** The document must declare these headers. All others belong to HTTP itself, or are on every answer. */
const TELLING_HEADERS = [
  ...['etag', 'location', 'x-total-count', 'link', 'repr-digest', 'content-disposition'],
  ...['retry-after', 'set-cookie', 'www-authenticate'],
];

const DOCUMENT = 'hawser';

const FORMATS = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  binary: true,
} as const;

class Contract {
  private readonly document: Document;
  private readonly ajv = new Ajv2020({ strict: false, validateSchema: false, formats: FORMATS });
  private readonly addresses: { pattern: RegExp; rank: string; path: string }[];

  constructor() {
    this.document = JSON.parse(readFileSync(DOCUMENT_FILE, 'utf8'), prepare) as Document;
    this.ajv.addSchema(this.document, DOCUMENT);
    this.addresses = Object.keys(this.document.paths)
      .map((path) => ({ path, pattern: toPattern(path), rank: rankOf(path) }))
      .sort((a, b) => (a.rank < b.rank ? -1 : 1));
  }

  check(exchanged: Exchanged): void {
    const address = exchanged.path.split('?', 1)[0] ?? '';
    const path = this.addresses.find(({ pattern }) => pattern.test(address))?.path;
    if (path === undefined) return;
    const method = exchanged.method === 'HEAD' ? 'get' : exchanged.method.toLowerCase();
    const operation = this.document.paths[path]?.[method];
    if (operation === undefined || isBeforeRouting(exchanged)) return;
    const fault = this.faultOf(exchanged, operation);
    if (fault === null) return;
    const { operationId } = operation;
    throw new Error(
      `docs/openapi.json: ${operationId} (${exchanged.method} ${path}) ${exchanged.status}: ${fault}`,
    );
  }

  private faultOf(exchanged: Exchanged, operation: Operation): string | null {
    const declared = operation.responses[String(exchanged.status)];
    if (declared === undefined) return `the status is not declared; ${shown(exchanged)}`;
    const response = this.resolve(declared, 'responses');
    const fault = this.headerFault(exchanged, response);
    if (fault !== null || exchanged.method === 'HEAD') return fault;
    const { bytes } = exchanged;
    if (response.content === undefined) return bytes.length === 0 ? null : 'a body is not declared';
    const type = mediaTypeOf(exchanged);
    const content = response.content[type] ?? response.content['*/*'];
    if (content === undefined)
      return `the media type ${type || '(none)'} is not declared; ${shown(exchanged)}`;
    if (!type.endsWith('json') || content.schema === undefined) return null;
    // A schema is compiled once, when the first reply needs it.
    const validate = this.ajv.compile(content.schema);
    if (validate(JSON.parse(bytes.toString('utf8')))) return null;
    return `${this.ajv.errorsText(validate.errors, { dataVar: 'body' })}; ${shown(exchanged)}`;
  }

  private resolve<K extends 'responses' | 'headers'>(
    given: Components[K][string] | Reference,
    kind: K,
  ): Components[K][string] {
    if (!('$ref' in given)) return given;
    return this.document.components[kind][given.$ref.split('/').at(-1) ?? ''] as Components[K][string];
  }

  private headerFault({ headers, method }: Exchanged, response: Response): string | null {
    const declared = new Set(Object.keys(response.headers ?? {}).map((name) => name.toLowerCase()));
    for (const [name, header] of Object.entries(response.headers ?? {})) {
      // A HEAD changes nothing, so it sends no cookie either.
      if (method === 'HEAD' && name === 'Set-Cookie') continue;
      const { required } = this.resolve(header, 'headers');
      if (required && headers[name.toLowerCase()] === undefined) return `the header ${name} is missing`;
    }
    const surprising = TELLING_HEADERS.find((name) => headers[name] !== undefined && !declared.has(name));
    return surprising === undefined ? null : `the header ${surprising} is not declared`;
  }
}

/** Closes all objects, for this check only: a reply must not have members that the document does not name. */
function prepare(key: string, value: unknown): unknown {
  if (key === '$ref') return `${DOCUMENT}${value}`;
  const schema = value as Record<string, unknown> | null;
  const isOpen =
    schema?.['type'] === 'object' && schema['properties'] && schema['additionalProperties'] === undefined;
  return isOpen ? { ...schema, additionalProperties: false } : value;
}

/** The document cannot say that these parameters take the rest of the path. */
function toPattern(path: string): RegExp {
  const escaped = path.replaceAll('.', '\\.').replace(/\{(file|asset|page)Path\}/, '.+');
  return new RegExp(`^${escaped.replace(/\{\w+\}/g, '[^/]+')}/?$`);
}

/** Orders paths as the server's routing does: named segments before parameters. */
function rankOf(path: string): string {
  return path.replace(/[^/]*\{[^/]*/g, '~');
}

function isBeforeRouting({ status, bytes }: Exchanged): boolean {
  if (![400, 408, 431].includes(status)) return false;
  return BEFORE_ROUTING.some((code) => bytes.includes(`"code":"${code}"`));
}

function mediaTypeOf({ headers }: Exchanged): string {
  return String(headers['content-type'] ?? '').split(';', 1)[0] ?? '';
}

function shown({ bytes }: Exchanged): string {
  return bytes.toString('utf8').slice(0, 400);
}

let contract: Contract | undefined;

/** @throws Error that names operation, status and fault if the document does not declare the reply */
export function checkReply(exchanged: Exchanged): void {
  contract ??= new Contract();
  contract.check(exchanged);
}
