/** Finds out who wrote which line, with stock git: a few processes at once, each bound in time and output. */

import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { clientGone, refuseGone } from '../lib/client-gone.ts';
import { SECOND } from '../lib/clock.ts';
import { HawserError, internal, shuttingDown } from '../lib/errors.ts';
import { FairQueue } from '../lib/fair-queue.ts';
import type { Log } from '../lib/log.ts';
import { Pace } from '../lib/pace.ts';
import { type BlamedLines, BlameOutput } from './blame-output.ts';
import { damagedRepository, missingRepository } from './disk-errors.ts';
import { GitProcess } from './git-process.ts';
import { gitdirOf } from './repository-layout.ts';
import type { GitFolders, StoredRef } from './types.ts';

export interface GitBlameLimits {
  /** How many calls are carried out at once. */
  slots: number;
  /** How many calls may wait: of all callers, and of each. */
  waiting: number;
  waitingPerCaller: number;
  /** Milliseconds that one process may take. */
  total: number;
  /** Characters that one process may print. */
  output: number;
}

export interface GitBlameOptions {
  root: string;
  /** The folders in which git is looked for, like `PATH`. */
  searchPath: string;
  log: Log;
  folders: GitFolders;
  /** Whether git was found there. Without it every call fails with `git_not_available`. */
  hasGit: boolean;
  limits?: Partial<GitBlameLimits>;
}

export interface BlamedFile {
  repository: StoredRef;
  commit: string;
  /** The path of a file that the commit has. */
  path: string;
}

/** A caller, who waits for the answer. */
export interface BlameCaller {
  /** The user's id. Users take turns. */
  caller: string;
  /** Aborted when the caller has disconnected. */
  gone: AbortSignal;
}

interface Run {
  repository: StoredRef;
  args: readonly string[];
  input?: string;
  gone?: AbortSignal;
  take(line: string): void;
}

const DEFAULT_LIMITS: GitBlameLimits = {
  slots: 2,
  waiting: 64,
  waitingPerCaller: 16,
  total: 10 * SECOND,
  output: 8 * 1024 * 1024,
};

/** Polls go first. */
const NICENESS = 10;

/**
 * The authors are those of the commits, whatever a file `.mailmap` in the repository says, and no attribute makes git run
 * a program of its configuration (`textconv`) or leave commits out. Git follows renames of whole files by itself.
 */
const BLAME = [
  ...['-c', 'mailmap.blob=', '-c', 'mailmap.file='],
  ...['blame', '--incremental', '--no-textconv', '--ignore-revs-file=', '--encoding=UTF-8'],
];

export class GitBlame {
  private readonly options: GitBlameOptions;
  private readonly limits: GitBlameLimits;
  private readonly queue: FairQueue;
  private readonly running = new Set<GitProcess>();
  private closed = false;

  constructor(options: GitBlameOptions) {
    this.options = options;
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    const { slots, waiting, waitingPerCaller } = this.limits;
    this.queue = new FairQueue({ slots, waiting, waitingPerCaller });
  }

  /** How many processes run at this moment. */
  get processes(): number {
    return this.running.size;
  }

  /**
   * Carries out work with the other methods in the caller's turn.
   * @throws HawserError not_implemented `git_not_available`; rate_limited; unavailable `overloaded`, `shutting_down`;
   *   `client_gone`
   */
  inTurn<T>({ caller, gone }: BlameCaller, work: () => Promise<T>): Promise<T> {
    if (!this.options.hasGit) {
      const message = 'This server has no git, which alone can tell; everything else works without it';
      throw new HawserError('not_implemented', 'git_not_available', message);
    }
    return this.queue.runBounded(caller, async () => {
      refuseGone(gone);
      return work();
    });
  }

