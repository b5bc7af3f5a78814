/** What maintenance does a day after objects were needed last, at once. */

import { sql } from 'kysely';
import { createLog } from '../../src/lib/log.ts';
import { pruneRepositories } from '../../src/versions/pruning.ts';
import { withDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import type { Hawser } from './hawser.ts';

/** Removes the objects of a repository such as `configurations/web.git` to which no ref leads. */
export async function eraseUnreachable(hawser: Hawser, repository: string): Promise<void> {
  if (hawser.databaseUrl === null) {
    // The server's own maintenance may be at it, and git lets one at a time work.
    await eventually(async () => void hawser.git(repository, 'gc', '--prune=now', '--quiet'));
    return;
  }
  await withDatabase(hawser, async (database) => {
    await sql`update git_objects set created_at = created_at - interval '2 days'`.execute(database.write);
    await pruneRepositories({ database, log: createLog('silent') }, new AbortController().signal);
  });
}
