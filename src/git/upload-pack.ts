/** Serves fetches to stock git clients with stock git: one `git upload-pack` per request, a few at once. */

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { BoundedQueue } from '../lib/bounded-queue.ts';
import { MINUTE, SECOND } from '../lib/clock.ts';
import { HawserError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { type GitExit, GitProcess, gitVersion } from './git-process.ts';
import type { OnOperation } from './operations.ts';
import { gitdirOf } from './repository-layout.ts';
import type { RepositoryRef } from './types.ts';
import { type ExchangeLimits, exchange, isClientFault } from './upload-pack-exchange.ts';

export interface UploadPackLimits extends ExchangeLimits {
  /** How many processes may run at once. */
  processes: number;
  /** How many requests may wait for one to end. */
  queue: number;
  /** Milliseconds that they wait. */
  patience: number;
}

export interface UploadPackOptions {
  root: string;
  /** Where git is looked for, like `PATH`. */
  searchPath: string;
  log: Log;
  /** Told of each fetch, once its process has ended. */
  onOperation?: OnOperation;
  limits?: Partial<UploadPackLimits>;
}

/** What a client sends with either request. */
export interface FetchCall {
  repository: RepositoryRef;
  /** The client's `Git-Protocol` header. */
  protocol: string | undefined;
  /** Aborted when the client went away, or has been answered in full. */
  gone: AbortSignal;
}

const DEFAULT_LIMITS: UploadPackLimits = {
  processes: Math.max(4, 2 * availableParallelism()),
  queue: 64,
  patience: 10 * SECOND,
  stall: 5 * MINUTE,
  total: 30 * MINUTE,
};

/** The first that knows `--end-of-options`. */
const OLDEST_GIT = [2, 24] as const;

/** Opens the answer to a ref advertisement in the protocol before version 2. */
const SERVICE_LINE = '001e# service=git-upload-pack\n0000';

export class UploadPack {
  private readonly options: UploadPackOptions;
  private readonly limits: UploadPackLimits;
  private readonly places: BoundedQueue;
  private readonly running = new Set<GitProcess>();
  private isUsable = false;
  private closed = false;

  constructor(options: UploadPackOptions) {
    this.options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    const { processes, queue, patience } = this.limits;
    this.places = new BoundedQueue({ slots: processes, waiting: queue, patience });
  }

  /** Looks for git, once: without it every call answers `git_not_available`. */
  async open(): Promise<void> {
    const { searchPath, log } = this.options;
    const version = await gitVersion(searchPath);
    this.isUsable = version !== null && isRecent(version);
    if (this.isUsable) return;
    const oldest = OLDEST_GIT.join('.');
    log.warn({ searchPath, version }, `no git ${oldest} or newer found: /git/ answers 501, all else works`);
  }

  /** Which refs there are, as the client's protocol version wants to be told. */
  advertise(call: FetchCall): Promise<Readable> {
    const version = protocolVersion(call.protocol);
    return this.run(call, version, null);
  }

  /** Answers one request of a fetch. The input is read as fast as git takes it, and destroyed at the end. */
  serve(call: FetchCall, input: Readable): Promise<Readable> {
    return this.run(call, protocolVersion(call.protocol), input);
  }

  /** How many processes there are at this moment. */
  get processes(): number {
    return this.running.size;
  }

  /** Ends what still runs and waits until it is gone. */
  async close(): Promise<void> {
    this.closed = true;
    for (const process of this.running) process.stop();
    await Promise.all([...this.running].map((process) => process.ended));
  }

  private async run(call: FetchCall, version: number, input: Readable | null): Promise<Readable> {
    if (!this.isUsable) throw notAvailable();
    const leave = await this.places.take(call.gone);
    let process: GitProcess;
    try {
      if (this.closed) throw new HawserError('unavailable', 'shutting_down', 'The server is shutting down.');
      process = this.start(call.repository, version, input === null);
    } catch (error) {
      leave();
      throw error;
    }
    void this.follow(process, call.repository).finally(leave);
    const preamble = input === null && version < 2 ? SERVICE_LINE : '';
    return exchange(process, { input, preamble, gone: call.gone, limits: this.limits });
  }

  private start(repository: RepositoryRef, version: number, advertises: boolean): GitProcess {
    const { root, searchPath } = this.options;
    // A second watch, for the case that this server is killed and can no longer keep its own.
    const timeout = `--timeout=${Math.ceil(this.limits.total / SECOND)}`;
    const mode = advertises ? ['--stateless-rpc', '--advertise-refs'] : ['--stateless-rpc'];
    const folder = gitdirOf(resolve(root), repository);
    return new GitProcess({
      searchPath,
      args: ['upload-pack', ...mode, '--strict', timeout, '--end-of-options', folder],
      env: version === 0 ? {} : { GIT_PROTOCOL: `version=${version}` },
    });
  }

  private async follow(process: GitProcess, repository: RepositoryRef): Promise<void> {
    this.running.add(process);
    const start = performance.now();
    const exit = await process.ended;
    this.running.delete(process);
    this.options.onOperation?.('fetch', performance.now() - start, needsALook(exit));
    this.report(exit, repository);
  }

  private report(exit: GitExit, repository: RepositoryRef): void {
    const { code, error, stderr } = exit;
    const facts = { repository, code, stderr, ...(error ? { err: error } : {}) };
    this.options.log[needsALook(exit) ? 'warn' : 'debug'](facts, 'git upload-pack ended');
  }
}

/** Whether somebody should see to it: ended by a signal it was we who ended it, or its client who left. */
function needsALook(exit: GitExit): boolean {
  return exit.error !== null || (exit.code !== 0 && exit.code !== null && !isClientFault(exit));
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > OLDEST_GIT[0] || (major === OLDEST_GIT[0] && minor >= OLDEST_GIT[1]);
}

/** The highest known version among the keys of the header; what else it holds never reaches git. */
function protocolVersion(header: string | undefined): number {
  const versions = (header ?? '').split(':').map((key) => /^version=([012])$/.exec(key)?.[1] ?? '0');
  return Math.max(...versions.map(Number));
}

function notAvailable(): HawserError {
  const message = 'This server has no git to serve clones with; everything else works without it';
  return new HawserError('not_implemented', 'git_not_available', message);
}
