/** Serves fetches to stock git clients with stock git: one `git upload-pack` per request, a few at once. */

import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { pipeline, type Readable, Transform } from 'node:stream';
import { clientGone } from '../lib/client-gone.ts';
import { MINUTE, SECOND } from '../lib/clock.ts';
import { HawserError, internal, shuttingDown } from '../lib/errors.ts';
import { FairQueue } from '../lib/fair-queue.ts';
import type { Log } from '../lib/log.ts';
import { damagedRepository } from './disk-errors.ts';
import { type GitExit, GitProcess, gitVersion } from './git-process.ts';
import type { OnOperation } from './operations.ts';
import { gitdirOf } from './repository-layout.ts';
import type { GitFolders, StoredRef } from './types.ts';

export interface UploadPackLimits {
  /** How many processes may run at once. */
  processes: number;
  /** How many requests may wait for a process to end, and how many of one caller. */
  queue: number;
  queuePerCaller: number;
  /** Milliseconds that they wait. */
  patience: number;
  /** Milliseconds within which some byte must move in either direction. */
  stall: number;
  /** Milliseconds from the start of an answer to its last byte. */
  total: number;
}

export interface UploadPackOptions {
  root: string;
  /** The folders in which git is looked for, like `PATH`. */
  searchPath: string;
  log: Log;
  folders: GitFolders;
  /** Called for each fetch, once its process has ended. */
  onOperation?: OnOperation;
  limits?: Partial<UploadPackLimits>;
}

/** What a client sends with either request. */
export interface FetchCall {
  repository: StoredRef;
  /** The id of the user, whose tokens count together. */
  caller: string;
  /** The client's `Git-Protocol` header. */
  protocol: string | undefined;
  /** Aborted when the client has disconnected, or has been answered in full. */
  gone: AbortSignal;
}

const DEFAULT_LIMITS: UploadPackLimits = {
  processes: Math.max(4, 2 * availableParallelism()),
  queue: 64,
  queuePerCaller: 32,
  patience: 10 * SECOND,
  stall: 5 * MINUTE,
  total: 30 * MINUTE,
};

/** The first version that knows `--end-of-options`. */
const OLDEST_GIT = [2, 24] as const;

/** Who pushed is the server's own affair. */
const SETTINGS = ['-c', 'uploadpack.hideRefs=refs/pushed'];

/** Opens the answer to a ref advertisement in the protocol before version 2. */
const SERVICE_LINE = '001e# service=git-upload-pack\n0000';

export class UploadPack {
  private readonly options: UploadPackOptions;
  private readonly limits: UploadPackLimits;
  private readonly places: FairQueue;
  private readonly running = new Set<GitProcess>();
  private version: string | null = null;
  private closed = false;

  constructor(options: UploadPackOptions) {
    this.options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    const { processes: slots, queue: waiting, queuePerCaller: waitingPerCaller, patience } = this.limits;
    const slotsPerCaller = Math.ceil(slots / 2);
    this.places = new FairQueue({ slots, slotsPerCaller, waiting, waitingPerCaller, patience });
  }

  /** Looks for git once. Without git every call fails with `git_not_available`. */
  async open(): Promise<void> {
    const { searchPath, log } = this.options;
    const version = await gitVersion(searchPath);
    this.version = version;
    if (this.isAvailable) return;
    const oldest = OLDEST_GIT.join('.');
    log.warn(
      { searchPath, version },
      `no git ${oldest} or newer found: /git/ answers 501, and so does blame; all else works`,
    );
  }

  /** Whether git was found, and is new enough. */
  get isAvailable(): boolean {
    return this.isAtLeast(OLDEST_GIT);
  }

  /** Whether git was found, and is of this version or a newer one. */
  isAtLeast([major, minor]: readonly [major: number, minor: number]): boolean {
    const [found = 0, foundMinor = 0] = (this.version ?? '0').split('.').map(Number);
    return found > major || (found === major && foundMinor >= minor);
  }

  /** Lists the refs in the client's version of the protocol. */
  advertise(call: FetchCall): Promise<Readable> {
    return this.run(call, null);
  }

  /** Answers one request of a fetch. The input is read as fast as git takes it, and destroyed at the end. */
  serve(call: FetchCall, input: Readable): Promise<Readable> {
    return this.run(call, input);
  }

  /** How many processes run at this moment. */
  get processes(): number {
    return this.running.size;
  }

  /** Ends all processes that still run, and waits until they have ended. */
  async close(): Promise<void> {
    this.closed = true;
    for (const process of this.running) process.stop();
    await Promise.all([...this.running].map((process) => process.ended));
  }

  private async run(
    { repository, caller, protocol, gone }: FetchCall,
    input: Readable | null,
  ): Promise<Readable> {
    if (!this.isAvailable) {
      const message = 'This server has no git to serve clones with; everything else works without it';
      throw new HawserError('not_implemented', 'git_not_available', message);
    }
    const version = protocolVersion(protocol);
    const leave = await this.places.takeBounded(caller, gone);
    let process: GitProcess;
    try {
      await this.options.folders.materialise(repository);
      if (this.closed) throw shuttingDown();
      process = this.start(repository, version, input === null);
    } catch (error) {
      leave();
      throw error;
    }
    void this.follow(process, repository).finally(leave);
    const preamble = input === null && version < 2 ? SERVICE_LINE : '';
    return exchange(process, { input, preamble, gone, limits: this.limits });
  }

