/**
 * Runs the command that applies a configuration, and makes a DSC v3 result of what it wrote. The command is started
 * without a shell, with a time limit and a limit on its output.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { z } from 'zod';
import { SECOND } from '../lib/clock.ts';

export interface CommandOptions {
  cwd: string;
  environment: Record<string, string | undefined>;
  /** Milliseconds. */
  timeout: number;
  /** How many bytes the command may write to stdout. */
  outputLimit: number;
  stop: AbortSignal;
}

export interface CommandOutcome {
  exitCode: number | null;
  stdout: string;
  /** The last 4 KiB of it. */
  stderr: string;
  /** Why the output cannot be used: the command did not start, took too long, or wrote too much. Else null. */
  fault: string | null;
  /** Whether the command was ended because the agent ends. */
  wasStopped: boolean;
}

export interface TemplateValues {
  operation: 'test' | 'set';
  /** Absolute paths. */
  entryPoint: string;
  parametersFile: string | null;
}

const STDERR_LIMIT = 4 * 1024;
/** How long the command may take to end after SIGTERM. */
const GRACE = 10 * SECOND;
/** How long processes that the command has left behind may keep its output open. */
const DRAIN_LIMIT = 2 * SECOND;

/**
 * Puts the values into the command. Without a parameters file, the argument that names it is left out. If that argument
 * is `{parametersFile}` alone, the option before it (such as `--parameters-file`) is left out too.
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

/** Runs the command until it ends. Never throws: the outcome says how it ended. */
export function runCommand(command: readonly string[], options: CommandOptions): Promise<CommandOutcome> {
  const [program = '', ...args] = command;
  const { cwd, environment, timeout, outputLimit, stop } = options;
  return new Promise((resolve) => {
    const run = new Run(outputLimit);
    // The command gets a process group of its own, so that all its processes can be ended together.
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
    const finish = (exitCode: number | null): void => {
      clearTimeout(timer);
      stop.removeEventListener('abort', onStop);
      resolve(run.outcome(exitCode));
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      run.fault ??= `it could not be started (${error.code ?? 'unknown reason'})`;
      if (child.pid === undefined) finish(null);
    });
    child.once('close', finish);
  });
}

/** The longest time of a timer in milliseconds. A timer with a longer time fires at once. */
const MAX_TIMER = 2 ** 31 - 1;

/** Collects what a running command writes. */
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

  /** Output beyond the limit is read and dropped, because a full pipe would block the command. */
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

/** Sends SIGTERM to the command and all its processes, and SIGKILL if the command has not ended in time. */
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

/** The command has ended, but a service that it has started may keep its pipes open for ever, so they are closed here. */
function drain(child: ChildProcess): void {
  const timer = setTimeout(() => {
    child.stdout?.destroy();
    child.stderr?.destroy();
  }, DRAIN_LIMIT);
  child.once('close', () => clearTimeout(timer));
}

/** The members of a DSC v3 result that are needed here. It may have others. */
const RESULT = z.looseObject({
  hadErrors: z.boolean(),
  results: z.array(z.looseObject({})).nullish(),
});

/**
 * The result of a command as JSON: its own output where that is a result, else one that says how the command ended. A
 * command that ends with another code than 0 had errors, whatever it wrote.
 */
export function toResult(outcome: CommandOutcome, program: string): { json: string; hadErrors: boolean } {
  const failed = outcome.fault !== null || outcome.exitCode !== 0;
  const text = outcome.stdout.replace(/^\ufeff/, '').trim();
  const own = parseResult(text);
  if (own === null) return minimalResult(outcome, program, failed);
  const hadErrors = own.hadErrors === true;
  // The text itself is kept where nothing changes, because JavaScript would round large numbers.
  if (hadErrors || !failed) return { json: text, hadErrors };
  return { json: JSON.stringify({ ...own, hadErrors: true }), hadErrors: true };
}

function parseResult(text: string): { hadErrors?: unknown } | null {
  try {
    const value = JSON.parse(text);
    return RESULT.safeParse(value).success ? value : null;
  } catch {
    return null;
  }
}

function minimalResult({ fault, exitCode, stderr }: CommandOutcome, program: string, hadErrors: boolean) {
  const how = fault ?? (exitCode === null ? 'it was ended by a signal' : `it ended with ${exitCode}`);
  const messages = hadErrors ? [errorOf(program, `${program}: ${how}\n${stderr.trim()}`.trim())] : [];
  return { json: JSON.stringify({ messages, results: [], hadErrors }), hadErrors };
}

/** The result as JSON with an error before all its messages. */
export function withError(result: string, message: string): string {
  const read = JSON.parse(result) as { messages?: unknown };
  const messages = Array.isArray(read.messages) ? read.messages : [];
  return JSON.stringify({
    ...read,
    messages: [errorOf('hawser-agent', message), ...messages],
    hadErrors: true,
  });
}

/** The result as JSON where nothing was run. */
export function toErrorResult(message: string): string {
  return withError(JSON.stringify({ results: [] }), message);
}

/** The result as JSON in place of that of a program that is not there. */
export function toMissingResult(program: string, message: string): string {
  return JSON.stringify({ messages: [errorOf(program, message)], results: [], hadErrors: true });
}

function errorOf(program: string, message: string) {
  return { name: program, type: 'hawser-agent', message, level: 'error' };
}
