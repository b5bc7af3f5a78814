/** What a handler answers with, and the validators of conditional requests (RFC 9110 section 13). */

import type { Readable } from 'node:stream';
import { HawserError } from '../lib/errors.ts';
import { hashInBlocks, sha256Base64 } from '../lib/hash.ts';
import { Pace } from '../lib/pace.ts';

/** A body that is opened only when it is really sent, once for each answer. */
export interface PieceByPiece {
  /** The length in bytes; null where it is known only at the end. */
  length: number | null;
  open(): Readable;
}

/** Which part of the whole list a page is. */
interface PagePlace {
  take: number;
  skip: number;
  /** The members of the query that name the next page; default: a higher `skip`. */
  next?: Record<string, string> | undefined;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** A stream is destroyed when it cannot be sent to its end. It has no validator unless `etag` gives one. */
  body: string | Buffer | Readable | PieceByPiece | null;
  /** A strong validator in its quotes (RFC 9110 8.8.3). Without it, JSON that answers a GET gets one from its bytes. */
  etag?: string;
  /** Only lists have it. It says which part of the whole list this is. */
  page?: PagePlace & { total: number };
}

export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';
/** So many characters of JSON are turned into bytes at once. */
const PIECE = 64 * 1024;
const JSON_TYPE = { 'Content-Type': JSON_MEDIA_TYPE };

/** @param validator what its ETag says, without quotes */
export function json(value: unknown, validator?: string): Answer {
  const body = JSON.stringify(value);
  return validator === undefined
    ? { status: 200, headers: JSON_TYPE, body }
    : { status: 200, headers: JSON_TYPE, body, etag: `"${validator}"` };
}

/** Answers with an object whose last member is a list. The list may be long, so it is written out in steps. */
export async function jsonWithList(
  head: Readonly<Record<string, unknown>>,
  name: string,
  items: Iterable<unknown>,
): Promise<Answer> {
  const opening = `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(name)}:[`;
  const pieces = await writeList(opening, items, ']}');
  const digest = await hashInBlocks('sha256', ...pieces);
  return { status: 200, headers: JSON_TYPE, body: Buffer.concat(pieces), etag: `"${digest.slice(0, 40)}"` };
}

async function writeList(opening: string, items: Iterable<unknown>, closing: string): Promise<Buffer[]> {
  const pace = new Pace();
  const pieces: Buffer[] = [];
  let text = opening;
  let separator = '';
  for (const item of items) {
    text += separator + JSON.stringify(item);
    separator = ',';
    if (text.length < PIECE) continue;
    pieces.push(Buffer.from(text));
    text = '';
    if (pace.isDue) await pace.rest();
  }
  pieces.push(Buffer.from(text + closing));
  return pieces;
}

/** Ends the connection with this answer (RFC 9112 9.6), so that the client shakes hands anew. */
export function lastOnConnection(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, Connection: 'close' } };
}

/** Answers with JSON that is text already, because `JSON.stringify` would change its numbers. */
export function writtenJson(body: string | Buffer): Answer {
  return { status: 200, headers: JSON_TYPE, body };
}

/** Answers 201 with the address of what was made. */
export function created(location: string, value: unknown): Answer {
  return { status: 201, headers: { ...JSON_TYPE, Location: location }, body: JSON.stringify(value) };
}

/** Answers 304 to a GET whose caller already has the content, where that is known before the content is read. */
export function notModified(validator: string, headers: Record<string, string> = {}): Answer {
  return { status: 304, headers, body: null, etag: `"${validator}"` };
}

export function noContent(): Answer {
  return { status: 204, headers: {}, body: null };
}

/** Answers with one page of a list. `total` counts all items that match. */
export function page(items: readonly unknown[], total: number, { take, skip, next }: PagePlace): Answer {
  return { status: 200, headers: JSON_TYPE, body: JSON.stringify(items), page: { take, skip, next, total } };
}

/** One JSON document in each line. The media type has no parameters here, because the Accept header names it so. */
export const JSON_LINES = 'application/x-ndjson';

