/** What could not be read in a repository when it was last asked for, kept in mind until it can. */

import { HawserError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { RepositoryRef } from './types.ts';

/** How often what could not be read is tried again. */
const ROUND = 5_000;

export class Damage {
  /** Refs by their full names, and `blob <oid>`. */
  readonly names = new Set<string>();
  private readonly log: Log;
  private readonly repository: RepositoryRef;
  private triedAt = 0;

  constructor(log: Log, repository: RepositoryRef) {
    this.log = log;
    this.repository = repository;
  }

  /** Whether it is time to try again. */
  get isDue(): boolean {
    return this.names.size > 0 && performance.now() - this.triedAt > ROUND;
  }

  /** Called when everything is tried again. */
  trying(): void {
    this.triedAt = performance.now();
  }

  found(name: string, error: unknown): void {
    if (this.names.has(name)) return;
    if (this.names.size === 0) this.trying();
    this.names.add(name);
    const about = { err: error, repository: this.repository, ref: name };
    this.log.error(about, 'a repository is damaged: an object is missing or broken');
  }

  cured(name: string): void {
    if (this.names.delete(name)) {
      this.log.info({ repository: this.repository, ref: name }, 'what was damaged can be read again');
    }
  }
}

export function isDamage(error: unknown): boolean {
  return error instanceof HawserError && error.code === 'repository_damaged';
}
