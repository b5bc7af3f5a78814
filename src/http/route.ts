/**
 * A route is a datum: method, path, who may call it, what goes in and out, and a handler that takes parsed
 * values and returns an answer. Validation, access, the OpenAPI document and the access tests are made from it.
 */

import type { X509Certificate } from 'node:crypto';
import { type ZodType, z } from 'zod';
import type { Awaitable } from '../lib/awaitable.ts';
import type { HawserError } from '../lib/errors.ts';
import type { Access, AnySubject, Subject } from '../security/access.ts';
import type { Actor } from '../security/audit.ts';
import type { CertificateDescription } from '../security/certificates.ts';
import type { Principal } from '../security/principal.ts';
import type { Answer } from './answer.ts';
import type { ProblemName } from './problem-codes.ts';
import type { Upload } from './uploads.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A body of one JSON document. Admin bodies are strict objects; node bodies ignore what they do not know. */
export interface JsonBody<B> {
  kind: 'json';
  schema: ZodType<B>;
  /** A request without any body counts as one with `{}`. */
  isOptional?: true;
}

/** A body of one JSON document that the handler reads: it may be so large that a thread has to do it. */
export interface JsonBytesBody<B> {
  kind: 'jsonBytes';
  schema: ZodType<B>;
  /** What the document is to be, for those who read the description of the interface. */
  described: ZodType;
  /** Which of the size limits holds. */
  limit: 'reportBytes';
}

/** A multipart form of these fields and files. */
export interface UploadBody<B> {
  kind: 'upload';
  /** The form's fields, all of them text. */
  schema: ZodType<B>;
  fields: readonly string[];
  /** The name of the one file that the form must have in place of `files` and `archive`, and the most it may be. */
  file?: { name: string; bytes: number };
}

/** Bytes that the handler takes as they come; `Content-Encoding: gzip` is undone. */
export interface StreamBody<B> {
  kind: 'stream';
  schema: ZodType<B>;
  mediaType: string;
  /** The most there may be of it, unpacked. */
  bytes: number;
}

/** One document of any of these media types, within the limit for JSON; the handler reads and judges it. */
export interface DocumentBody<B> {
  kind: 'document';
  schema: ZodType<B>;
  mediaTypes: readonly string[];
}

/** An HTML form without files. Posted from a page of another site it is refused, with a session or without. */
export interface FormBody<B> {
  kind: 'form';
  schema: ZodType<B>;
}

/** A document as it came, with its media type in lower case and without parameters. */
export const RawDocument = z.object({ mediaType: z.string(), bytes: z.instanceof(Buffer) });

/** A JSON document as it came. */
export const RawJson = z.instanceof(Buffer);

export type BodySpec<B> =
  | JsonBody<B>
  | JsonBytesBody<B>
  | UploadBody<B>
  | StreamBody<B>
  | DocumentBody<B>
  | FormBody<B>;

/** An answer as documented: a schema of its JSON, or the media type of its bytes, or neither for no body. */
export interface AnswerSpec {
  description: string;
  schema?: ZodType;
  mediaType?: string;
  /** Headers beside those that follow from the kind of route, and what each holds; always sent. */
  headers?: Readonly<Record<string, string>>;
}

/** Facts about the request that a few handlers need beside its parsed parts. */
export interface RequestFacts {
  requestId: string;
  /** The client's address, for the log and the sign-in throttle. */
  address: string;
  /** The caller as the audit trail names them. */
  actor: Actor;
  /** The connection's client certificate, trusted or not. */
  certificate: PeerCertificateFacts | null;
  /** Whether a certificate that came in a body, its issuers behind it, chains to the configured node CA. */
  wouldChain(chain: readonly X509Certificate[]): boolean;
  /** Epoch milliseconds at which the call is carried out, which is when its body is there. */
  now: number;
  /** Whether a GET is carried out for its headers alone (HEAD), which must change nothing. */
  isHead: boolean;
  /** A header by its lower-case name. */
  header(name: string): string | undefined;
  /** Aborted when the exchange is over: answered in full, or the client gone before that. */
  over: AbortSignal;
}

export interface PeerCertificateFacts extends CertificateDescription {
  /** Whether the configured node CA and CRL accept it; true where none is configured. */
  isTrusted: boolean;
}

export type Input<A extends Access, P, Q, B> = Subject<A> & {
  params: P;
  query: Q;
  body: B;
  files: Upload['files'];
  /** Null unless the route's form names its one file. */
  file: Upload['file'];
  facts: RequestFacts;
};

interface RouteDescription {
  /**
   * The operationId in the OpenAPI document, from which clients name their methods: lower camel case, verb first, such
   * as `listNodes`. Unique, and never changed.
   */
  id: string;
  method: Method;
  /** As in routes.txt: `/api/v1/nodes/{nodeId}`, without a trailing slash; `{*path}` takes the rest. */
  path: string;
  summary: string;
  description?: string;
  tags: readonly string[];
  answers: Readonly<Record<number, AnswerSpec>>;
  /** Problem codes beside those that every route of its kind can answer. */
  problems?: readonly ProblemName[];
  /** Git itself calls it: a token may come by HTTP Basic, and git is told of problems in plain text. */
  caller?: 'git';
  /** A page: what a browser is shown of a failure, in place of problem details; the caller as far as known by then. */
  showFailure?(error: HawserError, principal: Principal | null): Answer;
  /** Level of the log line of a success; default: debug for GET, info for the rest. */
  logLevel?: 'debug';
  /** Path of the GET whose ETag `If-Match` on this route means; default: the route's own path. */
  represents?: string;
  /**
   * Refuses a caller who may use the route but not now, such as one who floods it; before the body is read.
   * @param bodyBytes as the headers say; 0 where they do not
   */
  admit?(subject: AnySubject, now: number, bodyBytes: number): void;
}

export interface RouteSpec<A extends Access, P, Q, B> extends RouteDescription {
  access: A;
  params?: ZodType<P>;
  query?: ZodType<Q>;
  body?: BodySpec<B>;
  handle(input: Input<A, P, Q, B>): Awaitable<Answer>;
}

/** A route whose types have been checked and are no longer needed. */
export interface Route extends RouteDescription {
  access: Access;
  params?: ZodType;
  query?: ZodType;
  body?: BodySpec<unknown>;
  handle(
    input: AnySubject & Record<'params' | 'query' | 'body' | 'files' | 'file' | 'facts', unknown>,
  ): Awaitable<Answer>;
}

type PathParams = Record<string, string>;

/**
 * Declares a route.
 * @throws Error when the access is missing (plain JavaScript could leave it out) or the path names a node's
 *   own route without `{nodeId}`, or a grant's without `{name}`
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
  return spec as unknown as Route;
}
