/** The calls to the API, typed by what docs/openapi.json declares: a wrong path, member or method does not compile. */

import { type BytesOf, type FormOf, type Routes, TAKES_IF_MATCH } from './api-types.ts';
import type { Connection, Received } from './connection.ts';
import { ApiProblem, NotHawser } from './errors.ts';
import { encodeForm } from './form.ts';
import { sendPatiently, type Waiting } from './patience.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The paths that have this method. */
export type PathsOf<M extends Method> = {
  [P in keyof Routes]: M extends keyof Routes[P] ? P : never;
}[keyof Routes];

type Operation<M extends Method, P extends keyof Routes> = M extends keyof Routes[P] ? Routes[P][M] : never;

type Answer<M extends Method, P extends keyof Routes> =
  Operation<M, P> extends { answer: infer A } ? A : never;

type PagedPaths = {
  [P in PathsOf<'get'>]: Operation<'get', P> extends { isPaged: true } ? P : never;
}[PathsOf<'get'>];

type Item<P extends PagedPaths> = Answer<'get', P> extends (infer I)[] ? I : never;

/** What an operation is given: `path`, `query`, and a body as `json`, `form` or `bytes`, as far as it has them. */
export type Given<M extends Method, P extends keyof Routes> = Pick<
  Operation<M, P>,
  Extract<keyof Operation<M, P>, keyof AnyGiven>
>;

/** May be left out where everything in it may. */
type Arguments<G> = Record<never, never> extends G ? [given?: G] : [given: G];

type WithoutPages<G> = Omit<G, 'query'> &
  (G extends { query?: infer Q } ? { query?: Omit<NonNullable<Q>, 'take' | 'skip'> | undefined } : unknown);

/** What is read of all that can be given. */
interface AnyGiven {
  path?: object | undefined;
  query?: object | undefined;
  json?: unknown;
  form?: FormOf<object, string> | undefined;
  bytes?: BytesOf<string> | undefined;
}

export interface RawCall {
  headers?: Record<string, string>;
  body?: Uint8Array | undefined;
}

/** Reads a page by `take` and `skip`. */
type ReadPage = (query: URLSearchParams) => Promise<Received>;

/** Of answers, because reading JSON loses digits of long numbers. */
const TEXTS = new WeakMap<object, string>();

/** The JSON of an answer as it came; of all items of a list as one list. Null for what is no answer. */
export function textOf(answer: object): string | null {
  return TEXTS.get(answer) ?? null;
}

/** What is done to a part of something, for which the ETag of the whole counts. */
const PARTS = /\/(?:publish|withdraw|members|roles|children(?:\/[^/]+)?)$/;

/** The most that a list answers with at once. */
const PAGE = 1000;

export class Api {
  private readonly connection: Connection;
  private readonly headers: Record<string, string>;
  private readonly waiting: Waiting;
  /** Holds the ETags of what was read, for If-Match, by `keyOf`. */
  private readonly tags = new Map<string, string>();

  /** @param headers go with every call, such as `Authorization` */
  constructor(connection: Connection, headers: Record<string, string>, waiting: Waiting = {}) {
    this.connection = connection;
    this.headers = headers;
    this.waiting = waiting;
  }

  /** The origin of the server. */
  get url(): string {
    return this.connection.url.origin;
  }

  /** @throws ApiProblem, Unreachable, Interrupted, NotHawser; so do all calls */
  get<P extends PathsOf<'get'>>(path: P, ...[given]: Arguments<Given<'get', P>>): Promise<Answer<'get', P>> {
    return this.callForJson('get', path, given) as Promise<Answer<'get', P>>;
  }

  post<P extends PathsOf<'post'>>(
    path: P,
    ...[given]: Arguments<Given<'post', P>>
  ): Promise<Answer<'post', P>> {
    return this.callForJson('post', path, given) as Promise<Answer<'post', P>>;
  }

  put<P extends PathsOf<'put'>>(path: P, ...[given]: Arguments<Given<'put', P>>): Promise<Answer<'put', P>> {
    return this.callForJson('put', path, given) as Promise<Answer<'put', P>>;
  }

  patch<P extends PathsOf<'patch'>>(
    path: P,
    ...[given]: Arguments<Given<'patch', P>>
  ): Promise<Answer<'patch', P>> {
    return this.callForJson('patch', path, given) as Promise<Answer<'patch', P>>;
  }

  delete<P extends PathsOf<'delete'>>(
    path: P,
    ...[given]: Arguments<Given<'delete', P>>
  ): Promise<Answer<'delete', P>> {
    return this.callForJson('delete', path, given) as Promise<Answer<'delete', P>>;
  }

  /** Reads bytes, such as a file, an archive or a diff. @param accept the media type, where the route has several */
  download<P extends PathsOf<'get'>>(path: P, given: Given<'get', P>, accept = '*/*'): Promise<Received> {
    return this.call('get', path, given, { Accept: accept });
  }

  /** The ETag of what was read last at this path; undefined where nothing was, or where it was changed since. */
  tagOf<P extends PathsOf<'get'>>(path: P, given: Given<'get', P>): string | undefined {
    const { path: values, query } = given as AnyGiven;
    return this.tags.get(keyOf(fillPath(path, values), query));
  }

  /** Follows the pages of a list. */
  async *list<P extends PagedPaths>(
    path: P,
    ...[given]: Arguments<WithoutPages<Given<'get', P>>>
  ): AsyncGenerator<Item<P>> {
    for await (const page of this.pages(this.pageOf(path, given as AnyGiven))) yield* page as Item<P>[];
  }

