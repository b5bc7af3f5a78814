/** The HTTP API as the console uses it: requests, answers, and the problems that the server answers with. */

import { isAttended } from './attention.ts';

/** One fault of a body or of a text: which member, by JSON Pointer, and what is wrong with it. */
export interface FieldProblem {
  /** Null where it is about no member. */
  path: string | null;
  message: string;
  code: string;
  /** Its line in a text; the first line is 1. */
  line?: number | null | undefined;
  column?: number | null | undefined;
  /** Of what is found in a document. */
  severity?: 'Error' | 'Warning' | undefined;
  file?: string | undefined;
}

/** What the API refused, in its own words (RFC 9457). */
export class ApiProblem extends Error {
  /** 0 where no answer came. */
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly FieldProblem[];
  /** The server asks to come again after so many seconds; null where it does not say. */
  readonly retryAfter: number | null;
  /** The whole body, with the members that belong to this code alone. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>, retryAfter: number | null = null) {
    const detail = textOf(body['detail']) ?? textOf(body['title']) ?? `The server answered ${status}.`;
    super(detail);
    this.status = status;
    this.code = textOf(body['code']) ?? `http_${status}`;
    this.detail = detail;
    this.errors = Array.isArray(body['errors']) ? (body['errors'] as FieldProblem[]) : [];
    this.retryAfter = retryAfter;
    this.body = body;
  }

  /** The server, or what stands before it, did not answer. It makes sense to ask again. */
  get isAway(): boolean {
    return this.code === 'unreachable' || this.code === 'http_502' || this.code === 'http_504';
  }
}

export interface Reply<T> {
  data: T;
  status: number;
  /** The number of all entries that the filter meets; null where the answer is no list. */
  total: number | null;
  etag: string | null;
  headers: Headers;
}

export interface GetOptions {
  /** Of what is there already: the answer may be null, which says that nothing changed. */
  etag?: string | null;
  /** The page asks by itself; such requests do not renew the session. */
  isPoll?: boolean;
  accept?: string;
  /** The data is a Blob of the bytes as they were sent, whatever their type. */
  isRaw?: boolean;
  signal?: AbortSignal;
}

export interface SendOptions {
  ifMatch?: string | null;
  /** The Content-Type of a body that is not a JSON value. */
  type?: string;
}

type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export const API = '/api/v1';

/**
 * Reads what stands at a path below /api/v1. Text types are given as text, JSON as its value.
 * @returns null if it is what the given ETag stands for
 * @throws ApiProblem
 */
export async function get<T>(path: string, options: GetOptions = {}): Promise<Reply<T> | null> {
  const headers: Record<string, string> = { Accept: options.accept ?? 'application/json' };
  if (options.etag) headers['If-None-Match'] = options.etag;
  // What follows from time passing, such as the next hour of a chart, is asked by nobody either.
  if (options.isPoll || !isAttended()) headers['X-Hawser-Poll'] = '1';
  const signal = options.signal ?? null;
  // The browser's own cache would answer a 304 as a 200.
  const response = await request(path, { headers, signal, cache: 'no-store' });
  return response.status === 304 ? null : replyOf<T>(response, options.isRaw);
}

/**
 * Does something. A body that is text, a Blob or a form goes as it is; anything else goes as JSON.
 * @throws ApiProblem
 */
export async function send<T = unknown>(
  method: Method,
  path: string,
  body?: unknown,
  options: SendOptions = {},
): Promise<Reply<T>> {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (options.ifMatch) headers['If-Match'] = options.ifMatch;
  const isRaw = typeof body === 'string' || body instanceof Blob || body instanceof FormData;
  if (options.type !== undefined) headers['Content-Type'] = options.type;
  else if (body !== undefined && !isRaw) headers['Content-Type'] = 'application/json';
  const raw = isRaw ? (body as BodyInit) : JSON.stringify(body);
  return replyOf<T>(await request(path, { method, headers, ...(body === undefined ? {} : { body: raw }) }));
}

async function request(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(API + path, { ...init, credentials: 'same-origin', redirect: 'error' });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiProblem(0, { code: 'unreachable', detail: 'The server does not answer.' });
  }
}

async function replyOf<T>(response: Response, isRaw = false): Promise<Reply<T>> {
  if (!response.ok) throw await problemOf(response);
  const { headers, status } = response;
  const total = headers.get('X-Total-Count');
  return {
    data: (await contentOf(response, isRaw)) as T,
    status,
    total: total === null ? null : Number(total),
    etag: headers.get('ETag'),
    headers,
  };
}

async function contentOf(response: Response, isRaw: boolean): Promise<unknown> {
  if (response.status === 204) return null;
  const isJson = /\bjson\b/.test(response.headers.get('Content-Type') ?? '');
  try {
    if (isRaw) return await response.blob();
    const text = await response.text();
    return isJson ? JSON.parse(text, keepExact) : text;
  } catch {
    throw new ApiProblem(0, { code: 'unreachable', detail: 'The answer of the server broke off.' });
  }
}

interface RawJson {
  rawJSON?: (text: string) => unknown;
}

/**
 * Values of parameters have numbers that JavaScript would write otherwise, such as 1.0 or those of 20 digits. They become
 * objects that JSON.stringify writes as they came. Browsers that cannot do so yet show what JavaScript makes of them.
 */
function keepExact(_name: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value;
  return (JSON as RawJson).rawJSON?.(source) ?? value;
}

/**
 * Opens an answer that is read piece by piece, such as an export.
 * @throws ApiProblem
 */
export async function open(path: string, accept: string, signal: AbortSignal): Promise<Response> {
  const response = await request(path, { headers: { Accept: accept }, signal, cache: 'no-store' });
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function problemOf(response: Response): Promise<ApiProblem> {
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
  const retryAfter = Number.isFinite(seconds) ? seconds : null;
  const body: unknown = await response.json().catch(() => null);
  const isProblem = typeof body === 'object' && body !== null;
  return new ApiProblem(response.status, isProblem ? (body as Record<string, unknown>) : {}, retryAfter);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
