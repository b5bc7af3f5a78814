/** Takes a stream in chunk by chunk, and leaves it standing in between, so that somebody else can read what follows. */

import type { Readable } from 'node:stream';
import { clientGone, refuseGone } from '../../lib/client-gone.ts';

const NEVER = new AbortController().signal;
const MOVEMENTS = ['readable', 'end', 'error', 'close'] as const;

/**
 * Takes all that has come. It asks for no number of bytes: a stream that has fewer says again and again that it can be
 * read, and nothing else would run meanwhile.
 * @param gone ends the waiting
 * @returns null at the end of the stream
 * @throws HawserError `client_gone`, also if the stream is destroyed; an error of the stream as it is
 */
export async function nextChunk(input: Readable, gone: AbortSignal = NEVER): Promise<Buffer | null> {
  for (;;) {
    refuseGone(gone);
    if (input.errored !== null) throw input.errored;
    const chunk: Buffer | null = input.read();
    if (chunk !== null && chunk.length > 0) return chunk;
    if (input.readableEnded) return null;
    if (input.destroyed) throw clientGone();
    if (chunk === null) await movementOf(input, gone);
  }
}

/**
 * Waits for the next event of a stream. No listener stays: with one for `readable` a stream does not flow, so that nobody
 * could drain a request that was refused.
 */
function movementOf(input: Readable, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const moved = () => {
      for (const name of MOVEMENTS) input.off(name, moved);
      gone.removeEventListener('abort', moved);
      resolve();
    };
    for (const name of MOVEMENTS) input.on(name, moved);
    gone.addEventListener('abort', moved);
  });
}
