/** One request to `git upload-pack`: bytes in, bytes out, never longer than allowed, and what its end means. */

import { pipeline, type Readable, Transform } from 'node:stream';
import { clientGone } from '../lib/client-gone.ts';
import { HawserError, internal } from '../lib/errors.ts';
import { damagedRepository } from './disk-errors.ts';
import type { GitExit, GitProcess } from './git-process.ts';

export interface ExchangeLimits {
  /** Milliseconds within which some byte must move in either direction. */
  stall: number;
  /** Milliseconds from the start to the last byte. */
  total: number;
}

export interface ExchangeOptions {
  /** The client's request, null where there is none. Destroyed once nobody wants any more of it. */
  input: Readable | null;
  /** Goes out ahead of what the process says. */
  preamble: string;
  /** Aborted when the client went away, or has been answered in full. */
  gone: AbortSignal;
  limits: ExchangeLimits;
}

/**
 * Lets the process answer. Resolves once the answer is under way: with its first byte, or with an end in order
 * that came without any. The stream ends with the process; when it is destroyed, the process is ended.
 * @throws HawserError what went wrong before the first byte, while the client can still be told
 */
export async function exchange(process: GitProcess, options: ExchangeOptions): Promise<Readable> {
  const { input, preamble, gone, limits } = options;
  const output = new Answering(process, preamble);
  const fail = (error: HawserError) => void output.destroy(error);
  const onGone = () => fail(clientGone());
  const stall = setTimeout(() => fail(tooSlow('No byte has moved for too long')), limits.stall);
  const total = setTimeout(() => fail(tooSlow('The answer has taken too long')), limits.total);
  gone.addEventListener('abort', onGone);
  output.on('moved', () => stall.refresh());
  output.on('close', () => {
    clearTimeout(stall);
    clearTimeout(total);
    gone.removeEventListener('abort', onGone);
    process.stop();
  });
  const begun = new Promise<void>((resolve, reject) => {
    output.once('begun', resolve);
    output.on('error', reject);
    output.once('close', () => reject(clientGone()));
  });
  if (gone.aborted) onGone();
  // Errors of either side destroy the other, which is all that has to happen.
  pipeline(process.stdout, output, () => undefined);
  if (input === null) process.stdin.end();
  else {
    input.on('data', () => stall.refresh());
    pipeline(input, process.stdin, (error) => {
      // Any other error is the process's own end, which says more by itself.
      if (error instanceof HawserError) fail(error);
    });
  }
  await begun;
  return output;
}

/** What the process says, as far as the client takes it. */
class Answering extends Transform {
  private readonly process: GitProcess;
  private preamble: string;
  private silent = true;

  constructor(process: GitProcess, preamble: string) {
    super();
    this.process = process;
    this.preamble = preamble;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    if (this.silent) {
      this.silent = false;
      this.push(this.preamble);
      this.emit('begun');
    }
    this.emit('moved');
    this.push(chunk);
    done();
  }

  /** Once the process has closed its end: whether that was all it had to say is in how it ended. */
  override _flush(done: (error?: Error | null) => void): void {
    void this.process.ended.then((exit) => {
      const fault = this.faultOf(exit);
      if (fault === null) this.emit('begun');
      done(fault);
    });
  }

  /**
   * Git's protocol marks its own end, and its last words tell the user what went wrong, so what it began and
   * then broke off by itself is handed on whole, as git's own HTTP server does. A killed process had no last words.
   */
  private faultOf(exit: GitExit): HawserError | null {
    if (exit.code === 0) return null;
    if (exit.error || exit.code === null) return internal('internal_error', 'Git broke off', exit.error);
    if (!this.silent) return null;
    const cause = new Error(exit.stderr.trim());
    return isClientFault(exit)
      ? new HawserError('invalid', 'malformed_body', 'This is no request that git understands', { cause })
      : damagedRepository(cause);
  }
}

/** Its words for requests that break the protocol (upload-pack.c, serve.c, pkt-line.c), under LC_ALL=C. */
const CLIENT_FAULT =
  /^fatal: .*(?:protocol error|expected|hung up|not our ref|unknown capability|invalid command|no command|already requesting|[Ii]nvalid (?:deepen|shallow)|mismatched object format|cannot be used together|not negotiated|ambiguous)/m;

export function isClientFault({ stderr }: GitExit): boolean {
  return CLIENT_FAULT.test(stderr);
}

function tooSlow(message: string): HawserError {
  return new HawserError('unavailable', 'git_timeout', message);
}
