/**
 * Work that would hold up everybody is done beside the event loop, in threads (`node:worker_threads`). What goes in and
 * comes out is copied (structured clone), so tasks take and give bytes and plain values.
 */

import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parentPort, Worker } from 'node:worker_threads';
import { HawserError, internal } from './errors.ts';

/** Functions by name, each of one value; what they throw reaches the caller. */
// biome-ignore lint/suspicious/noExplicitAny: a table of functions with inputs of their own
export type Tasks = Record<string, (input: any) => unknown>;

export type Input<T extends Tasks, N extends keyof T> = Parameters<T[N]>[0];
export type Output<T extends Tasks, N extends keyof T> = Awaited<ReturnType<T[N]>>;

export interface ThreadsOptions {
  /** The module that calls `serveTasks`. */
  entry: URL;
  /** The most threads there are. Each is made when it is first needed, and then waits for more. */
  size: number;
  /** A thread that needs more memory than this, in MiB, ends, and its task fails. Default: what Node gives it. */
  heapMegabytes?: number;
}

/** An error as it is copied between threads. */
interface CopiedError extends Pick<Error, 'name' | 'message' | 'stack'> {
  /** What makes it one that callers may act on. */
  hawser?: Pick<HawserError, 'kind' | 'code' | 'data' | 'retryAfter'>;
  cause?: CopiedError;
}

interface Request {
  task: string;
  input: unknown;
}

type Reply = { value: unknown } | { error: CopiedError };

interface Job extends Request {
  caller: string;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface Thread {
  worker: Worker;
  job: Job | null;
  /** Whom it worked for last: what it has in memory may serve the same caller again. */
  lastCaller: string;
}

/**
 * A few threads that callers take in turn: one with sixteen tasks does not hold up another's one. Each caller has one
 * task at a time carried out.
 */
export class Threads<T extends Tasks> {
  private readonly options: ThreadsOptions;
  private readonly threads = new Set<Thread>();
  /** What waits of each caller, in the order in which the callers' turns come. */
  private readonly waiting = new Map<string, Job[]>();
  private readonly busy = new Set<string>();
  private isClosed = false;

  constructor(options: ThreadsOptions) {
    this.options = options;
  }

  /**
   * Carries out a task in its caller's turn.
   * @throws HawserError what the task throws; internal `internal_error` when its thread dies; unavailable
   *   `shutting_down` once it is closed
   */
  run<N extends keyof T & string>(caller: string, task: N, input: Input<T, N>): Promise<Output<T, N>> {
    return new Promise((resolve, reject) => {
      if (this.isClosed) throw shuttingDown();
      const job: Job = { caller, task, input, resolve: resolve as Job['resolve'], reject };
      const jobs = this.waiting.get(caller);
      if (jobs) jobs.push(job);
      else this.waiting.set(caller, [job]);
      this.dispatch();
    });
  }

  /** Ends all threads at once; what they were about to do fails. */
  async close(): Promise<void> {
    this.isClosed = true;
    const left = [...this.waiting.values()].flat();
    this.waiting.clear();
    for (const { reject } of left) reject(shuttingDown());
    await Promise.all([...this.threads].map(({ worker }) => worker.terminate()));
  }

  private dispatch(): void {
    for (const caller of [...this.waiting.keys()]) {
      if (this.busy.has(caller) || !this.waiting.has(caller)) continue;
      const thread = this.freeThread(caller);
      if (thread === undefined) return;
      this.begin(thread, this.takeJob(caller));
    }
  }

  private takeJob(caller: string): Job {
    const jobs = this.waiting.get(caller) ?? [];
    const job = jobs.shift() as Job;
    if (jobs.length === 0) this.waiting.delete(caller);
    return job;
  }

  private freeThread(caller: string): Thread | undefined {
    const free = [...this.threads].filter(({ job }) => job === null);
    const known = free.find(({ lastCaller }) => lastCaller === caller) ?? free[0];
    return known ?? (this.threads.size < this.options.size ? this.open() : undefined);
  }

  private begin(thread: Thread, job: Job): void {
    const { task, input, caller } = job;
    try {
      thread.worker.postMessage({ task, input } satisfies Request);
    } catch (error) {
      // What cannot be copied never reached the thread.
      job.reject(error as Error);
      this.dispatch();
      return;
    }
    thread.job = job;
    thread.lastCaller = caller;
    this.busy.add(caller);
  }

