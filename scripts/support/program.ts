/** A program that runs beside a script. Its output is collected, and it is always ended. */

import { type ChildProcess, spawn } from 'node:child_process';

const POLL_INTERVAL = 50;
const CLOSE_TIMEOUT = 15_000;

export interface ProgramOptions {
  cwd: string;
  env: Record<string, string>;
}

export class Program {
  /** Everything that it has printed so far, stdout and stderr in the order in which they came. */
  output = '';
  private readonly child: ChildProcess;
  private readonly ended: Promise<number | null>;

  constructor(command: string, args: readonly string[], { cwd, env }: ProgramOptions) {
    // The program gets its own process group, so that `kill` also reaches the processes that it has started.
    this.child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.setEncoding('utf8');
      stream?.on('data', (chunk: string) => {
        this.output += chunk;
      });
    }
    this.ended = new Promise((resolve) => {
      this.child.once('error', (error) => {
        this.output += String(error);
        resolve(null);
      });
      this.child.once('exit', (code) => resolve(code));
    });
  }

  get isRunning(): boolean {
    return this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /**
   * Waits until the output satisfies the condition. Returns false if that takes too long or the program ends before.
   */
  async waitFor(satisfies: (output: string) => boolean, milliseconds: number): Promise<boolean> {
    const deadline = Date.now() + milliseconds;
    while (!satisfies(this.output)) {
      if (!this.isRunning || Date.now() > deadline) return satisfies(this.output);
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
    }
    return true;
  }

  /**
   * Asks the program to end, as a service manager does.
   * @returns its exit code; null if it had to be killed
   */
  async stop(): Promise<number | null> {
    if (this.isRunning) this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.kill(), CLOSE_TIMEOUT);
    const code = await this.ended;
    clearTimeout(timer);
    return code;
  }

  /** Kills the program and everything that it has started, at once. Does nothing if it has already ended. */
  kill(): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
