/** A request's body on its way to its parser: joined to blocks, within its limit, fast enough, and whole. */

import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Context, Middleware } from 'koa';
import { SECOND } from '../lib/clock.ts';
import { HawserError, invalid } from '../lib/errors.ts';
import { KIB_A_SECOND, MinimumRate } from '../lib/minimum-rate.ts';
import { ByteCollector } from './byte-collector.ts';

/** What a body must keep to. */
export interface BodyRules {
  /** The limit in bytes. */
  limit: number;
  pace: BodyPace;
  /** Makes the error for more bytes than the limit. */
  tooLong(): HawserError;
  /** Makes the error for a body that ends before it is whole. */
  cutOff(cause?: unknown): HawserError;
  /**
   * A body in slices is handed on while it comes. Any other is handed on as one block once all of it is there, and may
   * not come in far more chunks than it can need.
   */
  isInSlices: boolean;
  /** Called for each block of memory before it is made. An error that it throws refuses the body. */
  reserve?(bytes: number): void;
  /** Called with a body that is handed on as one block. An error that it throws refuses the body. */
  check?(whole: Buffer): void;
}

/** How fast a body must come. */
export interface BodyPace {
  /** The time between two calls of `judge` in milliseconds. */
  span: number;
  /** @param received bytes so far; the result is the error for a body that comes too slowly */
  judge(received: number): HawserError | null;
}

/**
 * The first MiB, or all of it, within 30 s, then 1 KiB/s.
 * @param first bytes within the first span; tests give other figures
 * @param later bytes in each span after that
 * @param span milliseconds
 */
export function paceOfWhole(first = 1024 * 1024, later = 30 * 1024, span = 30 * SECOND): BodyPace {
  const message = 'The body comes too slowly: a MiB, or all of it, within 30 seconds, then 1 KiB a second';
  let owed = first;
  return {
    span,
    judge(received) {
      if (received < owed) return new HawserError('timed_out', 'body_timeout', message);
      owed = received + later;
      return null;
    },
  };
}

/** 1 KiB/s over any 30 s. */
export function paceOfUpload(): BodyPace {
  const message = 'Less than 1 KiB of the upload came per second';
  const rate = new MinimumRate(KIB_A_SECOND);
  let counted = 0;
  return {
    span: SECOND,
    judge(received) {
      rate.count(received - counted);
      counted = received;
      return rate.tick() ? new HawserError('timed_out', 'upload_too_slow', message) : null;
    },
  };
}

/**
 * Chunks that a body in one block may come in, and bytes for which there may be one more. Each chunk takes some two
 * microseconds, whatever is in it, and one read from the network may hold ten thousand of them.
 */
const CHUNKS = 4_000;
const BYTES_OF_A_CHUNK = 64;

/** The bytes that are handed on in one turn of the event loop. The worst form keeps formidable busy for 6 ms with them. */
const SLICE = 16 * 1024;

/**
 * Stands in for the request where koa-body reads. The parsers beneath koa-body keep an object for each chunk that they
 * are given, and a sender may make a chunk of each byte, so this copies the chunks into blocks. The stream fails with
 * the `HawserError` of the rule that is broken.
 */
export class MeteredBody extends Readable {
  readonly mediaType: string;
  /** What formidable asks for. Length and encoding are not here, because they are judged before a parser sees the body. */
  readonly headers: Readonly<Record<string, string>>;
  received = 0;
  private readonly request: IncomingMessage;
  private readonly rules: BodyRules;
  private readonly bytes: ByteCollector;
  private readonly clock: NodeJS.Timeout;
  private slices: Buffer = Buffer.alloc(0);
  private chunks = 0;
  private isComplete = false;
  private isHandingOn = false;
  /** Set when a body comes in far too many chunks. The rest of it is not even read to be dropped. */
  private isOverrun = false;

