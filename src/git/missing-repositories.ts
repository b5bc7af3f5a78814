/** The repositories that somebody asked for in vain: a row of the registry leads to nothing. */

import { HawserError } from '../lib/errors.ts';
import type { RepositoryProblem, RepositoryRef } from './types.ts';

export class MissingRepositories {
  private readonly missing = new Map<string, RepositoryRef>();
  /** Those that the store removed itself: a reader who comes too late is no sign of anything. */
  private readonly gone = new Set<string>();

  get problems(): RepositoryProblem[] {
    return [...this.missing.values()].map((repository) => {
      return { repository, ref: '', reason: 'repository_missing' };
    });
  }

  async noting<T>(ref: RepositoryRef, work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      if (this.missing.size > 0) this.missing.delete(keyOf(ref));
      return result;
    } catch (error) {
      const isMissing = error instanceof HawserError && error.code === 'repository_missing';
      if (isMissing && !this.gone.has(keyOf(ref))) this.missing.set(keyOf(ref), { ...ref });
      throw error;
    }
  }

  /** The repository has been made. */
  found(ref: RepositoryRef): void {
    this.gone.delete(keyOf(ref));
  }

  removed(ref: RepositoryRef): void {
    this.gone.add(keyOf(ref));
    this.missing.delete(keyOf(ref));
  }
}

function keyOf({ kind, name }: RepositoryRef): string {
  return `${kind}/${name}`;
}