  /**
   * The commit of each line of a file, in the order of the lines; adjacent lines of one commit are one entry. Lines are
   * older than where history ends are those of the commit at which it ends.
   * @throws HawserError unavailable `git_timeout` beyond the limits, or `shutting_down`; `client_gone`;
   *   `repository_damaged`
   */
  async lines({ repository, commit, path }: BlamedFile, gone: AbortSignal): Promise<BlamedLines[]> {
    const output = new BlameOutput();
    const args = [...BLAME, commit, '--', path];
    await this.run({ repository, args, gone, take: (line) => output.take(line) });
    return output.finish();
  }

  /**
   * The parents of each commit that these commits are or come from, as far as history goes. It is not broken off when a
   * caller goes, since several may wait for it.
   * @throws HawserError as `lines`
   */
  async parents(repository: StoredRef, commits: readonly string[]): Promise<Map<string, readonly string[]>> {
    const parents = new Map<string, readonly string[]>();
    const take = (line: string) => {
      const [commit, ...rest] = line.split(' ');
      if (commit) parents.set(commit, rest);
    };
    const input = commits.map((commit) => `${commit}\n`).join('');
    const args = ['rev-list', '--parents', '--ignore-missing', '--stdin'];
    await this.run({ repository, args, input, take });
    return parents;
  }

  /** Ends all processes that still run, and waits until they have ended. */
  async close(): Promise<void> {
    this.closed = true;
    this.queue.refuseWaiting(shuttingDown());
    for (const process of this.running) process.stop();
    await Promise.all([...this.running].map((process) => process.ended));
  }

  private async run({ repository, args, input = '', gone, take }: Run): Promise<void> {
    if (this.closed) throw shuttingDown();
    refuseGone(gone);
    const { root, searchPath, log, folders } = this.options;
    await folders.materialise(repository);
    const folder = gitdirOf(resolve(root), repository);
    const process = new GitProcess({
      searchPath,
      args: ['--no-replace-objects', `--git-dir=${folder}`, ...args],
      niceness: NICENESS,
    });
    this.running.add(process);
    const refusals: HawserError[] = [];
    const refuse = (error: HawserError) => {
      refusals.push(error);
      process.stop();
    };
    const timer = setTimeout(() => refuse(tooMuch('Git takes too long to find this out')), this.limits.total);
    const onGone = () => refuse(clientGone());
    gone?.addEventListener('abort', onGone, { once: true });
    try {
      process.stdin.end(input);
      await this.readLines(process, take, refuse);
      const { code, error, stderr } = await process.ended;
      const [refusal] = refusals;
      if (refusal) throw refusal;
      if (code === 0) return;
      if (this.closed) throw shuttingDown();
      log.warn({ repository, code, stderr, ...(error ? { err: error } : {}) }, 'git blame failed');
      throw await faultOf(folder, error, stderr);
    } finally {
      clearTimeout(timer);
      gone?.removeEventListener('abort', onGone);
      process.stop();
      await process.ended;
      this.running.delete(process);
    }
  }

  /** Splits the output at line feeds. A line may be as long as the limit: it holds a commit's subject. */
  private async readLines(
    { stdout }: GitProcess,
    take: (line: string) => void,
    refuse: (error: HawserError) => void,
  ): Promise<void> {
    let left = this.limits.output;
    let rest = '';
    const pace = new Pace();
    for await (const chunk of stdout.setEncoding('utf8') as AsyncIterable<string>) {
      left -= chunk.length;
      if (left < 0) {
        refuse(tooMuch('Git finds more than this server passes on'));
        return;
      }
      const [first = '', ...others] = chunk.split('\n');
      rest += first;
      for (const line of others) {
        take(rest);
        rest = line;
      }
      if (pace.isDue) await pace.rest();
    }
  }
}

/** What is wrong when git has failed: without its repository, or with it. */
async function faultOf(folder: string, error: Error | null, stderr: string): Promise<HawserError> {
  if (error) return internal('internal_error', 'Git could not be started', error);
  const cause = new Error(stderr.trim());
  return access(folder).then(
    () => damagedRepository(cause),
    () => missingRepository(cause),
  );
}

function tooMuch(message: string): HawserError {
  return new HawserError('unavailable', 'git_timeout', message);
}
