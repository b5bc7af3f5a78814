/** Reads a body as a stream that the route handles itself, such as a request of git. */

import type { IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { invalid, overLimit, tooLarge } from '../lib/errors.ts';
import { discardBody } from './metered-body.ts';
import { unsupported } from './multipart.ts';
import type { StreamBody } from './route.ts';

/**
 * Destroying the stream leaves the request's connection alone: what is left of the body is taken off the wire,
 * so that the answer can be read. The stream fails with `payload_too_large` or `malformed_body`.
 * @throws HawserError unsupported_media_type
 */
export function openBody(
  request: IncomingMessage,
  { mediaType, bytes }: StreamBody<unknown>,
  over: AbortSignal,
): Readable {
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type !== mediaType) throw unsupported(`The body must be ${mediaType}`);
  const counted = countUpTo(bytes);
  const entry = entryTo(counted, request.headers['content-encoding']);
  request.on('error', () => undefined);
  request.once('close', () => {
    if (!request.complete) counted.destroy(invalid('malformed_body', 'The body ended too early'));
  });
  // It may fail before anybody listens. A later reader learns of it.
  counted.on('error', () => undefined);
  counted.once('close', () => {
    request.unpipe(entry);
    if (!request.readableEnded) discardBody(request);
  });
  over.addEventListener('abort', () => counted.destroy(), { once: true });
  // pipeline() would destroy the request, and the connection with it.
  request.pipe(entry);
  return counted;
}

function countUpTo(limit: number): Transform {
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length;
      if (size > limit) done(tooLarge(`The body is ${overLimit(limit)}`));
      else done(null, chunk);
    },
  });
}

/** The stream into which the body is written. It unpacks the body before it is counted. */
function entryTo(counted: Transform, encoding = 'identity'): Transform {
  if (/^identity$/i.test(encoding)) return counted;
  if (!/^(?:x-)?gzip$/i.test(encoding)) throw unsupported('Of Content-Encodings only gzip is understood');
  const unpack = createGunzip();
  unpack.on('error', () => counted.destroy(invalid('malformed_body', 'The body is not valid gzip')));
  counted.once('close', () => unpack.destroy());
  unpack.pipe(counted);
  return unpack;
}
