/** Looks every hour whether the packs of all repositories are whole, before anybody asks for what is in them. */

import { join } from 'node:path';
import type { AtomicFs } from '../git/atomic-fs.ts';
import { isWholePack, listPacks } from '../git/pack-checks.ts';
import { gitdirOf } from '../git/repository-layout.ts';
import { STORED_KINDS, type StoredKind, type StoredRef } from '../git/types.ts';
import { HOUR } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type RepeatedWork, repeat } from '../lib/repeated-work.ts';
import type { RepositoryProblem } from './types.ts';

interface Tools {
  root: string;
  fs: AtomicFs;
  log: Log;
  /** The names of the repositories. */
  list(kind: StoredKind): Promise<string[]>;
}

export class PackWatch {
  private readonly tools: Tools;
  /** By the path of the pack. */
  private damaged = new Map<string, RepositoryProblem>();

  constructor(tools: Tools) {
    this.tools = tools;
  }

  /** The packs that the last look found damaged. */
  get problems(): readonly RepositoryProblem[] {
    return [...this.damaged.values()];
  }

  start(): RepeatedWork {
    return repeat(
      HOUR,
      (signal) => this.look(signal),
      (error) => this.tools.log.warn({ err: error }, 'could not look at the packs of repositories'),
    );
  }

  private async look(signal: AbortSignal): Promise<void> {
    const found = new Map<string, RepositoryProblem>();
    for (const kind of STORED_KINDS) {
      for (const name of await this.tools.list(kind)) {
        if (signal.aborted) return;
        await this.lookAt({ kind, name }, found, signal);
      }
    }
    this.damaged = found;
  }

  private async lookAt(
    repository: StoredRef,
    found: Map<string, RepositoryProblem>,
    signal: AbortSignal,
  ): Promise<void> {
    const { root, fs, log } = this.tools;
    const gitdir = gitdirOf(root, repository);
    try {
      for (const pack of await listPacks(fs, gitdir)) {
        const path = join(gitdir, pack);
        if (await isWholePack(fs, path, signal)) continue;
        const problem = { repository, ref: `pack ${pack}`, reason: 'repository_damaged' };
        if (!this.damaged.has(path)) log.error(problem, 'a repository is damaged: a pack is not whole');
        found.set(path, problem);
        this.damaged.set(path, problem);
      }
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error, repository }, 'could not read the packs of a repository');
    }
  }
}
