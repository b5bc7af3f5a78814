/**
 * Large bodies, sent piece by piece as fast as they are taken. Written at once, one would be encrypted into memory anew
 * for every connection, whether anybody reads it or not.
 */

import { Readable } from 'node:stream';
import { SECOND } from '../lib/clock.ts';
import { KIB_A_SECOND, MinimumRate } from '../lib/minimum-rate.ts';
import type { PieceByPiece } from './answer.ts';
import type { Exchange } from './exchange.ts';

/** A body of up to so many bytes is handed to the connection at once. */
export const WHOLE = 64 * 1024;

/** An answer may wait so many milliseconds without a byte being taken. */
const PATIENCE = 60 * SECOND;
const LOOKS = 4;

/** Makes views of a Buffer that all connections share. */
export function piecesOf(bytes: Buffer): PieceByPiece {
  return { length: bytes.length, open: () => readPieces(bytes) };
}

function readPieces(bytes: Buffer): Readable {
  let at = 0;
  return new Readable({
    highWaterMark: WHOLE,
    read() {
      const piece = bytes.subarray(at, at + WHOLE);
      at += piece.length;
      this.push(piece.length === 0 ? null : piece);
    },
  });
}

/**
 * Opens a body for whoever pipes it into the response. The response is destroyed when the other side takes nothing for a
 * minute.
 * @param patience milliseconds, for tests
 */
export function openPieces(ctx: Exchange, body: PieceByPiece, patience = PATIENCE): Readable {
  const { res } = ctx;
  const source = countBytes(ctx, body.open());
  let looks = 0;
  // One look is not enough: after a pause of this process it may come before what was taken meanwhile is known.
  const timer = setTimeout(() => {
    looks += 1;
    // Our disk may be slow, or an earlier answer on the same connection may hold this one up.
    if (isHeldUp(res) && looks >= LOOKS) res.destroy();
    else timer.refresh();
  }, patience / LOOKS).unref();
  whenPiped(ctx, source, () => {
    looks = 0;
    timer.refresh();
  });
  source.once('close', () => clearTimeout(timer));
  return source;
}

/**
 * Watches a body that is still being made, such as an answer of git, for whoever pipes it into the response. The response is
 * destroyed when the other side takes less than 1 KiB a second over 30 s. Time in which nothing is there to be taken does
 * not count.
 * @param second milliseconds, for tests
 */
export function watchMade(ctx: Exchange, source: Readable, second = SECOND): Readable {
  const { res } = ctx;
  const rate = new MinimumRate(KIB_A_SECOND);
  const timer = setInterval(() => {
    if (!isHeldUp(res)) rate.count(KIB_A_SECOND.bytes);
    if (rate.tick()) res.destroy();
  }, second).unref();
  whenPiped(ctx, source, ({ length }) => rate.count(length));
  res.once('close', () => clearInterval(timer));
  return countBytes(ctx, source);
}

/** Whether the other side has yet to take what was given to the connection. */
const isHeldUp = ({ socket, writableNeedDrain, writableEnded }: Exchange['res']) =>
  socket !== null && (writableNeedDrain || writableEnded);

/** Notes how much of a stream has gone to the response. The log line waits for its end. */
function countBytes(ctx: Exchange, source: Readable): Readable {
  const { state } = ctx;
  state.streamedBytes = 0;
  whenPiped(ctx, source, (chunk) => {
    state.streamedBytes = (state.streamedBytes ?? 0) + chunk.length;
  });
  // The stream may fail before it is piped. Whoever pipes it is told.
  source.on('error', () => undefined);
  return source;
}

/** A listener any earlier would make the stream flow before the response takes it. */
function whenPiped({ res }: Exchange, source: Readable, onData: (chunk: Buffer) => void): void {
  res.once('pipe', () => source.on('data', onData));
}
