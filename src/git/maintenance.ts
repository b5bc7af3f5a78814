/** Repacks repositories with stock git in the background, one at a time, and drops the objects of what was removed. */

import { resolve } from 'node:path';
import { DAY, SECOND } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { AtomicFs } from './atomic-fs.ts';
import { GitProcess, gitVersion } from './git-process.ts';
import { dropCommitGraph, readShallow } from './history.ts';
import { gitdirOf } from './repository-layout.ts';
import type { RepositoryRef } from './types.ts';

export interface MaintenanceOptions {
  root: string;
  /** Where git is looked for, like `PATH`. */
  searchPath: string;
  log: Log;
  /**
   * Milliseconds for which objects that no ref leads to are left alone. A write makes its objects before the ref
   * that leads to them, and renews the time of those it finds there; none takes a day.
   */
  grace?: number;
}

const NICENESS = 10;

export class Maintenance {
  private readonly options: MaintenanceOptions;
  /** By folder, those that wait for their turn. */
  private readonly waiting = new Map<string, RepositoryRef>();
  private running: Promise<void> | undefined;
  private process: GitProcess | undefined;
  private usable = false;
  private closed = false;

  constructor(options: MaintenanceOptions) {
    this.options = options;
  }

  /** Whether there is a git to do it with. */
  get isAvailable(): boolean {
    return this.usable;
  }

  /** Looks for git, once: without it nothing is ever repacked, and all else works. */
  async open(): Promise<void> {
    this.usable = (await gitVersion(this.options.searchPath)) !== null;
  }

  /** Has the repository repacked as soon as those asked for before it are done. */
  request(repository: RepositoryRef): void {
    if (!this.usable || this.closed) return;
    this.waiting.set(gitdirOf(resolve(this.options.root), repository), repository);
    this.running ??= this.work().finally(() => {
      this.running = undefined;
    });
  }

  /** Resolves once nothing that was asked for is left to do. */
  async settled(): Promise<void> {
    while (this.running) await this.running;
  }

  /** Ends what runs, which harms nothing, and forgets what waits. */
  async close(): Promise<void> {
    this.closed = true;
    this.waiting.clear();
    this.process?.stop();
    await this.settled();
  }

  private async work(): Promise<void> {
    for (;;) {
      const [next] = this.waiting;
      if (next === undefined) return;
      const [folder, repository] = next;
      this.waiting.delete(folder);
      await this.repack(folder, repository);
    }
  }

  private async repack(folder: string, repository: RepositoryRef): Promise<void> {
    const { searchPath, log, grace = DAY } = this.options;
    await this.prepare(folder, repository);
    const expiry = grace === 0 ? 'now' : `${Math.ceil(grace / SECOND)}.seconds.ago`;
    const args = [`--git-dir=${folder}`, 'gc', '--quiet', `--prune=${expiry}`];
    this.process = new GitProcess({ searchPath, args, niceness: NICENESS });
    this.process.stdin.end();
    this.process.stdout.resume();
    const { code, error, stderr } = await this.process.ended;
    this.process = undefined;
    // A repository may go while it is at work in it; and a gc of the operator's own goes first.
    const facts = { repository, code, ...(error ? { err: error } : {}), ...(stderr ? { stderr } : {}) };
    log[code === 0 || this.closed ? 'debug' : 'warn'](facts, 'git gc ended');
  }

  /** A gc of somebody else's may have written the graph anew while history was being cut. */
  private async prepare(folder: string, repository: RepositoryRef): Promise<void> {
    const fs = new AtomicFs();
    try {
      if ((await readShallow(fs, folder)).size > 0) await dropCommitGraph(fs, folder);
    } catch (error) {
      this.options.log.warn({ err: error, repository }, 'could not prepare a repository for git gc');
    }
  }
}
