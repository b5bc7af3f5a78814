/**
 * Work that would hold up everybody is done beside the event loop, in threads (`node:worker_threads`). Input and output
 * are copied (structured clone), so tasks take and give bytes and plain values. Bytes that a task gives as its whole
 * output are handed over without a copy, so the task must not keep them.
 */

import { AsyncResource } from 'node:async_hooks';
import { MessageChannel, parentPort, Worker } from 'node:worker_threads';
import type { Awaitable } from './awaitable.ts';
import { HawserError, internal, shuttingDown } from './errors.ts';
import { FairQueue } from './fair-queue.ts';

/**
 * Sends a part of a task's result to the caller, and waits until the caller has taken it. So what is sent does not pile up.
 * @throws HawserError what the caller's `onPiece` throws
 */
export type Send = (piece: unknown) => Promise<void>;

/** Functions by name. Each takes one value, and what it throws reaches the caller. */
// biome-ignore lint/suspicious/noExplicitAny: a table of functions with inputs of their own
export type Tasks = Record<string, (input: any, send: Send) => unknown>;

export type Input<T extends Tasks, N extends keyof T> = Parameters<T[N]>[0];
export type Output<T extends Tasks, N extends keyof T> = Awaited<ReturnType<T[N]>>;

export interface ThreadsOptions {
  /** The module that calls `serveTasks`, built or transpiled, since a thread reads no TypeScript. */
  entry: URL;
  /** The largest number of threads. A thread is made when it is first needed, and is kept then. */
  size: number;
  /** A thread that needs more memory than this, in MiB, ends, and its task fails. The default is Node's. */
  heapMegabytes?: number;
  /** The memory for objects that have just been made, in MiB. The default is Node's. */
  youngMegabytes?: number;
  /** What each thread is told at its beginning, as `workerData`. */
  data?: unknown;
  /** What a thread must know of and may change, such as keys. It hears of it with its next task. */
  news?(): News;
}

/** What threads hear of while they run. */
export interface News {
  /** Another one stands for other news. */
  generation: number;
}

export interface RunOptions {
  /**
   * Buffers of the input that are handed over without a copy, and are empty here from then on.
   * The task must not keep them.
   */
  given?: readonly ArrayBuffer[];
  /** Takes what the task sends, one piece after the other, before the task's result is there. */
  onPiece?(piece: unknown): Awaitable<void>;
}

/** An error as it is copied between threads. */
interface CopiedError extends Pick<Error, 'name' | 'message' | 'stack'> {
  /** The members of a HawserError. */
  hawser?: Pick<HawserError, 'kind' | 'code' | 'data' | 'retryAfter'>;
  cause?: CopiedError;
}

interface Request {
  task: string;
  input: unknown;
  /** Buffers of the input, whose memory is free when the task is done. */
  given: readonly ArrayBuffer[];
  /** What the thread has not heard yet. */
  news?: News;
}

type Reply = { value: unknown } | { error: CopiedError };

/** What a thread says: the reply to its task, or a piece before it. */
type Said = Reply | { piece: unknown };

/** What a thread is told: a task, or what became of the piece that it has sent. */
type Told = Request | { taken: Reply };

interface Job {
  onPiece: NonNullable<RunOptions['onPiece']>;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

interface Thread {
  worker: Worker;
  /** What the thread works on; null while it is free. */
  job: Job | null;
  /** The caller it worked for last. What it still has in memory may serve the same caller again. */
  lastCaller: string;
  /** The generation of the news that it has heard. */
  heard: number | null;
}

/**
 * A few threads that callers use in turn: a caller with sixteen tasks does not hold up a caller with one. One
 * task of each caller is carried out at a time.
 */
export class Threads<T extends Tasks> {
  private readonly options: ThreadsOptions;
  private readonly turns: FairQueue;
  private readonly threads = new Set<Thread>();
  private isClosed = false;

  constructor(options: ThreadsOptions) {
    this.options = options;
    this.turns = new FairQueue({ slots: options.size, slotsPerCaller: 1 });
  }

  /**
   * Carries out a task in its caller's turn.
   * @throws HawserError what the task throws; internal `internal_error` if its thread dies; unavailable
   *   `shutting_down` once the threads are closed
   */
  async run<N extends keyof T & string>(
    caller: string,
    task: N,
    input: Input<T, N>,
    { given = [], onPiece = () => undefined }: RunOptions = {},
  ): Promise<Output<T, N>> {
    const leave = await this.turns.take(caller);
    try {
      if (this.isClosed) throw shuttingDown();
      return (await this.carryOut(caller, { task, input, given }, onPiece)) as Output<T, N>;
    } finally {
      leave();
    }
  }

