/**
 * A route is a datum: method, path, who may call it, what goes in and out, and a handler that takes parsed
 * values and returns an answer. Validation, access, the OpenAPI document and the access tests are made from it.
 */

import { type ZodType, z } from 'zod';
import type { Awaitable } from '../lib/awaitable.ts';
import type { HawserError } from '../lib/errors.ts';
import type { Access, AnySubject, Subject } from '../security/access.ts';
import type { Principal } from '../security/principal.ts';
import type { Answer } from './answer.ts';
import type { FactSource, Facts } from './facts.ts';
import type { ProblemName } from './problem-codes.ts';
import { listQuery } from './query.ts';
import type { Upload } from './uploads.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The highest limit in bytes that a route may have for its JSON. */
export const LARGEST_JSON = 8 * 1024 * 1024;

/** One JSON document. Schemas of admin routes refuse unknown members; those of node routes ignore them. */
export interface JsonBody<B> {
  kind: 'json';
  schema: ZodType<B>;
  /** A request without any body counts as one with `{}`. */
  isOptional?: true;
  /** A limit in bytes of at most `LARGEST_JSON`, in place of the lower one for all JSON. */
  bytes?: number;
  /**
   * The route takes a file of CSV as well. Gives the document that it stands for, which the schema then judges.
   * @throws HawserError invalid
   */
  ofCsv?(text: string): Promise<unknown>;
  /**
   * Refuses a caller who may not do what the body asks for. It is called before the schema judges the body, so that 403
   * goes before 400.
   * @param body as it came; undefined where it cannot be read
   * @throws HawserError forbidden
   */
  refuse?(body: unknown, principal: Principal | null): void;
}

/** One JSON document that the handler parses, because it may be so large that a thread has to do it. */
export interface JsonBytesBody<B> {
  kind: 'jsonBytes';
  schema: ZodType<B>;
  /** The schema of the document for the OpenAPI document. */
  described: ZodType;
  /** The name of the size limit. */
  limit: 'reportBytes';
}

/** A multipart form of these fields and files. */
export interface UploadBody<B> {
  kind: 'upload';
  /** The schema of the form's fields, which are all text. */
  schema: ZodType<B>;
  fields: readonly string[];
  /** The one file that the form must have in place of `files` and `archive`, and its limit in bytes. */
  file?: { name: string; bytes: number };
  /** The route takes a JSON document of this schema as well, which makes something without an upload. */
  json?: ZodType<B>;
  /** The route takes one document of any other media type as well, of at most so many bytes. It is the `file` then. */
  document?: { bytes: number };
}

/** One file as it comes, whatever its media type is said to be. It keeps to the limits of uploads, and takes its turn. */
export interface FileBody<B> {
  kind: 'file';
  schema: ZodType<B>;
}

/** Bytes that the handler takes as they come. `Content-Encoding: gzip` is undone. */
export interface StreamBody<B> {
  kind: 'stream';
  schema: ZodType<B>;
  mediaType: string;
  /** The limit in bytes, after unpacking. */
  bytes: number;
}

/** One document of any of these media types, within the limit for JSON. The handler parses it. */
export interface DocumentBody<B> {
  kind: 'document';
  schema: ZodType<B>;
  mediaTypes: readonly string[];
}

/** An HTML form without files. It is refused from a page of another site, with a session or without. */
export interface FormBody<B> {
  kind: 'form';
  schema: ZodType<B>;
}

/** A document that is not parsed, with its media type in lower case and without parameters. */
export const RawDocument = z.object({ mediaType: z.string(), bytes: z.instanceof(Buffer) });

/** A JSON document that is not parsed. */
export const RawJson = z.instanceof(Buffer);

/** The bytes of a file. */
export const RawFile = z.instanceof(Buffer);

export type BodySpec<B> =
  | JsonBody<B>
  | JsonBytesBody<B>
  | UploadBody<B>
  | FileBody<B>
  | StreamBody<B>
  | DocumentBody<B>
  | FormBody<B>;

/** An answer as documented: with a schema of its JSON, with the media type of its bytes, or without a body. */
export interface AnswerSpec {
  description: string;
  schema?: ZodType;
  mediaType?: string;
  /** What `Accept` may ask for in place of JSON: bytes of these media types. */
  alternatives?: readonly string[];
  /** Headers that are always sent beside those of every such route, with what each holds. */
  headers?: Readonly<Record<string, string>>;
}

/** A call whose answer is on its way. */
export type AnsweredCall = FactSource;

/** Facts about the request that a few handlers need beside its parsed parts. */
export type RequestFacts = Pick<Facts, keyof Facts>;

export type Input<A extends Access, P, Q, B> = Subject<A> & {
  params: P;
  query: Q;
  body: B;
  files: Upload['files'];
  ignoredFiles: Upload['ignoredFiles'];
  /** Null unless the route's form names its one file, or the body is one document. */
  file: Upload['file'];
  facts: RequestFacts;
};

/**
 * What bounds an answer of bytes, beside the pace at which it must be taken. `user`: the unread answers of a user
 * (`UnreadAnswers`). `node`: the open calls of a node (`LoadShedder`). `git`: the places of a user for pushes and fetches.
 * `shared`: it is short, or the same bytes for all who ask.
 */
