/** The reader's terminal: one bash that keeps its variables and folder from block to block. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Outcome {
  /** The exit status of the last command; null if the shell ended or took too long. */
  status: number | null;
  /** What was printed on stdout and stderr. */
  output: string;
  /** The command that failed; empty if none did. */
  failed: string;
}

const BLOCK_TIMEOUT = 120_000;

export class Shell {
  private readonly bash: ChildProcessWithoutNullStreams;
  private readonly scratch: string;
  private readonly mark = randomUUID();
  private output = '';

  /** @param scratch folder in which the blocks are stored as files; the commands run in another folder */
  constructor(cwd: string, scratch: string, env: Record<string, string>) {
    this.scratch = scratch;
    this.bash = spawn('bash', ['--noprofile', '--norc'], { cwd, env, detached: true });
    for (const stream of [this.bash.stdout, this.bash.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (chunk: string) => {
        this.output += chunk;
      });
    }
    // Writing to a shell that has ended fails. `run` reports the end.
    this.bash.stdin.on('error', () => undefined);
    const failed = this.path('failed');
    this.bash.stdin.write(`exec 2>&1; set -Euo pipefail; trap 'printf %s "$BASH_COMMAND" > ${failed}' ERR\n`);
  }

  /** Runs one block. Stops at the first command that fails, unless the block is there to show a failure. */
  async run(code: string, fails: boolean): Promise<Outcome> {
    const file = this.path('block.sh');
    writeFileSync(file, `${code}\n`);
    writeFileSync(this.path('failed'), '');
    this.output = '';
    // The block is run from a file, so that no command can read the rest of the block as its input.
    this.bash.stdin.write(
      `set ${fails ? '+e' : '-e'}; source ${file} < /dev/null; printf '\\n%s %s\\n' ${this.mark} $?\n`,
    );
    const status = await this.status();
    const output = this.output.split(`\n${this.mark}`, 1)[0] ?? '';
    return { status, output, failed: readFileSync(this.path('failed'), 'utf8') };
  }

  /** Ends the shell and everything that it started. */
  close(): void {
    if (this.bash.exitCode !== null || this.bash.signalCode !== null || this.bash.pid === undefined) return;
    process.kill(-this.bash.pid, 'SIGKILL');
  }

  private path(name: string): string {
    return join(this.scratch, name);
  }

  private status(): Promise<number | null> {
    const done = new RegExp(`\\n${this.mark} (\\d+)\\n`);
    return new Promise((resolve) => {
      const finish = (status: number | null) => {
        clearTimeout(timer);
        this.bash.stdout.off('data', look);
        this.bash.off('close', ended);
        resolve(status);
      };
      const look = () => {
        const found = done.exec(this.output);
        if (found) finish(Number(found[1]));
      };
      const ended = () => finish(null);
      const timer = setTimeout(() => {
        this.output += `\n(no end after ${BLOCK_TIMEOUT / 1000} s)`;
        finish(null);
      }, BLOCK_TIMEOUT);
      this.bash.stdout.on('data', look);
      this.bash.once('close', ended);
    });
  }
}
