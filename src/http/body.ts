/** Request bodies: read under a limit that counts while it streams, then parsed strictly. */

import type { IncomingMessage } from 'node:http';
import { SECOND } from '../lib/clock.ts';
import { HawserError, invalid, invalidField, tooLarge } from '../lib/errors.ts';
import type { BodyShare } from './body-budget.ts';
import { ByteCollector } from './byte-collector.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
/**
 * A JSON text as it came.
 * @throws HawserError unsupported_media_type, validation_failed for what is not there, and what `readBytes` throws
 */
export async function readJsonBytes(request: IncomingMessage, reading: Reading): Promise<Buffer> {
  // Of nothing there is no wrong type.
  if (request.headers['content-type'] === undefined && !hasBody(request)) throw malformedJson();
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) throw unsupported(['application/json']);
  refuseEncoded(request);
  return readBytes(request, reading);
}

/** @throws HawserError validation_failed, in it `malformed_json`, for what is no UTF-8 */
export function decodeJson(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes);
  } catch {
    throw malformedJson();
  }
}

/** Whether there is any, or may be (RFC 9112 6.3). */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

/** @throws HawserError validation_failed, in it `malformed_json` */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformedJson();
  }
}

const malformedJson = () => invalidField('', 'The body is not JSON in UTF-8', 'malformed_json');

/**
 * A document of any of these media types, as it came.
 * @throws HawserError unsupported_media_type, and what `readBytes` throws
 */
export async function readDocument(
  request: IncomingMessage,
  mediaTypes: readonly string[],
  reading: Reading,
): Promise<{ mediaType: string; bytes: Buffer }> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';', 1);
  const mediaType = type.trim().toLowerCase();
  if (!mediaTypes.includes(mediaType)) throw unsupported(mediaTypes);
  refuseEncoded(request);
  return { mediaType, bytes: await readBytes(request, reading) };
}

/** More than the longest names and passwords take, each character as `%XX%XX%XX`. */
const FORM_BYTES = 32 * 1024;

/**
 * The fields of an HTML form without files (`application/x-www-form-urlencoded`).
 * @throws HawserError what `readDocument` throws; malformed_body for what is not encoded so, in UTF-8; validation_failed
 *   for a field that comes twice
 */
export async function readForm(
  request: IncomingMessage,
  share: Reading['share'],
): Promise<Record<string, string>> {
  const reading = { limit: FORM_BYTES, share };
  const { bytes } = await readDocument(request, ['application/x-www-form-urlencoded'], reading);
  const pairs = decodeForm(bytes);
  const fields = new Map(pairs);
  if (fields.size < pairs.length) throw invalidField('', 'The form has a field twice');
  return Object.fromEntries(fields);
}

/** Strictly, unlike URLSearchParams: a password in another encoding must not be taken for another password. */
function decodeForm(bytes: Buffer): [string, string][] {
  try {
    const pairs = decodeUtf8(bytes).split('&').filter(Boolean);
    return pairs.map((pair) => {
      const [name = '', ...value] = pair.replaceAll('+', ' ').split('=').map(decodeURIComponent);
      return [name, value.join('=')];
    });
  } catch {
    throw invalid('malformed_body', 'The form is not encoded as UTF-8');
  }
}

/** @throws TypeError for what is no UTF-8 */
function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}

function unsupported(mediaTypes: readonly string[]): HawserError {
  const message = `The body must be ${mediaTypes.join(' or ')}`;
  return new HawserError('unsupported_media_type', 'unsupported_media_type', message);
}

/** A compressed body could grow past every limit after it was counted; none of our clients sends one. */
function refuseEncoded(request: IncomingMessage): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    const message = 'The body must not have a Content-Encoding';
    throw new HawserError('unsupported_media_type', 'unsupported_media_type', message);
  }
}

/** How much of a refused body is still taken off the wire, so that its sender gets to read the answer. */
const DRAIN_BYTES = 64 * 1024 * 1024;

