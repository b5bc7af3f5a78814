/** Reads a body as a stream that the route handles itself, such as a request of git. */

import type { IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { SECOND } from '../lib/clock.ts';
import { HawserError, invalid, overLimit, tooLarge } from '../lib/errors.ts';
import { KIB_A_SECOND, MinimumRate } from '../lib/minimum-rate.ts';
import { discardBody } from './metered-body.ts';
import { unsupported } from './multipart.ts';
import type { StreamBody } from './route.ts';

const TOO_SLOW = 'Less than 1 KiB of the request came per second; send it again, faster';

/**
 * Destroying the stream leaves the request's connection alone: what is left of the body is taken off the wire, so that the
 * answer can be read. The stream fails with `payload_too_large`, `malformed_body`, or `too_slow` if less than 1 KiB a second
 * comes over 30 s while somebody wants it.
 * @param second milliseconds, for tests
 * @throws HawserError unsupported_media_type
 */
export function openBody(
  request: IncomingMessage,
  { mediaType, bytes }: StreamBody<unknown>,
  over: AbortSignal,
  second = SECOND,
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
  requirePace(request, counted, second);
  over.addEventListener('abort', () => counted.destroy(), { once: true });
  // pipeline() would destroy the request, and the connection with it.
  request.pipe(entry);
  return counted;
}

/** Time in which the body is not wanted, as while a push waits for its turn, does not count. */
function requirePace(request: IncomingMessage, counted: Transform, second: number): void {
  const rate = new MinimumRate(KIB_A_SECOND);
  const timer = setInterval(() => {
    const isWanted = !request.isPaused() && counted.readableLength === 0;
    if (!isWanted) rate.count(KIB_A_SECOND.bytes);
    if (rate.tick()) counted.destroy(new HawserError('timed_out', 'too_slow', TOO_SLOW));
  }, second).unref();
  request.on('data', ({ length }: Buffer) => rate.count(length));
  for (const end of ['end', 'close'] as const) request.once(end, () => clearInterval(timer));
  counted.once('close', () => clearInterval(timer));
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
