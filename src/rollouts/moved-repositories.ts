/** Remembers which repositories have moved, for a leader that looks at them every second. */

import type { ChangeFeed } from '../db/change-feed.ts';
import type { RefsChange } from '../db/git-tables.ts';
import { isRepositoryKind } from '../git/types.ts';

export class MovedRepositories {
  private readonly changes: ChangeFeed;
  /** As `<kind>/<name>`; null stands for all. */
  private moved: Set<string> | null = null;

  constructor(changes: ChangeFeed) {
    this.changes = changes;
    changes.subscribe({
      onChange: (kind, key) => {
        if (kind === 'refs') this.note(JSON.parse(key) as RefsChange);
        else if (isRepositoryKind(kind)) this.note({ kind, name: key });
      },
      onLost: () => this.forget(),
    });
  }

  /** All repositories count as moved from now on. */
  forget(): void {
    this.moved = null;
  }

  /** Those that have moved since the last call, as `<kind>/<name>`; null stands for all. @throws as `catchUp` */
  async take(): Promise<ReadonlySet<string> | null> {
    await this.changes.catchUp('now');
    const { moved } = this;
    this.moved = new Set();
    return moved;
  }

  private note({ kind, name }: Pick<RefsChange, 'kind' | 'name'>): void {
    this.moved?.add(`${kind}/${name}`);
  }
}
