/** `hawserctl api`: any route of the server, with the credentials of the client. */

import { extname } from 'node:path';
import type { Received } from '../../client/connection.ts';
import { type Context, command } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { readPair } from '../filters.ts';
import { readInput } from '../input.ts';
import { toValue } from '../values.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const TYPES: Record<string, string> = {
  '.json': 'application/json',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
};

const ARGUMENTS = [
  { name: 'method', summary: METHODS.join(', ') },
  { name: 'path', summary: 'such as /api/v1/nodes; without its first slash it is below /api/v1/' },
] as const;

const OPTIONS = {
  file: { value: 'FILE', short: 'f', summary: 'send this file as the body, - for stdin' },
  field: {
    value: 'NAME=VALUE',
    short: 'F',
    isRepeatable: true,
    summary: 'a member of the JSON body, or of the query of GET; true, false, null and numbers are such',
  },
  type: { value: 'TYPE', summary: "the body's media type; without it by the file's name, else JSON" },
  accept: { value: 'TYPE', summary: 'the media type of the answer, where a route has several' },
  'if-match': { value: 'ETAG', summary: 'do it only if the ETag is still this one' },
  include: { short: 'i', summary: 'show the status and the headers of the answer too' },
  all: { summary: 'follow the pages of a list' },
} as const;

type ApiContext = Context<typeof ARGUMENTS, typeof OPTIONS>;

export const api = command({
  path: 'api',
  summary: 'call any route of the server',
  arguments: ARGUMENTS,
  options: OPTIONS,
  examples: [
    'hawserctl api GET nodes --all -F status=Error',
    'hawserctl api PUT /api/v1/settings/validation -F requireSemVer=true',
    'hawserctl api POST /api/v1/nodes/bulk -f deed.json',
  ],
  async run(context) {
    const { options, out } = context;
    const method = context.arguments.method.toUpperCase();
    if (!METHODS.includes(method)) throw new UsageError(`The method is one of ${METHODS.join(', ')}.`);
    const isRead = method === 'GET' || method === 'HEAD';
    const path = pathOf(context.arguments.path, isRead ? options.field : []);
    if (options.all) {
      checkAll(method, path, options.include);
      out.json(await context.api.allOf(path));
      return;
    }
    const body = isRead ? {} : await bodyOf(context);
    const received = await context.api.raw(method, path, {
      headers: {
        Accept: options.accept ?? '*/*',
        ...(body.type !== undefined && { 'Content-Type': body.type }),
        ...(options['if-match'] !== undefined && { 'If-Match': options['if-match'] }),
      },
      body: body.content,
    });
    if (options.include || method === 'HEAD') out.text(describeHead(received));
    printBody(received, out);
  },
});

/** @throws UsageError */
function pathOf(given: string, query: readonly string[]): string {
  const path = given.startsWith('/') ? given : `/api/v1/${given}`;
  if (!/^[\x21-\x7e]+$/.test(path) || path.includes('#'))
    throw new UsageError(
      'The path must be written as in a URL, with % before the numbers of other characters.',
    );
  if (query.length === 0) return path;
  const pairs = query.map((pair) => readPair(pair, '--field'));
  return `${path}${path.includes('?') ? '&' : '?'}${new URLSearchParams(pairs)}`;
}

function checkAll(method: string, path: string, isIncluded: boolean): void {
  if (method !== 'GET') throw new UsageError('--all is for GET.');
  if (/[?&](take|skip)=/.test(path)) throw new UsageError('--all sets take and skip itself.');
  if (isIncluded)
    throw new UsageError('--all makes one list of several answers, so there are no headers to include.');
}

async function bodyOf(context: ApiContext): Promise<{ type?: string; content?: Uint8Array }> {
  const { file, field, type } = context.options;
  if (file !== undefined && field.length > 0)
    throw new UsageError('The body is from --file or from --field.');
  if (field.length > 0) {
    const members = field
      .map((pair) => readPair(pair, '--field'))
      .map(([name, value]) => [name, toValue(value)]);
    return { type: 'application/json', content: Buffer.from(JSON.stringify(Object.fromEntries(members))) };
  }
  if (file === undefined) return {};
  const content = await readInput(context, file);
  return { type: type ?? TYPES[extname(file).toLowerCase()] ?? 'application/json', content };
}

function describeHead({ status, headers }: Received): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${[value].flat().join(', ')}`);
  return `${status}\n${lines.join('\n')}\n`;
}

function printBody({ headers, body }: Received, out: Context['out']): void {
  if (body.length === 0) return;
  const isText = /^(text\/|application\/([\w.+-]*\+)?(json|yaml|xml)\b)/.test(headers['content-type'] ?? '');
  // A terminal must not obey what a file holds.
  if (isText && out.isTerminal) out.text(body.toString('utf8'));
  else out.bytes(body);
}
