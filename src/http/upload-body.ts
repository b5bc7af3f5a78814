/** The body of an upload on its way in: read when there is a place for it, and no slower than allowed. */

import type { IncomingMessage } from 'node:http';
import { HawserError } from '../lib/errors.ts';
import { FairQueue } from '../lib/fair-queue.ts';
import { MinimumRate } from '../lib/minimum-rate.ts';
import { malformed } from './multipart-headers.ts';

/** Whose upload it is, and until when somebody waits for its answer. */
export interface Uploader {
  userId: string;
  /** Aborted when the exchange is over, however it ended. */
  over: AbortSignal;
}

/** A kibibyte for each of 30 seconds. */
const SLOWEST = { window: 30, bytes: 30 * 1024 };
const TICK = 1_000;

/** Each upload may fill its whole limit in memory. The others wait unread, which holds their senders back. */
export function uploadPlaces(): FairQueue {
  return new FairQueue({ slots: 4, slotsPerCaller: 2 });
}

/**
 * Hands each chunk to `write`, the next one when that is done, to the end of the body. The request stays whole
 * whatever happens: the answer still has to go out on its socket.
 * @throws HawserError `upload_too_slow`, `malformed_multipart` for a body that is cut off, or what `write` throws
 */
export async function readSteadily(
  request: IncomingMessage,
  write: (chunk: Buffer) => Promise<void>,
): Promise<void> {
  const rate = new MinimumRate(SLOWEST);
  let finish: (fault: unknown) => void = () => undefined;
  const finished = new Promise<unknown>((resolve) => {
    finish = resolve;
  });
  const listeners = {
    data: (chunk: Buffer) => {
      rate.count(chunk.length);
      request.pause();
      write(chunk).then(() => request.resume(), finish);
    },
    end: () => finish(null),
    error: (error: Error) => finish(malformed('it was cut off', error)),
    close: () => finish(malformed('it was cut off')),
  };
  const clock = setInterval(() => rate.tick() && finish(tooSlow()), TICK).unref();
  for (const [event, listener] of Object.entries(listeners)) request.on(event, listener);
  // One that was cut off while it waited says so no more.
  if (request.destroyed && !request.readableEnded) listeners.close();
  const fault = await finished;
  clearInterval(clock);
  for (const [event, listener] of Object.entries(listeners)) request.off(event, listener);
  if (fault !== null) throw fault;
}

function tooSlow(): HawserError {
  return new HawserError('timed_out', 'upload_too_slow', 'Less than 1 KiB of the upload came per second');
}