  /** Ends all threads at once. The tasks that they work on fail, and so do those that wait. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.turns.refuseWaiting(shuttingDown());
    await Promise.all([...this.threads].map(({ worker }) => worker.terminate()));
  }

  private carryOut(caller: string, request: Request, onPiece: Job['onPiece']): Promise<unknown> {
    const thread = this.freeThread(caller);
    const news = this.options.news?.();
    if (news !== undefined && news.generation !== thread.heard) request.news = news;
    return new Promise((resolve, reject) => {
      // A value that cannot be copied throws here, and never reaches the thread.
      thread.worker.postMessage(request, request.given);
      thread.worker.ref();
      thread.heard = news?.generation ?? null;
      // The thread was opened by somebody else, and what a piece begins belongs to this caller (AsyncLocalStorage).
      thread.job = { resolve, reject, onPiece: AsyncResource.bind(onPiece) };
      thread.lastCaller = caller;
    });
  }

  /** There are as many turns as threads, so whoever has a turn finds a free thread or may open one. */
  private freeThread(caller: string): Thread {
    const free = [...this.threads].filter(({ job }) => job === null);
    return free.find(({ lastCaller }) => lastCaller === caller) ?? free[0] ?? this.open();
  }

  private open(): Thread {
    const { entry, heapMegabytes, youngMegabytes, data } = this.options;
    const resourceLimits = {
      ...(heapMegabytes && { maxOldGenerationSizeMb: heapMegabytes }),
      ...(youngMegabytes && { maxYoungGenerationSizeMb: youngMegabytes }),
    };
    const worker = new Worker(entry, { resourceLimits, name: 'hawser', workerData: data });
    const thread: Thread = { worker, job: null, lastCaller: '', heard: null };
    worker.on('message', (said: Said) => {
      if ('piece' in said) return void takePiece(thread, said.piece);
      const job = takeJob(thread);
      // While it is being ended, the process waits for that.
      if (!this.isClosed) worker.unref();
      if ('error' in said) job?.reject(pasteError(said.error));
      else job?.resolve(said.value);
    });
    worker.on('error', (error) => this.lose(thread, error));
    worker.on('exit', () => this.lose(thread, null));
    // A thread keeps the process alive only while somebody waits for its work. This comes last, because adding a
    // listener undoes it.
    worker.unref();
    this.threads.add(thread);
    return thread;
  }

  /** Forgets a thread that has ended. The next task gets another one. */
  private lose(thread: Thread, cause: unknown): void {
    if (this.threads.delete(thread)) takeJob(thread)?.reject(this.isClosed ? shuttingDown() : died(cause));
  }
}

function takeJob(thread: Thread): Job | null {
  const { job } = thread;
  thread.job = null;
  return job;
}

async function takePiece({ worker, job }: Thread, piece: unknown): Promise<void> {
  const taken = await replyFrom(async () => {
    await job?.onPiece(piece);
  });
  worker.postMessage({ taken });
}

/**
 * Carries out the tasks that the thread is given, one after the other. The module that a thread begins with calls it once.
 * @param hear takes the news, before the first task that comes after them
 */
export function serveTasks(tasks: Tasks, hear: (news: never) => void = () => undefined): void {
  const port = parentPort;
  if (port === null) throw new Error('this module is for a thread');
  let waiting: Pick<Job, 'resolve' | 'reject'> | null = null;
  const send: Send = async (piece) => {
    await new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      port.postMessage({ piece });
    });
  };
  port.on('message', async (told: Told) => {
    if ('taken' in told) {
      if ('error' in told.taken) waiting?.reject(pasteError(told.taken.error));
      else waiting?.resolve(null);
      return;
    }
    if (told.news) hear(told.news as never);
    const reply = await replyFrom(() => tasks[told.task]?.(told.input, send));
    port.postMessage(reply, 'value' in reply ? handedOver(reply.value) : []);
    // A task that has failed may have left work behind, such as a stream that still reads them.
    if ('value' in reply) letGo(told.given);
  });
}

/**
 * Frees buffers. A thread that has nothing to do collects no garbage, so it would hold them until its next tasks.
 * What is sent to a port that is closed is gone; `ArrayBuffer.transfer` would do, but Node 20 has none.
 */
function letGo(buffers: readonly ArrayBuffer[]): void {
  // What was handed over as the output is empty.
  const left = buffers.filter(({ byteLength }) => byteLength > 0);
  if (left.length === 0) return;
  const { port1, port2 } = new MessageChannel();
  port2.close();
  port1.postMessage(null, left);
}

/** The buffer of bytes that have one of their own. */
function handedOver(value: unknown): ArrayBuffer[] {
  if (!(value instanceof Uint8Array) || !(value.buffer instanceof ArrayBuffer)) return [];
  return value.byteLength === value.buffer.byteLength ? [value.buffer] : [];
}

async function replyFrom(work: () => unknown): Promise<Reply> {
  try {
    return { value: await work() };
  } catch (error) {
    return { error: copyError(error) };
  }
}

function copyError(error: unknown): CopiedError {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) };
  const { name, message, stack = '' } = error;
  const copied: CopiedError = { name, message, stack };
  if (error.cause !== undefined) copied.cause = copyError(error.cause);
  if (error instanceof HawserError) {
    const { kind, code, data, retryAfter } = error;
    copied.hawser = { kind, code, data, retryAfter };
  }
  return copied;
}

function pasteError({ name, message, stack = '', cause, hawser }: CopiedError): Error {
  const options = cause && { cause: pasteError(cause) };
  const pasted = hawser
    ? new HawserError(hawser.kind, hawser.code, message, { ...hawser, ...options })
    : new Error(message, options);
  return Object.assign(pasted, { name, stack });
}

function died(cause: unknown): HawserError {
  return internal('internal_error', 'A thread of the server ended in the middle of its work', cause);
}
