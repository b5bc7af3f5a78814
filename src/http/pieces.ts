/**
 * Sends a large body piece by piece, as fast as it is taken: written at once, it would be encrypted into memory anew for
 * every connection, whether anybody reads it or not.
 */

import { pipeline, Readable } from 'node:stream';
import { SECOND } from '../lib/clock.ts';
import type { PieceByPiece } from './answer.ts';
import type { Exchange } from './exchange.ts';

/** Bytes up to which a body is handed to the connection in one go. */
export const WHOLE = 64 * 1024;

/** Milliseconds for which an answer may wait without a byte being taken. */
const PATIENCE = 60 * SECOND;
const LOOKS = 4;

/** Views of a Buffer that all connections share. */
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
 * Both ends are closed when either breaks off, and when the other side takes nothing for a minute; the log line waits for
 * that.
 * @param begin writes the head
 * @param patience milliseconds, for tests
 */
export function sendPieces(ctx: Exchange, body: PieceByPiece, begin: () => void, patience = PATIENCE): void {
  const { res } = ctx;
  const source = body.open();
  let looks = 0;
  // In several looks: after a pause of our own the first comes before what was taken meanwhile is known.
  const timer = setTimeout(() => {
    looks += 1;
    // It may be our disk that takes its time, or an answer before this one on the same connection.
    const isHeldUp = res.socket !== null && (res.writableNeedDrain || res.writableEnded);
    if (isHeldUp && looks >= LOOKS) res.destroy();
    else timer.refresh();
  }, patience / LOOKS).unref();
  source.on('data', () => {
    looks = 0;
    timer.refresh();
  });
  sendStream(ctx, source, begin, () => clearTimeout(timer));
}

/**
 * Does what `sendPieces` does, for a stream that sees to its patience itself.
 * @param onEnd called once it is out or broken off
 */
export function sendStream(
  { state, res }: Exchange,
  source: Readable,
  begin: () => void,
  onEnd: () => void = () => undefined,
): void {
  state.streamedBytes = 0;
  begin();
  source.on('data', (chunk: Buffer) => {
    state.streamedBytes = (state.streamedBytes ?? 0) + chunk.length;
  });
  pipeline(source, res, onEnd);
}
