/** What a handler gives back: a status, a body in its final bytes, and the headers that go with it. */

import type { Readable } from 'node:stream';
import { hashInBlocks } from '../lib/hash.ts';
import { Pace } from '../lib/pace.ts';

/** A body that is opened only when it is really sent, once for each answer. */
export interface PieceByPiece {
  /** Bytes. */
  length: number;
  open(): Readable;
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** A stream is destroyed when it cannot be sent to its end, and has no validator but one that is given. */
  body: string | Buffer | Readable | PieceByPiece | null;
  /** A strong validator in its quotes (RFC 9110 8.8.3); a JSON answer to GET gets one from its bytes where absent. */
  etag?: string;
  /** Set on lists: which part of how many this is. */
  page?: { take: number; skip: number; total: number };
}

export const JSON_MEDIA_TYPE = 'application/json; charset=utf-8';
/** Characters of JSON that are turned into bytes at once. */
const PIECE = 64 * 1024;
const JSON_TYPE = { 'Content-Type': JSON_MEDIA_TYPE };

/** @param validator what its ETag says, without quotes */
export function json(value: unknown, validator?: string): Answer {
  const body = JSON.stringify(value);
  return validator === undefined
    ? { status: 200, headers: JSON_TYPE, body }
    : { status: 200, headers: JSON_TYPE, body, etag: `"${validator}"` };
}

/** As `json`, of an object whose last member is a list that may be long: written out in steps. */
export async function jsonWithList(
  head: Readonly<Record<string, unknown>>,
  name: string,
  items: Iterable<unknown>,
): Promise<Answer> {
  const pace = new Pace();
  const pieces: Buffer[] = [];
  let text = `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(name)}:[`;
  let separator = '';
  for (const item of items) {
    text += separator + JSON.stringify(item);
    separator = ',';
    if (text.length < PIECE) continue;
    pieces.push(Buffer.from(text));
    text = '';
    if (pace.isDue) await pace.rest();
  }
  pieces.push(Buffer.from(`${text}]}`));
  const digest = await hashInBlocks('sha256', ...pieces);
  return { status: 200, headers: JSON_TYPE, body: Buffer.concat(pieces), etag: `"${digest.slice(0, 40)}"` };
}

/** JSON that is written out already, because `JSON.stringify` would change its numbers. */
export function writtenJson(body: string | Buffer): Answer {
  return { status: 200, headers: JSON_TYPE, body };
}

/** 201 with the address of what was made. */
export function created(location: string, value: unknown): Answer {
  return { status: 201, headers: { ...JSON_TYPE, Location: location }, body: JSON.stringify(value) };
}

/** To a GET whose caller holds what there is, where that is known before the answer is made. */
export function notModified(validator: string): Answer {
  return { status: 304, headers: {}, body: null, etag: `"${validator}"` };
}

export function noContent(): Answer {
  return { status: 204, headers: {}, body: null };
}

/** One page of a list; `total` counts all that match. */
export function page(
  items: readonly unknown[],
  total: number,
  { take, skip }: { take: number; skip: number },
): Answer {
  return { status: 200, headers: JSON_TYPE, body: JSON.stringify(items), page: { take, skip, total } };
}

/**
 * Bytes with their media type; no browser runs what somebody uploaded: it is saved, or shown without any rights.
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

/** After a form: the browser gets this page, and to load that anew sends nothing twice (RFC 9110 15.4.4). */
export function seeOther(location: string, headers: Record<string, string> = {}): Answer {
  return { status: 303, headers: { Location: location, ...headers }, body: null };
}

/** Bytes that are still in the making; never to be stored by anybody on the way. */
export function streamed(body: Readable, mediaType: string): Answer {
  return { status: 200, headers: { 'Content-Type': mediaType, 'Cache-Control': UNCACHED }, body };
}

const UNCACHED = 'no-cache, max-age=0, must-revalidate';
