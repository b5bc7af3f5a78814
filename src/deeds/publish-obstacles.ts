/** What stands in the way of publishing beside the draft itself, and what its history tells. */

import { freezeBlocker } from '../db/freeze.ts';
import { buildsOnWithdrawn, type Finding } from '../domain/findings.ts';
import { type HawserError, notFound } from '../lib/errors.ts';
import { findBlockers, type PublishRules } from '../versions/rules.ts';
import type { GitStore, VersionDetails, VersionIndex, VersionRef } from '../versions/store.ts';
import { type AskedDeed, aloneBlocker, type ProtectionTools } from './protection.ts';

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
 * Adds what stands in the way of publishing at the moment, whatever is in the draft: a freeze and a protection, which are answered
 * before all else, and what rolls out, which is answered after all else.
 * @param deed the publishing
 * @param rolling what rolls out and stands in the way of a draft; null where nothing does
 */
export async function withObstacles(
  tools: ProtectionTools,
  { deed, rolling, ref, now }: { deed: AskedDeed; rolling: HawserError | null; ref: VersionRef; now: number },
  blockers: readonly HawserError[],
): Promise<readonly HawserError[]> {
  const frozen = await freezeBlocker(tools.database.read, now);
  const kept = await aloneBlocker(tools, deed);
  const isRolling = rolling !== null && ref.status === 'Draft';
  return [...(frozen ? [frozen] : []), ...(kept ? [kept] : []), ...blockers, ...(isRolling ? [rolling] : [])];
}

/** @throws HawserError not_found without such a version; the first of its blockers */
export async function requirePublishable(
  index: VersionIndex,
  version: string,
  rules: PublishRules,
  missing = 'No such version',
): Promise<void> {
  const ref = index.get(version);
  if (ref === undefined) throw notFound(missing);
  const [blocker] = await findBlockers(ref, rules);
  if (blocker !== undefined) throw blocker;
}