export type Bound = 'user' | 'node' | 'git' | 'shared';

interface RouteDescription {
  /**
   * The operationId in the OpenAPI document, from which clients name their methods. It is in lower camel case with the verb
   * first, such as `listNodes`, is unique, and never changes.
   */
  id: string;
  method: Method;
  /** The path as in routes.txt, such as `/api/v1/nodes/{nodeId}`, without a trailing slash. `{*path}` takes the rest. */
  path: string;
  summary: string;
  description?: string;
  tags: readonly string[];
  answers: Readonly<Record<number, AnswerSpec>>;
  /** Problem codes beside those that every route of its kind can answer. */
  problems?: readonly ProblemName[];
  /** Who owns what an answer of bytes holds until it is read. A route with such an answer must say it. */
  bound?: Bound;
  /** Set where git itself calls: a token may come by HTTP Basic, and git is told of problems in plain text. */
  caller?: 'git';
  /** Set for a page: makes what a browser is shown of a failure. The caller is null while not known, the query as it came. */
  showFailure?(error: HawserError, principal: Principal | null, query: string): Answer;
  /** The level of the log line of a success. The default is debug for GET and info for the rest. */
  logLevel?: 'debug';
  /**
   * Set for a list of which all that matches is sent in this media type, if `Accept` asks for it. `take` and `skip` are
   * not looked at then.
   */
  wholeAs?: string;
  /** Set for a GET that waits. Its handler may look once more whether the caller may do this, as that of a change. */
  waits?: true;
  /**
   * Set where the last segment of the path may also be the name of a resource: the path of such a resource. Other methods on the
   * path are about the resource of that name.
   */
  besideNames?: string;
  /** The path of the GET whose ETag `If-Match` on this route means. The default is the route's own path. */
  represents?: string;
  /**
   * Called before the body is read. Refuses a caller who may use the route but not now, such as one who floods it.
   * @param bodyBytes as the headers say; 0 where they do not
   */
  admit?(subject: AnySubject, now: number, bodyBytes: number): void;
  /**
   * Called once the answer is on its way; it must not wait nor throw. The status is that of the response, which is 304
   * where the caller has what the answer holds.
   */
  answered?(call: AnsweredCall, answer: Answer): void;
}

export interface RouteSpec<A extends Access, P, Q, B> extends RouteDescription {
  access: A;
  params?: ZodType<P>;
  query?: ZodType<Q>;
  body?: BodySpec<B>;
  /** Set where the body names a part of what `represents` reads: gives those members of its path and of its query. */
  namedInBody?(body: B): NamedInBody;
  /**
   * Set where the route changes what nodes get, so that it is refused during a freeze. A function tells it of single requests.
   */
  changesNodes?: true | ((request: { query: Q; body: B }) => boolean);
  handle(input: Input<A, P, Q, B>): Awaitable<Answer>;
}

interface NamedInBody {
  params: Record<string, string>;
  query: Record<string, string>;
}

/** A route whose types have been checked and are no longer needed. */
export interface Route extends RouteDescription {
  access: Access;
  params?: ZodType;
  query?: ZodType;
  body?: BodySpec<unknown>;
  namedInBody?(body: unknown): NamedInBody;
  changesNodes?: true | ((request: { query: unknown; body: unknown }) => boolean);
  handle(
    input: AnySubject &
      Record<'params' | 'query' | 'body' | 'files' | 'ignoredFiles' | 'file' | 'facts', unknown>,
  ): Awaitable<Answer>;
}

type PathParams = Record<string, string>;

/**
 * Declares a route. The query of a list, which is a GET that answers with an array, gets the rules of all lists.
 * @throws Error when the access is missing (plain JavaScript could leave it out) or the path names a node's
 *   own route without `{nodeId}`, or a grant's without `{name}`, or an answer of bytes has no bound
 */
export function route<A extends Access, P = PathParams, Q = unknown, B = undefined>(
  spec: RouteSpec<A, P, Q, B>,
): Route {
  const label = `${spec.method} ${spec.path}`;
  const access = (spec as { access?: Access }).access;
  const kind = access?.kind;
  if (kind === undefined) throw new Error(`${label} declares no access`);
  if (kind.startsWith('node:self') && !spec.path.includes('{nodeId}'))
    throw new Error(`${label} names no node`);
  const resource = access?.kind === 'grant' ? `{${access.by ?? 'name'}}` : '';
  if (!spec.path.includes(resource)) throw new Error(`${label} names no resource`);
  if (spec.bound === undefined && (spec.wholeAs !== undefined || Object.values(spec.answers).some(isOfBytes)))
    throw new Error(`${label} answers with bytes and names no bound`);
  const declared = spec as unknown as Route;
  const isList = spec.method === 'GET' && spec.answers[200]?.schema instanceof z.ZodArray;
  return isList ? { ...declared, query: listQuery(declared.query) } : declared;
}

function isOfBytes({ mediaType, alternatives }: AnswerSpec): boolean {
  return mediaType !== undefined || alternatives !== undefined;
}