/** Gives the same page as `page`, with one item in each line. */
export function pageOfLines(
  items: readonly unknown[],
  total: number,
  { take, skip, next }: PagePlace,
): Answer {
  // Koa would take the media type from an empty text.
  const body = Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
  return { status: 200, headers: { 'Content-Type': JSON_LINES }, body, page: { take, skip, next, total } };
}

/** As `page`, for a page of any length, which is written out in steps. */
export async function longPage(
  items: Iterable<unknown>,
  total: number,
  { take, skip }: { take: number; skip: number },
): Promise<Answer> {
  const body = Buffer.concat(await writeList('[', items, ']'));
  return { status: 200, headers: JSON_TYPE, body, page: { take, skip, total } };
}

/**
 * Answers with bytes and their media type. No browser runs what somebody uploaded: it is saved, or shown without rights.
 * @param validator what its ETag says, without quotes
 */
export function download(
  body: Buffer | PieceByPiece,
  mediaType: string,
  validator: string,
  headers: Record<string, string> = {},
): Answer {
  return {
    status: 200,
    headers: {
      'Content-Type': mediaType,
      'Content-Disposition': 'attachment',
      'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      ...headers,
    },
    body,
    etag: `"${validator}"`,
  };
}

export function redirect(location: string): Answer {
  return { status: 302, headers: { Location: location }, body: null };
}

/** Answers a form: the browser then gets this page, and loading it anew sends nothing twice (RFC 9110 15.4.4). */
export function seeOther(location: string, headers: Record<string, string> = {}): Answer {
  return { status: 303, headers: { Location: location, ...headers }, body: null };
}

const NEVER_STORED = 'no-cache, max-age=0, must-revalidate';

/** The header of `streamed`, as the API description names it. */
export const STREAMED = { 'Cache-Control': `\`${NEVER_STORED}\`` };

/** Answers with bytes that are still being made. Nobody on the way may store them. */
export function streamed(body: Readable, mediaType: string): Answer {
  const headers = { 'Content-Type': mediaType, 'Cache-Control': NEVER_STORED };
  return { status: 200, headers, body };
}

/**
 * The ETag of an answer: its own, or else one made from its bytes. What is never cached has none. That of a page of a list
 * stands for the list's total too, which is sent in a header: pages may be equal while the list grows.
 */
export function etagOf(answer: Answer): string | null {
  if (answer.etag !== undefined) return answer.etag;
  if (answer.status !== 200 || answer.body === null) return null;
  if (answer.headers['Cache-Control'] === 'no-store') return null;
  if (typeof answer.body !== 'string' && !Buffer.isBuffer(answer.body)) return null;
  const total = answer.page === undefined ? '' : `${answer.page.total}-`;
  return `"${total}${sha256Base64(answer.body).slice(0, 27).replaceAll('+', '-').replaceAll('/', '_')}"`;
}

/** Whether the header's list names the ETag. Weak validators count as equal (RFC 9110 8.8.3.2). */
export function namesValidator(header: string, etag: string): boolean {
  // The steady poll sends exactly the one validator it was given.
  if (header === etag) return true;
  if (namesAny(header)) return true;
  return header.split(',').some((entry) => entry.trim().replace(/^W\//, '') === etag);
}

/** Whether the header is `*`, which means anything, as long as it exists. */
export function namesAny(header: string): boolean {
  return header.trim() === '*';
}

/** What an address holds now. Null means nothing. */
export type Current = { etag: string | null } | null;

/**
 * If-Match compares strongly, so a weak validator never matches.
 * @throws HawserError precondition_failed when the header does not name what is there
 */
export function requireMatch(header: string, current: Current): void {
  const names = (etag: string) => header.split(',').some((entry) => entry.trim() === etag);
  if (current !== null && (namesAny(header) || (current.etag !== null && names(current.etag)))) return;
  const message = 'The resource has changed since it was read; read it again';
  throw new HawserError('precondition_failed', 'precondition_failed', message);
}
