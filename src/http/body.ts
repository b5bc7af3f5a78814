/** Request bodies: read under a limit that counts while it streams, then parsed strictly. */

import type { IncomingMessage } from 'node:http';
import { HawserError, invalid, invalidField, tooLarge } from '../lib/errors.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * A JSON text as it came.
 * @param limit bytes
 * @throws HawserError unsupported_media_type, payload_too_large, or validation_failed for what is not there
 */
export async function readJsonBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  // Of nothing there is no wrong type.
  if (request.headers['content-type'] === undefined && !hasBody(request)) throw malformedJson();
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) throw unsupported(['application/json']);
  refuseEncoded(request);
  return readBytes(request, limit);
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
 * @param limit bytes
 * @throws HawserError unsupported_media_type or payload_too_large
 */
export async function readDocument(
  request: IncomingMessage,
  mediaTypes: readonly string[],
  limit: number,
): Promise<{ mediaType: string; bytes: Buffer }> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';', 1);
  const mediaType = type.trim().toLowerCase();
  if (!mediaTypes.includes(mediaType)) throw unsupported(mediaTypes);
  refuseEncoded(request);
  return { mediaType, bytes: await readBytes(request, limit) };
}

/** More than the longest names and passwords take, each character as `%XX%XX%XX`. */
const FORM_BYTES = 32 * 1024;

/**
 * The fields of an HTML form without files (`application/x-www-form-urlencoded`).
 * @throws HawserError unsupported_media_type; payload_too_large; malformed_body for what is not encoded so, in UTF-8;
 *   validation_failed for a field that comes twice
 */
export async function readForm(request: IncomingMessage): Promise<Record<string, string>> {
  const { bytes } = await readDocument(request, ['application/x-www-form-urlencoded'], FORM_BYTES);
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

/**
 * The whole body.
 * @throws HawserError payload_too_large, as soon as the limit is passed; malformed_body when it is cut off
 */
export async function readBytes(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLong = () => tooLarge(`The body is larger than the limit of ${limit} bytes`);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLong();
    // Left early, the iterator must not destroy the request: the answer still has to go out on its socket.
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > limit) throw tooLong();
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    discardBody(request);
    if (error instanceof HawserError) throw error;
    throw new HawserError('invalid', 'malformed_body', 'The body ended too early', { cause: error });
  }
  return Buffer.concat(chunks);
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
