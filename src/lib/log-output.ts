/**
 * Where the log goes: a file descriptor that is written in the background. Its other end may be full, slow or gone;
 * the server goes on, keeps what it has to say up to a limit, and says how much it left out once it can.
 */

import { write, writeSync } from 'node:fs';

/** Characters of lines that wait; what comes on top is left out. */
const MOST_WAITING = 1024 * 1024;
/** Milliseconds until what could not be written is tried again. */
const PAUSE = 100;

export class LogOutput {
  private readonly fd: number;
  private waiting = '';
  private leftOut = 0;
  /** What is being written, or waits to be tried again. */
  private batch: Buffer | undefined;
  private retry: NodeJS.Timeout | undefined;
  private isUsed = false;

  constructor(fd: number) {
    this.fd = fd;
  }

  /** Takes a line with its end; never waits, never throws. */
  write(line: string): void {
    if (!this.isUsed) process.once('exit', () => this.end());
    this.isUsed = true;
    if (this.waiting.length > MOST_WAITING) this.leftOut += 1;
    else this.waiting += line;
    if (this.batch === undefined) this.next();
  }

  /** Tries once to write what waits. */
  private end(): void {
    clearTimeout(this.retry);
    // What is under way ends by itself.
    const rest = this.retry === undefined ? '' : (this.batch ?? '');
    this.retry = undefined;
    try {
      writeSync(this.fd, `${rest}${this.waiting}`);
    } catch {
      // There is nobody left to tell.
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
      this.waiting += `${JSON.stringify({ ...facts, msg: 'the log could not be written; lines were left out' })}\n`;
      this.leftOut = 0;
    }
    if (this.waiting !== '') this.next();
  }
}