/** A body must keep this up: so much of it in each span of time, or all of it before that. */
export interface Pace {
  /** Bytes in the first span. */
  first: number;
  /** Bytes in each span after that. */
  later: number;
  /** Milliseconds. */
  span: number;
}

/** The first MiB within 30 s, then 1 KiB/s (rights.md section 1). */
export const PACE: Pace = { first: 1024 * 1024, later: 30 * 1024, span: 30 * SECOND };

/**
 * Chunks that a body may come in, and bytes for which there may be one more. Each takes some two microseconds, whatever is
 * in it, and one read from the network may hold ten thousand of them.
 */
const CHUNKS = 4_000;
const BYTES_OF_A_CHUNK = 64;

/** How a body is read: the most bytes it may have, what it holds in memory meanwhile, and how fast it must come. */
export interface Reading {
  limit: number;
  share: Pick<BodyShare, 'reserve'>;
  pace?: Pace;
}

/**
 * The whole body. Read by events rather than by the request's iterator, which makes a promise for each chunk: somebody
 * may send a chunk for each byte.
 * @throws HawserError payload_too_large, as soon as the limit is passed; malformed_body when it is cut off, or comes in
 *   chunks of a byte or two;
 *   body_timeout when it comes too slowly; unavailable where no more memory is to be had for it
 */
export async function readBytes(request: IncomingMessage, reading: Reading): Promise<Buffer> {
  try {
    if (Number(request.headers['content-length'] ?? 0) > reading.limit) throw tooLong(reading.limit);
    return await collect(request, reading);
  } catch (error) {
    if (error !== TOO_MANY_CHUNKS) discardBody(request);
    throw error;
  }
}

const tooLong = (limit: number) => tooLarge(`The body is larger than the limit of ${limit} bytes`);

function collect(request: IncomingMessage, { limit, share, pace = PACE }: Reading): Promise<Buffer> {
  const bytes = new ByteCollector((size) => share.reserve(size));
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearInterval(clock);
      request.off('data', take).off('end', finish).off('close', cutOff).off('error', cutOff);
      act();
    };
    const fail = (error: unknown) => settle(() => reject(error));
    const finish = () => settle(() => resolve(bytes.toBuffer()));
    const cutOff = (cause?: unknown) =>
      fail(new HawserError('invalid', 'malformed_body', 'The body ended too early', { cause }));
    let chunks = 0;
    const take = (chunk: Buffer): void => {
      chunks += 1;
      try {
        if (chunks > CHUNKS + bytes.length / BYTES_OF_A_CHUNK) throw refuseChunks(request);
        if (bytes.length + chunk.length > limit) throw tooLong(limit);
        bytes.append(chunk);
      } catch (error) {
        fail(error);
      }
    };
    let owed = pace.first;
    const clock = setInterval(() => {
      if (bytes.length < owed) fail(tooSlow());
      owed = bytes.length + pace.later;
    }, pace.span);
    if (request.destroyed && !request.readableEnded) cutOff();
    else request.on('data', take).on('end', finish).on('close', cutOff).on('error', cutOff);
  });
}

const TOO_MANY_CHUNKS = invalid('malformed_body', 'The body comes in far too many chunks');

/** Nothing more is read of such a body, not even to be thrown away. */
function refuseChunks(request: IncomingMessage): HawserError {
  request.pause();
  request.socket.pause();
  return TOO_MANY_CHUNKS;
}

function tooSlow(): HawserError {
  const message = 'The body comes too slowly: a MiB, or all of it, within 30 seconds, then 1 KiB a second';
  return new HawserError('timed_out', 'body_timeout', message);
}

/**
 * Takes the rest of a refused body off the wire, unread, so that the connection can serve the next request: Node
 * does that by itself only where nobody has begun to read. One that does not end is cut; one that does not come
 * runs into the server's own request timeout.
 */
export function discardBody(request: IncomingMessage): void {
  let left = DRAIN_BYTES;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
  request.resume();
}
