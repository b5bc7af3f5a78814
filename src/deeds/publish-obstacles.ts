/** What stands in the way of publishing beside the draft itself, and what its history tells. */

import type { Db } from '../db/database.ts';
import { freezeBlocker } from '../db/freeze.ts';
import { buildsOnWithdrawn, type Finding } from '../domain/findings.ts';
import type { HawserError } from '../lib/errors.ts';
import type { GitStore, VersionDetails, VersionIndex, VersionRef } from '../versions/store.ts';

/** What is found in the history of a draft, which may go on through many commits; so it is called without any lock. */
export async function findingsInHistory(
  store: GitStore,
  name: string,
  index: VersionIndex,
  { commit, entryPoint }: Pick<VersionDetails, 'commit' | 'entryPoint'>,
): Promise<readonly Finding[]> {
  const withdrawn = await store.withdrawnIn({ kind: 'configurations', name }, index, commit);
  return buildsOnWithdrawn(withdrawn, entryPoint);
}

/**
 * Adds what stands in the way of publishing at the moment, whatever is in the draft: a freeze, which is answered before all
 * else, and what rolls out, which is answered after all else.
 * @param rolling what rolls out and stands in the way of a draft; null where nothing does
 */
export async function withObstacles(
  db: Db,
  { rolling, ref, now }: { rolling: HawserError | null; ref: VersionRef; now: number },
  blockers: readonly HawserError[],
): Promise<readonly HawserError[]> {
  const frozen = await freezeBlocker(db, now);
  const isRolling = rolling !== null && ref.status === 'Draft';
  return [...(frozen ? [frozen] : []), ...blockers, ...(isRolling ? [rolling] : [])];
}
