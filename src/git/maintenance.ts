/** Repacks repositories with stock git in the background, one at a time, and removes the objects of deleted versions. */

import { resolve } from 'node:path';
import { DAY, SECOND } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { AtomicFs } from './atomic-fs.ts';
import { GitProcess, gitVersion } from './git-process.ts';
import { dropCommitGraph, readShallow } from './history.ts';
import { gitdirOf } from './repository-layout.ts';
import type { StoredRef } from './types.ts';

export interface MaintenanceOptions {
  root: string;
  /** The folders in which git is looked for, like `PATH`. */
  searchPath: string;
  log: Log;
  /** Whether there is anything to do. Default: true. */
  isNeeded?: boolean;
  /**
   * Milliseconds for which objects that no ref leads to are kept. A write makes its objects before the ref that leads to
   * them, and renews the time of those that exist already. No write takes a day.
   */
  grace?: number;
}

const NICENESS = 10;

export class Maintenance {
  private readonly options: MaintenanceOptions;
  /** The repositories that wait for their turn, by folder. */
  private readonly waiting = new Map<string, StoredRef>();
  private running: Promise<void> | undefined;
  private process: GitProcess | undefined;
  private usable = false;
  private closed = false;
  private readonly isNeeded: boolean;

  constructor(options: MaintenanceOptions) {
    this.options = options;
    this.isNeeded = options.isNeeded ?? true;
  }

  /** Whether all that is needed can be done, because git was found. */
  get isAvailable(): boolean {
    return this.usable || !this.isNeeded;
  }

  /** Looks for git once. Without git nothing is ever repacked, and everything else works. */
  async open(): Promise<void> {
    if (!this.isNeeded) return;
    this.usable = (await gitVersion(this.options.searchPath)) !== null;
  }

  /** Has a repository repacked after those that were requested before. */
  request(repository: StoredRef): void {
    if (!this.usable || this.closed) return;
    this.waiting.set(gitdirOf(resolve(this.options.root), repository), repository);
    this.running ??= this.work().finally(() => {
      this.running = undefined;
    });
  }

  /** Resolves once all requests have been served. */
  async whenIdle(): Promise<void> {
    while (this.running) await this.running;
  }

  /** Ends the running gc, which does no harm, and drops the requests that wait. */
  async close(): Promise<void> {
    this.closed = true;
    this.waiting.clear();
    this.process?.stop();
    await this.whenIdle();
  }

  private async work(): Promise<void> {
    // A repository that is requested meanwhile is added to the end of the map, and reached too.
    for (const [folder, repository] of this.waiting) {
      this.waiting.delete(folder);
      await this.repack(folder, repository);
    }
  }

  private async repack(folder: string, repository: StoredRef): Promise<void> {
    const { searchPath, log, grace = DAY } = this.options;
    await this.prepare(folder, repository);
    const expiry = grace === 0 ? 'now' : `${Math.ceil(grace / SECOND)}.seconds.ago`;
    const args = [`--git-dir=${folder}`, 'gc', '--quiet', `--prune=${expiry}`];
    this.process = new GitProcess({ searchPath, args, niceness: NICENESS });
    this.process.stdin.end();
    this.process.stdout.resume();
    const { code, error, stderr } = await this.process.ended;
    this.process = undefined;
    // It fails when the repository is deleted meanwhile, and when the operator runs a gc too.
    const facts = { repository, code, ...(error ? { err: error } : {}), ...(stderr ? { stderr } : {}) };
    log[code === 0 || this.closed ? 'debug' : 'warn'](facts, 'git gc ended');
  }

  /** Another program's gc may have written the commit graph again while history was cut. */
  private async prepare(folder: string, repository: StoredRef): Promise<void> {
    const fs = new AtomicFs();
    try {
      if ((await readShallow(fs, folder)).size > 0) await dropCommitGraph(fs, folder);
    } catch (error) {
      this.options.log.warn({ err: error, repository }, 'could not prepare a repository for git gc');
    }
  }
}