  private start(repository: StoredRef, version: number, advertises: boolean): GitProcess {
    const { root, searchPath } = this.options;
    // Git ends by itself too, in case this server is killed and can no longer end it.
    const timeout = `--timeout=${Math.ceil(this.limits.total / SECOND)}`;
    const mode = advertises ? ['--stateless-rpc', '--advertise-refs'] : ['--stateless-rpc'];
    const folder = gitdirOf(resolve(root), repository);
    return new GitProcess({
      searchPath,
      args: [...SETTINGS, 'upload-pack', ...mode, '--strict', timeout, '--end-of-options', folder],
      env: version === 0 ? {} : { GIT_PROTOCOL: `version=${version}` },
    });
  }

  private async follow(process: GitProcess, repository: StoredRef): Promise<void> {
    this.running.add(process);
    const start = performance.now();
    const exit = await process.ended;
    this.running.delete(process);
    const { code, error, stderr } = exit;
    // A process that was ended by a signal was ended by this server, or because its client disconnected.
    const hasFailed = error !== null || (code !== 0 && code !== null && !isClientFault(exit));
    this.options.onOperation?.('fetch', performance.now() - start, hasFailed);
    if (hasFailed && error === null) await this.options.folders.distrust(repository).catch(() => undefined);
    const facts = { repository, code, stderr, ...(error ? { err: error } : {}) };
    this.options.log[hasFailed ? 'warn' : 'debug'](facts, 'git upload-pack ended');
  }
}

/** The highest known version among the keys of the header. Nothing else in the header reaches git. */
function protocolVersion(header: string | undefined): number {
  const versions = (header ?? '').split(':').map((key) => /^version=([012])$/.exec(key)?.[1] ?? '0');
  return Math.max(...versions.map(Number));
}

interface ExchangeOptions {
  /** The client's request; null when it has no body. Destroyed once no more of it is wanted. */
  input: Readable | null;
  /** Sent before the output of the process. */
  preamble: string;
  gone: AbortSignal;
  limits: UploadPackLimits;
}

/**
 * Lets the process answer. Resolves with the first byte of the answer, or when the process ends well without one. The
 * stream ends with the process, and destroying the stream ends the process.
 * @throws HawserError what went wrong before the first byte, while the client can still be told
 */
async function exchange(process: GitProcess, options: ExchangeOptions): Promise<Readable> {
  const { input, preamble, gone, limits } = options;
  const output = outputOf(process, preamble);
  const fail = (error: HawserError) => void output.destroy(error);
  const failSlow = (message: string) => fail(new HawserError('unavailable', 'git_timeout', message));
  const onGone = () => fail(clientGone());
  const stall = setTimeout(() => failSlow('No byte has moved for too long'), limits.stall);
  const total = setTimeout(() => failSlow('The answer has taken too long'), limits.total);
  gone.addEventListener('abort', onGone);
  output.on('moved', () => stall.refresh());
  output.on('close', () => {
    clearTimeout(stall);
    clearTimeout(total);
    gone.removeEventListener('abort', onGone);
    process.stop();
  });
  const begun = new Promise<void>((resolve, reject) => {
    output.once('begun', resolve);
    output.on('error', reject);
    output.once('close', () => reject(clientGone()));
  });
  if (gone.aborted) onGone();
  // An error of either stream destroys the other, and nothing more has to happen.
  pipeline(process.stdout, output, () => undefined);
  if (input === null) process.stdin.end();
  else {
    input.on('data', () => stall.refresh());
    pipeline(input, process.stdin, (error) => {
      // Any other error comes from the end of the process, whose exit says more.
      if (error instanceof HawserError) fail(error);
    });
  }
  await begun;
  return output;
}

/** The output of the process. Emits `moved` with each chunk, and `begun` once the answer has begun or ended well. */
function outputOf(process: GitProcess, preamble: string): Transform {
  let isSilent = true;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (isSilent) {
        isSilent = false;
        this.push(preamble);
        this.emit('begun');
      }
      this.emit('moved');
      done(null, chunk);
    },
    // Called when the process has closed its output. Its exit tells whether the output is complete.
    flush(done) {
      void process.ended.then((exit) => {
        const fault = faultOf(exit, isSilent);
        if (fault === null) this.emit('begun');
        done(fault);
      });
    },
  });
}

/**
 * Git's protocol marks its own end, and its last words tell the user what went wrong. So an answer that git began and
 * broke off is passed on as it is, as git's own HTTP server does. A killed process has no last words.
 */
function faultOf(exit: GitExit, isSilent: boolean): HawserError | null {
  if (exit.code === 0) return null;
  if (exit.error || exit.code === null) return internal('internal_error', 'Git broke off', exit.error);
  if (!isSilent) return null;
  const cause = new Error(exit.stderr.trim());
  return isClientFault(exit)
    ? new HawserError('invalid', 'malformed_body', 'This is no request that git understands', { cause })
    : damagedRepository(cause);
}

/** What git says about requests that break the protocol (upload-pack.c, serve.c, pkt-line.c), under LC_ALL=C. */
const CLIENT_FAULT =
  /^fatal: .*(?:protocol error|expected|hung up|not our ref|unknown capability|invalid command|no command|already requesting|[Ii]nvalid (?:deepen|shallow)|mismatched object format|cannot be used together|not negotiated|ambiguous)/m;

function isClientFault({ stderr }: GitExit): boolean {
  return CLIENT_FAULT.test(stderr);
}