  constructor(request: IncomingMessage, mediaType: string, rules: BodyRules) {
    super();
    this.mediaType = mediaType;
    this.headers = { 'content-type': mediaType, 'transfer-encoding': 'chunked' };
    this.request = request;
    this.rules = rules;
    const announced = rules.isInSlices ? 0 : Number(request.headers['content-length'] ?? 0);
    this.bytes = new ByteCollector((bytes) => rules.reserve?.(bytes), announced);
    this.clock = setInterval(() => this.judgePace(), rules.pace.span).unref();
    // The stream may fail before its parser listens. Whoever waits for its end learns of it.
    this.on('error', () => undefined);
    // A body that was cut off while it waited for its turn does not say so again.
    if (request.destroyed && !request.readableEnded) this.destroy(rules.cutOff());
    else
      request
        .on('data', this.collect)
        .on('end', this.finish)
        .on('close', this.cutOff)
        .on('error', this.cutOff);
  }

  /** The request hands on what comes without being asked. */
  override _read(): void {}

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.clock);
    const { collect, finish, cutOff } = this;
    this.request.off('data', collect).off('end', finish).off('close', cutOff).off('error', cutOff);
    if (!this.isComplete && !this.isOverrun) discardBody(this.request);
    done(error);
  }

  private judgePace(): void {
    const fault = this.rules.pace.judge(this.received);
    if (fault !== null) this.destroy(fault);
  }

  private readonly collect = (chunk: Buffer): void => {
    const { limit, isInSlices, tooLong } = this.rules;
    this.received += chunk.length;
    this.chunks += 1;
    try {
      if (!isInSlices && this.chunks > CHUNKS + this.received / BYTES_OF_A_CHUNK) throw this.refuseChunks();
      if (this.received > limit) throw tooLong();
      this.bytes.append(chunk);
    } catch (error) {
      this.destroy(error as Error);
    }
    if (isInSlices) this.handOn();
  };

  private readonly finish = (): void => {
    this.isComplete = true;
    if (this.rules.isInSlices) {
      this.handOn();
      return;
    }
    const whole = this.bytes.takeAll();
    try {
      this.rules.check?.(whole);
      if (whole.length > 0) this.push(whole);
      this.push(null);
    } catch (error) {
      this.destroy(error as Error);
    }
  };

  private readonly cutOff = (cause?: unknown): void => {
    if (!this.isComplete) this.destroy(this.rules.cutOff(cause));
  };

  private handOn(): void {
    if (this.isHandingOn) return;
    this.isHandingOn = true;
    setImmediate(this.handOnSlice);
  }

  private readonly handOnSlice = (): void => {
    if (this.destroyed) return;
    if (this.slices.length === 0) this.slices = this.bytes.takeAll();
    const slice = this.slices.subarray(0, SLICE);
    this.slices = this.slices.subarray(slice.length);
    if (slice.length > 0) this.push(slice);
    this.isHandingOn = false;
    if (this.slices.length + this.bytes.length > 0) {
      this.request.pause();
      this.handOn();
    } else if (this.isComplete) this.push(null);
    else this.request.resume();
  };

  private refuseChunks(): HawserError {
    this.isOverrun = true;
    this.request.pause();
    this.request.socket.pause();
    return invalid('malformed_body', 'The body comes in far too many chunks');
  }
}

/** The bytes of a refused body that are still read and dropped, so that the sender can read the answer. */
const DRAIN_BYTES = 64 * 1024 * 1024;

/**
 * Takes the rest of a refused body off the wire, unread, so that the connection can serve the next request: Node
 * does that by itself only where nobody has begun to read. A body that does not end is cut; one that does not come
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

/**
 * Has a middleware of koa-body parse a body. It gets what it asks of Koa's context: to derive that from the real one, or to
 * wait by `finished` of node:stream, would take longer than all else about a small body.
 * @returns what it makes of the body
 * @throws HawserError of the rule that the body breaks; else what the parser throws
 */
export async function parseBody(parse: Middleware, body: MeteredBody): Promise<unknown> {
  const request = { body: undefined };
  const is = (types: readonly string[]) => types.includes(body.mediaType);
  const context = { req: body, request, method: 'POST', is } as unknown as Context;
  const ended = new Promise((resolve, reject) => body.once('end', resolve).once('error', reject));
  try {
    // A form may be understood before its body has come to the end.
    await Promise.all([parse(context, async () => undefined), ended]);
    return request.body;
  } finally {
    body.destroy();
  }
}
