/** The command that applies a configuration: started without a shell, with a time limit and bounded output. */

import { type ChildProcess, spawn } from 'node:child_process';
import { SECOND } from '../lib/clock.ts';

export interface CommandOptions {
  cwd: string;
  environment: Record<string, string | undefined>;
  /** Milliseconds. */
  timeout: number;
  /** Bytes of stdout that are kept; of stderr it is the last ones, and few. */
  outputLimit: number;
  stop: AbortSignal;
}

export interface CommandOutcome {
  exitCode: number | null;
  stdout: string;
  /** The end of it. */
  stderr: string;
  /** Why its output cannot count: it was not started, took too long, or wrote too much; null when it can. */
  fault: string | null;
  /** It was ended because the agent ends. */
  wasStopped: boolean;
}

export interface TemplateValues {
  operation: 'test' | 'set';
  /** Absolute paths. */
  entryPoint: string;
  parametersFile: string | null;
}

const STDERR_LIMIT = 4 * 1024;
/** How long a command that was asked to end may take to do so. */
const GRACE = 10 * SECOND;
/** How long what a command has left running may hold its output open. */
const DRAIN_LIMIT = 2 * SECOND;

/**
 * The command with its values. Without a parameters file the argument that names it is left out, and the option
 * right before it (`--parameters-file`) if it is the whole argument.
 */
export function fillTemplate(template: readonly string[], values: TemplateValues): string[] {
  const filled: string[] = [];
  for (const argument of template) {
    if (values.parametersFile === null && argument.includes('{parametersFile}')) {
      if (argument === '{parametersFile}' && filled.length > 1 && filled.at(-1)?.startsWith('-'))
        filled.pop();
      continue;
    }
    filled.push(
      argument.replace(/\{(operation|entryPoint|parametersFile)\}/g, (_, name: keyof TemplateValues) =>
        String(values[name]),
      ),
    );
  }
  return filled;
}

/** Runs the command to its end, whatever that is. */
export function runCommand(command: readonly string[], options: CommandOptions): Promise<CommandOutcome> {
  const [program = '', ...args] = command;
  const { cwd, environment, timeout, outputLimit, stop } = options;
  return new Promise((resolve) => {
    const run = new Run(outputLimit);
    // A process group of its own, so that what it has started can be ended with it.
    const child = spawn(program, args, {
      cwd,
      env: environment,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.on('data', (chunk: Buffer) => run.takeOutput(chunk));
    child.stderr.on('data', (chunk: Buffer) => run.takeError(chunk));
    const onStop = (): void => {
      run.wasStopped = true;
      end(child);
    };
    const onTimeout = (): void => {
      run.fault ??= `it took longer than ${timeout / SECOND} s`;
      end(child);
    };
    const timer = setTimeout(onTimeout, Math.min(timeout, MAX_TIMER));
    if (stop.aborted) onStop();
    else stop.addEventListener('abort', onStop, { once: true });
    child.once('exit', () => drain(child));
    const settle = (exitCode: number | null): void => {
      clearTimeout(timer);
      stop.removeEventListener('abort', onStop);
      resolve(run.outcome(exitCode));
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      run.fault ??= `it could not be started (${error.code ?? 'unknown reason'})`;
      if (child.pid === undefined) settle(null);
    });
    child.once('close', settle);
  });
}

/** Beyond this many milliseconds a timer goes off at once. */
const MAX_TIMER = 2 ** 31 - 1;

/** What has come from a command so far. */
class Run {
  fault: string | null = null;
  wasStopped = false;
  private readonly limit: number;
  private readonly output: Buffer[] = [];
  private length = 0;
  private errors = Buffer.alloc(0);

  constructor(limit: number) {
    this.limit = limit;
  }

  /** What exceeds the limit is read and dropped, so that the command does not stand still. */
  takeOutput(chunk: Buffer): void {
    this.length += chunk.length;
    if (this.length <= this.limit) this.output.push(chunk);
    else this.fault ??= `it wrote more than ${this.limit} bytes`;
  }

  takeError(chunk: Buffer): void {
    this.errors = Buffer.concat([this.errors, chunk]).subarray(-STDERR_LIMIT);
  }

  outcome(exitCode: number | null): CommandOutcome {
    const stdout = this.fault === null ? Buffer.concat(this.output).toString('utf8') : '';
    const stderr = this.errors.toString('utf8');
    return { exitCode, stdout, stderr, fault: this.fault, wasStopped: this.wasStopped };
  }
}

/** Asks the command and all it has started to end, and makes them when they do not. */
function end(child: ChildProcess): void {
  signalGroup(child, 'SIGTERM');
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE);
  child.once('close', () => clearTimeout(timer));
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** A service that the command has started may keep its pipes for ever; its end is the command's all the same. */
function drain(child: ChildProcess): void {
  const timer = setTimeout(() => {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, DRAIN_LIMIT);
  child.once('close', () => clearTimeout(timer));
}
