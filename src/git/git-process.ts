/** One run of the git binary: a clean environment, a process group of its own, and an end that always comes. */

import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { SECOND } from '../lib/clock.ts';

export interface GitCommand {
  /** The folders in which the git binary and its helpers are looked for, like `PATH`. */
  searchPath: string;
  args: readonly string[];
  /** Variables in addition to those that every run has. */
  env?: Readonly<Record<string, string>>;
  /** The priority, as `nice` counts it: the higher, the more other processes go first. */
  niceness?: number;
  /** What the process may take. One that wants more memory fails, and one that wants more time is killed. */
  bounds?: GitBounds;
}

export interface GitBounds {
  /** This bounds the address space, which is more than what is in use. */
  memoryKib: number;
  /** The process may compute for so long. Waiting does not count. */
  cpuSeconds: number;
}

/** How a process ended. The code is null when a signal ended it; the error is set when it could not be started. */
export interface GitExit {
  code: number | null;
  error: Error | null;
  /** The last characters of its error output. */
  stderr: string;
}

/** Milliseconds between SIGTERM and SIGKILL. */
const PATIENCE = 2 * SECOND;
const STDERR_CHARACTERS = 4_096;

/**
 * Settings on the command line, which go before every configuration file. The directory is safe whoever owns it: the
 * server was told to serve it, and a volume is often mounted with another owner.
 */
const SETTINGS = [
  'safe.directory=*',
  'core.hooksPath=/dev/null',
  'pack.threads=1',
  // By default git does not flush packed-refs before it removes the loose refs.
  'core.fsync=all',
];

/**
 * Sets bounds for the shell and becomes git. A bound cannot be set where a lower one holds already, which is as good. The
 * shell is not looked for in the folders of git.
 */
const SHELL = '/bin/sh';
const BOUNDED_GIT = 'ulimit -v "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; shift 2; exec git "$@"';

export class GitProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves in any case, once the process has ended and its pipes are closed. */
  readonly ended: Promise<GitExit>;
  private readonly child: ChildProcessWithoutNullStreams;
  private stopping: NodeJS.Timeout | null = null;

  constructor({ searchPath, args, env = {}, niceness = 0, bounds }: GitCommand) {
    const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
    const [program, before] = bounds ? [SHELL, shellArguments(bounds)] : ['git', []];
    this.child = spawn(program, [...before, ...settings, ...args], {
      // If the repository were the folder and absent, spawn would fail as if git were absent. Git itself says it clearly.
      cwd: '/',
      env: { ...cleanEnvironment(searchPath), ...env },
      // In a process group of its own, pack-objects ends with it, and Ctrl-C in a terminal does not reach it.
      detached: true,
    });
    if (niceness > 0) lowerPriority(this.child.pid, niceness);
    this.stdin = this.child.stdin;
    this.stdout = this.child.stdout;
    // Git may stop reading its input. Its exit code tells whether that is an error.
    this.stdin.on('error', () => undefined);
    this.ended = this.watch();
  }

  /** Ends the process and its children, with SIGTERM and after a while with SIGKILL. */
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
      // Children that are left hold its pipes open.
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

/** What stands before the arguments of git. All are positional parameters, so the shell reads none of them as code. */
function shellArguments({ memoryKib, cpuSeconds }: GitBounds): string[] {
  return ['-c', BOUNDED_GIT, 'sh', String(Math.ceil(memoryKib)), String(Math.ceil(cpuSeconds))];
}

/** Lowers the priority of a process, which its children inherit. */
function lowerPriority(pid: number | undefined, niceness: number): void {
  try {
    if (pid !== undefined) setPriority(pid, niceness);
  } catch {
    // It has ended already, or the machine does not allow it. Then it runs like any other process.
  }
}

/** What was found, by the folders in which it was looked for. A start asks more than once, and each process takes time. */
const versions = new Map<string, string>();

/** The version of the git binary; null when there is none that starts. What was found once is not looked for again. */
export async function gitVersion(searchPath: string): Promise<string | null> {
  const known = versions.get(searchPath);
  if (known !== undefined) return known;
  try {
    const options = { env: cleanEnvironment(searchPath), cwd: '/', timeout: 10 * SECOND };
    const { stdout } = await promisify(execFile)('git', ['--version'], options);
    const version = /^git version (\d+\.\d+\S*)/.exec(stdout)?.[1] ?? null;
    if (version !== null) versions.set(searchPath, version);
    return version;
  } catch {
    return null;
  }
}

/** An environment without the server's variables, in which git reads no configuration of the machine or the user. */
function cleanEnvironment(searchPath: string): Record<string, string> {
  return {
    PATH: searchPath,
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    // upload-pack.ts reads git's English messages.
    LC_ALL: 'C',
  };
}
