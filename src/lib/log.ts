/**
 * The log consists of JSON lines on stdout. `error` means that someone must act, `warn` that someone should look, `info`
 * tells what the service did for a caller, and `debug` why. No secret is ever passed to it.
 */

import { fstatSync, write, writeSync } from 'node:fs';
import {
  type DestinationStream,
  type LogFn,
  type Logger,
  pino,
  stdSerializers,
  stdTimeFunctions,
} from 'pino';
import { DatabaseAway } from './errors.ts';

export type Log = Logger;

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const STDOUT = 1;
/** pino's number of the level. */
const WARN = 40;

/** The priorities of systemd, as the beginning of a line of this level (sd-daemon(3)). */
const PRIORITIES: Record<string, string> = { error: '<3>', warn: '<4>', info: '<6>', debug: '<7>' };
/** Each line begins with its level, whose name stands here. */
const LEVEL_AT = '{"level":"'.length;

/** @param destination is stdout by default. pino's own destination is not used, because a full disk ends the process */
export function createLog(level: LogLevel, destination: DestinationStream = new LogOutput(STDOUT)): Log {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: withoutQuotes },
    hooks: { logMethod },
  };
  return pino(options, destination);
}

/** What fails because the database is away is at `debug`, whoever tells of it: the log says by itself that it is away. */
function logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
  if (level >= WARN && isOfAway(args[0])) this.debug(...args);
  else method.apply(this, args);
}

function isOfAway(facts: unknown): boolean {
  let error = (facts as { err?: unknown } | null)?.err;
  while (error instanceof Error && !(error instanceof DatabaseAway)) error = error.cause;
  return error instanceof DatabaseAway;
}

/**
 * The members of an error of PostgreSQL that may quote a row, a parameter or a statement: a row holds the hash of a
 * password or a token.
 */
const QUOTING = ['detail', 'where', 'internalQuery'];

function withoutQuotes(error: Error): object {
  const told = stdSerializers.err(error);
  if (error instanceof Error) for (const member of QUOTING) told[member] = undefined;
  return told;
}

/**
 * Gives the output of a process. If the journal of systemd reads it, each line begins with its priority, so that
 * `journalctl --priority` tells the levels apart.
 * @param journalStream is the variable JOURNAL_STREAM, with the device and the inode of what the journal reads
 *   (systemd.exec(5)). A child whose output goes elsewhere inherits it too, so it is compared with the output.
 */
export function openOutput(journalStream: string | null, fd = STDOUT): LogOutput {
  return new LogOutput(fd, journalStream !== null && journalStream === identityOf(fd));
}

/** @returns null where the output is closed */
function identityOf(fd: number): string | null {
  try {
    const { dev, ino } = fstatSync(fd, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}

/** The number of characters that may wait. Further lines are left out. */
const MOST_WAITING = 1024 * 1024;
/** Milliseconds after which a failed write is repeated. */
const PAUSE = 100;

/**
 * Writes the log to a file descriptor in the background. Its other end may be full, slow or gone. The server goes on then,
 * keeps lines up to a limit, and says later how many lines it left out.
 */
export class LogOutput {
  private readonly fd: number;
  private readonly hasPriorities: boolean;
  private waiting = '';
  private leftOut = 0;
  /** The bytes that are being written, or whose write will be repeated. */
  private batch: Buffer | undefined;
  private retry: NodeJS.Timeout | undefined;
  private isUsed = false;

  /** @param hasPriorities says whether each line begins with its priority */
  constructor(fd: number, hasPriorities = false) {
    this.fd = fd;
    this.hasPriorities = hasPriorities;
  }

  /** Takes a line with its line ending. It never waits and never throws. */
  write(line: string): void {
    if (!this.isUsed) process.once('exit', () => this.end());
    this.isUsed = true;
    if (this.waiting.length > MOST_WAITING) this.leftOut += 1;
    else this.waiting += this.withPriority(line);
    if (this.batch === undefined) this.next();
  }

  private withPriority(line: string): string {
    if (!this.hasPriorities) return line;
    const level = line.slice(LEVEL_AT, line.indexOf('"', LEVEL_AT));
    return `${PRIORITIES[level] ?? ''}${line}`;
  }

  /** Tries once to write everything that waits. */
  private end(): void {
    clearTimeout(this.retry);
    // A write that is under way ends by itself. Only a failed one is repeated here.
    const rest = this.retry === undefined ? '' : (this.batch ?? '');
    this.retry = undefined;
    try {
      writeSync(this.fd, `${rest}${this.waiting}`);
    } catch {
      // The process ends, so the failure cannot be reported.
    }
    this.waiting = '';
  }

  private next(): void {
    this.batch = Buffer.from(this.waiting);
    this.waiting = '';
    this.send(this.batch);
  }

  private send(batch: Buffer): void {
    this.batch = batch;
    this.retry = undefined;
    write(this.fd, batch, (error, written) => {
      if (error) this.retry = setTimeout(() => this.send(batch), PAUSE).unref();
      else if (written < batch.length) this.send(batch.subarray(written));
      else this.sent();
    });
  }

  private sent(): void {
    this.batch = undefined;
    if (this.leftOut > 0) {
      const facts = { level: 'warn', time: new Date().toISOString(), lines: this.leftOut };
      const line = `${JSON.stringify({ ...facts, msg: 'the log could not be written; lines were left out' })}\n`;
      this.waiting += this.withPriority(line);
      this.leftOut = 0;
    }
    if (this.waiting !== '') this.next();
  }
}
