/** One run of the git binary: a clean environment, a process group of its own, and an end that always comes. */

import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { SECOND } from '../lib/clock.ts';

export interface GitCommand {
  /** Where the git binary and its helpers are looked for, like `PATH`. */
  searchPath: string;
  args: readonly string[];
  /** Beside those that every run has. */
  env?: Readonly<Record<string, string>>;
  /** How much it stands back for others, as `nice` counts it. */
  niceness?: number;
}

/** How a process ended: with a code, by a signal, or never begun. */
export interface GitExit {
  code: number | null;
  error: Error | null;
  /** The end of what it said. */
  stderr: string;
}

/** Told to end, a process has this long before it is made to. */
const PATIENCE = 2 * SECOND;
const STDERR_CHARACTERS = 4_096;

/**
 * On the command line, above every configuration file. Whoever owns the repositories' folder, the server was told
 * to serve it; a volume is often mounted with another owner.
 */
const SETTINGS = [
  'safe.directory=*',
  'core.hooksPath=/dev/null',
  'pack.threads=1',
  // By itself git does not flush packed-refs, and removes the loose refs that are in it all the same.
  'core.fsync=all',
];

export class GitProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves, whatever happens, once the process is gone and its pipes are closed. */
  readonly ended: Promise<GitExit>;
  private readonly child: ChildProcessWithoutNullStreams;
  private stopping: NodeJS.Timeout | null = null;

  constructor({ searchPath, args, env = {}, niceness = 0 }: GitCommand) {
    const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
    this.child = spawn('git', [...settings, ...args], {
      // Not the repository: where that is gone, git says so, while spawn would seem not to find git.
      cwd: '/',
      env: { ...cleanEnvironment(searchPath), ...env },
      // A group of its own: pack-objects ends with it, and Ctrl-C in a terminal does not reach it.
      detached: true,
    });
    if (niceness > 0) standBack(this.child.pid, niceness);
    this.stdin = this.child.stdin;
    this.stdout = this.child.stdout;
    // What it does not read any more is no error: its exit code tells.
    this.stdin.on('error', () => undefined);
    this.ended = this.watch();
  }

  /** Ends the process and its children: asked first, then made to. */
  stop(): void {
    const { pid, exitCode, signalCode } = this.child;
    if (this.stopping || pid === undefined || exitCode !== null || signalCode !== null) return;
    this.signal('SIGTERM');
    this.stopping = setTimeout(() => this.signal('SIGKILL'), PATIENCE);
  }

  private watch(): Promise<GitExit> {
    const { child } = this;
    let stderr = '';
    let error: Error | null = null;
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-STDERR_CHARACTERS);
    });
    child.on('error', (cause) => {
      error = cause;
    });
    child.on('exit', () => {
      if (this.stopping) clearTimeout(this.stopping);
      // Children that it left behind hold its pipes open.
      this.signal('SIGKILL');
    });
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, error, stderr })));
  }

  private signal(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // The group is gone already.
    }
  }
}

/** What it starts later inherits it. */
function standBack(pid: number | undefined, niceness: number): void {
  try {
    if (pid !== undefined) setPriority(pid, niceness);
  } catch {
    // It has ended already, or the machine does not allow it: then it runs like any other.
  }
}

/** The version of the git binary, null where there is none that starts. */
export async function gitVersion(searchPath: string): Promise<string | null> {
  try {
    const options = { env: cleanEnvironment(searchPath), cwd: '/', timeout: 10 * SECOND };
    const { stdout } = await promisify(execFile)('git', ['--version'], options);
    return /^git version (\d+\.\d+\S*)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Nothing of the server's own environment, and no configuration of the machine or the user. */
function cleanEnvironment(searchPath: string): Record<string, string> {
  return {
    PATH: searchPath,
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    // Its complaints are read, see upload-pack-exchange.
    LC_ALL: 'C',
  };
}
