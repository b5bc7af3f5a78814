/** The repositories that somebody asked for in vain: a row of the registry leads to nothing. */

import type { RepositoryRef } from '../git/types.ts';
import { HawserError } from '../lib/errors.ts';
import type { RepositoryProblem } from './types.ts';

export class Absences {
  /** The key is the kind and the name. */
  private readonly missing = new Map<string, RepositoryRef>();
  /** Those that were removed in good order. A reader who comes too late is no sign of a fault. */
  private readonly removed = new Set<string>();

  get problems(): RepositoryProblem[] {
    return [...this.missing.values()].map((repository) => {
      return { repository, ref: '', reason: 'repository_missing' };
    });
  }

  /** To be called when a repository was made, or was removed in good order. */
  note(ref: RepositoryRef, isThere: boolean): void {
    this.missing.delete(keyOf(ref));
    if (isThere) this.removed.delete(keyOf(ref));
    else this.removed.add(keyOf(ref));
  }

  /** Does work that needs the repository, and keeps in mind whether it is there. */
  async tracking<T>(ref: RepositoryRef, work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      if (this.missing.size > 0) this.missing.delete(keyOf(ref));
      return result;
    } catch (error) {
      const isMissing = error instanceof HawserError && error.code === 'repository_missing';
      if (isMissing && !this.removed.has(keyOf(ref)))
        this.missing.set(keyOf(ref), { kind: ref.kind, name: ref.name });
      throw error;
    }
  }
}

function keyOf({ kind, name }: RepositoryRef): string {
  return `${kind}/${name}`;
}
