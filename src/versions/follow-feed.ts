/** Lets a store follow the refs that other processes move. */

import type { Database } from '../db/database.ts';
import type { RefsChange } from '../db/git-tables.ts';
import type { ReadingDatabase } from '../db/reading.ts';
import { holdsVersions, isRepositoryKind, type RepositoryRef } from '../git/types.ts';
import type { GitStore } from './store.ts';

/** @param onMoved is told of each repository whose refs have moved; null stands for all */
export function followFeed(
  store: GitStore,
  { changes, repositories }: Pick<Database | ReadingDatabase, 'changes' | 'repositories'>,
  onMoved: (ref: RepositoryRef | null) => void = () => undefined,
): void {
  changes.subscribe({
    onChange(kind, key) {
      if (kind === 'refs') {
        const change: RefsChange = JSON.parse(key);
        store.learn(change);
        if (holdsVersions(change)) onMoved(change);
      } else if (repositories === null && isRepositoryKind(kind)) {
        store.invalidate({ kind, name: key });
        onMoved({ kind, name: key });
      }
    },
    onLost() {
      store.invalidate();
      onMoved(null);
    },
  });
}