  /** All items of a list. `textOf` has their text too. */
  async all<P extends PagedPaths>(
    path: P,
    ...[given]: Arguments<WithoutPages<Given<'get', P>>>
  ): Promise<Item<P>[]> {
    return (await this.collect(this.pageOf(path, given as AnyGiven))) as Item<P>[];
  }

  /** All items of the list at any path, which has neither `take` nor `skip` in its query. */
  allOf(path: string): Promise<unknown[]> {
    const headers = { Accept: 'application/json' };
    return this.collect((query) =>
      this.raw('GET', `${path}${path.includes('?') ? '&' : '?'}${query}`, { headers }),
    );
  }

  /**
   * Calls any path, with no more than the credentials added.
   * @throws ApiProblem for any status from 400, Unreachable, Interrupted, NotHawser
   */
  async raw(method: string, path: string, { headers = {}, body }: RawCall = {}): Promise<Received> {
    const received = await sendPatiently(
      () => this.connection.send({ method, path, headers: { ...this.headers, ...headers }, body }),
      this.waiting,
    );
    if (received.status < 400) return received;
    throw problemOf(received) ?? (received.status >= 500 ? unexplained(received) : new NotHawser(this.url));
  }

  private pageOf(path: string, given: AnyGiven = {}): ReadPage {
    return (query) =>
      this.call('get', path, { ...given, query: { ...given.query, ...Object.fromEntries(query) } });
  }

  private async collect(readPage: ReadPage): Promise<unknown[]> {
    const items: unknown[] = [];
    const texts: string[] = [];
    for await (const page of this.pages(readPage)) {
      for (const item of page) items.push(item);
      texts.push(textOf(page) ?? '[]');
    }
    TEXTS.set(items, joinLists(texts));
    return items;
  }

  private async *pages(readPage: ReadPage): AsyncGenerator<unknown[]> {
    for (let skip = 0, total = 1; skip < total; ) {
      const received = await readPage(new URLSearchParams({ take: String(PAGE), skip: String(skip) }));
      const page = this.readJson(received);
      if (!Array.isArray(page)) throw new Error('The answer is no list, so it has no pages.');
      yield page;
      skip += page.length;
      // A page without items ends the list, even if it was longer a moment ago.
      total = page.length === 0 ? 0 : Number(received.headers['x-total-count'] ?? 0);
    }
  }

  private async callForJson(method: Method, path: string, given: AnyGiven = {}): Promise<unknown> {
    const received = await this.call(method, path, given);
    return received.status === 204 || received.body.length === 0 ? undefined : this.readJson(received);
  }

  private async call(
    method: Method,
    template: string,
    given: AnyGiven,
    headers: Record<string, string> = {},
  ): Promise<Received> {
    const path = fillPath(template, given.path);
    const key = keyOf(method === 'get' ? path : path.replace(PARTS, ''), given.query);
    const known = TAKES_IF_MATCH.has(`${method} ${template}`) ? this.tags.get(key) : undefined;
    const { type, content } = bodyOf(given);
    const received = await this.raw(method.toUpperCase(), path + queryOf(given.query), {
      headers: {
        Accept: 'application/json',
        ...(type !== undefined && { 'Content-Type': type }),
        ...(known !== undefined && { 'If-Match': known }),
        ...headers,
      },
      body: content,
    });
    // Whatever changes something makes what was read before old.
    const { etag } = received.headers;
    if (method !== 'get') this.tags.delete(key);
    else if (etag !== undefined) this.tags.set(key, etag);
    return received;
  }

  private readJson({ headers, body }: Received): unknown {
    if (!/^application\/json\b/.test(headers['content-type'] ?? '')) throw new NotHawser(this.url);
    const text = body.toString('utf8');
    const value = parse(text);
    if (value === undefined) throw new NotHawser(this.url);
    if (typeof value === 'object' && value !== null) TEXTS.set(value, text);
    return value;
  }
}

function problemOf({ status, headers, body }: Received): ApiProblem | null {
  if (!/^application\/problem\+json\b/.test(headers['content-type'] ?? '')) return null;
  const members = parse(body.toString('utf8'));
  if (typeof members !== 'object' || members === null) return null;
  return new ApiProblem(status, members as Record<string, unknown>);
}

/** A proxy before the server answers so while the server is away. */
function unexplained({ status }: Received): ApiProblem {
  return new ApiProblem(status, {
    detail: `The server, or a proxy before it, answered ${status} without a reason.`,
  });
}

/** @returns undefined where it is no JSON */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The path of a file keeps its slashes. */
function fillPath(template: string, values: object = {}): string {
  const given = new Map(Object.entries(values));
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(given.get(name));
    if (name === 'filePath') return value.split('/').map(encodeURIComponent).join('/');
    return encodeURIComponent(value);
  });
}

/** Parameter files of a path are told apart by their scope value. */
function keyOf(path: string, query: { scopeValue?: unknown } = {}): string {
  return path + queryOf({ scopeValue: query.scopeValue });
}

function queryOf(values: object = {}): string {
  const given = Object.entries(values).flatMap(([name, value]) =>
    [value].flat().map((each): [string, unknown] => [name, each]),
  );
  const said = given.filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(said.map(([name, value]): [string, string] => [name, String(value)]));
  return said.length === 0 ? '' : `?${query}`;
}

function bodyOf({ json, form, bytes }: AnyGiven): { type?: string; content?: Uint8Array } {
  if (json !== undefined) return { type: 'application/json', content: Buffer.from(JSON.stringify(json)) };
  if (form !== undefined) return encodeForm(form);
  return bytes ?? {};
}

/** Makes one list of the texts of several. */
function joinLists(texts: readonly string[]): string {
  const inner = texts.map((text) => text.trim().slice(1, -1).trim()).filter((text) => text !== '');
  return `[${inner.join(',')}]`;
}