  private open(): Thread {
    const { entry, heapMegabytes } = this.options;
    const limits = heapMegabytes && { resourceLimits: { maxOldGenerationSizeMb: heapMegabytes } };
    const worker = new Worker(entry, { ...limits, name: 'hawser' });
    const thread: Thread = { worker, job: null, lastCaller: '' };
    worker.on('message', (reply: Reply) => this.end(thread, reply));
    worker.on('error', (error) => this.lose(thread, error));
    worker.on('exit', () => this.lose(thread, null));
    // A thread must not keep the process; whoever waits for its work does. Last, as a listener undoes it.
    worker.unref();
    this.threads.add(thread);
    return thread;
  }

  private end(thread: Thread, reply: Reply): void {
    const job = this.release(thread);
    if (job === null) return;
    if ('error' in reply) job.reject(pasteError(reply.error));
    else job.resolve(reply.value);
    this.dispatch();
  }

  /** The thread has ended. The next task gets another one. */
  private lose(thread: Thread, cause: unknown): void {
    if (!this.threads.delete(thread)) return;
    const job = this.release(thread);
    job?.reject(this.isClosed ? shuttingDown() : died(cause));
    if (!this.isClosed) this.dispatch();
  }

  private release(thread: Thread): Job | null {
    const { job } = thread;
    thread.job = null;
    if (job !== null) this.endTurn(job.caller);
    return job;
  }

  /** What else the caller wants waits behind all others. */
  private endTurn(caller: string): void {
    this.busy.delete(caller);
    const jobs = this.waiting.get(caller);
    if (jobs === undefined) return;
    this.waiting.delete(caller);
    this.waiting.set(caller, jobs);
  }
}

/**
 * The module that threads begin with, beside the one at `base`: as it was built, or as a source that tsx reads. A thread
 * of Node 20 does not take over the loader of its process, so there it is asked for once more.
 * @param name without its extension
 */
export function threadEntry(name: string, base: string): URL {
  if (!base.endsWith('.ts')) return new URL(`${name}.js`, base);
  const tsx = pathToFileURL(createRequire(base).resolve('tsx/package.json'));
  const loader = new URL('./dist/esm/api/index.mjs', tsx);
  const code = `import { register } from '${loader}'; register(); await import('${new URL(`${name}.ts`, base)}');`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

/** Called once by the module that a thread begins with: does what the thread is asked to, one task after the other. */
export function serveTasks(tasks: Tasks): void {
  const port = parentPort;
  if (port === null) throw new Error('this module is for a thread');
  port.on('message', async ({ task, input }: Request) => port.postMessage(await replyOf(tasks, task, input)));
}

async function replyOf(tasks: Tasks, task: string, input: unknown): Promise<Reply> {
  try {
    return { value: await tasks[task]?.(input) };
  } catch (error) {
    return { error: copyError(error) };
  }
}

function copyError(error: unknown): CopiedError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message, stack = '' } = error;
  const copied: CopiedError = { name, message, stack };
  if (error.cause !== undefined) copied.cause = copyError(error.cause);
  if (!(error instanceof HawserError)) return copied;
  const { kind, code, data, retryAfter } = error;
  return { ...copied, hawser: { kind, code, data, retryAfter } };
}

function pasteError({ name, message, stack = '', cause, hawser }: CopiedError): Error {
  const inner = cause && { cause: pasteError(cause) };
  const pasted = hawser ? pasteHawserError(message, hawser, inner) : new Error(message, inner);
  return Object.assign(pasted, { name, stack });
}

function pasteHawserError(
  message: string,
  error: NonNullable<CopiedError['hawser']>,
  inner: { cause: Error } | undefined,
): HawserError {
  const { data, retryAfter } = error;
  const again = retryAfter === undefined ? {} : { retryAfter };
  return new HawserError(error.kind, error.code, message, { data, ...again, ...inner });
}

function died(cause: unknown): HawserError {
  return internal('internal_error', 'A thread of the server ended in the middle of its work', cause);
}

function shuttingDown(): HawserError {
  return new HawserError('unavailable', 'shutting_down', 'The server is shutting down');
}
