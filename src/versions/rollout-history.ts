/** The history of a rollout: what the commits of its branch tell. */

import { NO_COUNTS } from '../domain/rollout.ts';
import type { ParsedCommit } from '../git/commits.ts';
import { History } from '../git/history.ts';
import type { ObjectStore } from '../git/objects.ts';
import { preciseTime, tidyText, withoutSignature } from '../git/trailers.ts';
import { readRollout } from './rollout-branch.ts';
import { readRolloutMessage } from './rollout-messages.ts';
import type { RolloutEvent, RolloutRef } from './types.ts';

/** Of a longer history the newest are given. A rollout of a hundred steps has a few hundred. */
const MAX_EVENTS = 1_000;

/**
 * The commits of a rollout, oldest first.
 * @param site the repository, with the commits at which its history ends
 * @throws HawserError `repository_damaged` when a commit cannot be read
 */
export async function readRolloutHistory(
  objects: ObjectStore,
  { gitdir, shallow }: { gitdir: string; shallow: ReadonlySet<string> },
  rollout: RolloutRef,
): Promise<RolloutEvent[]> {
  const version = rollout.record.key;
  const commits: { oid: string; commit: ParsedCommit }[] = [];
  for await (const each of new History(objects, gitdir, shallow).firstParents(rollout.oid)) {
    commits.push(each);
    if (commits.length === MAX_EVENTS) break;
  }
  const events: RolloutEvent[] = [];
  for (const { oid, commit } of commits.reverse()) {
    const before = events.at(-1)?.to ?? null;
    const signature = commit.author;
    const who = { actorName: signature?.name ?? 'unknown' };
    const read = readRolloutMessage(commit.message);
    if (read) {
      const { movedAt, ...said } = read;
      events.push({ at: preciseTime(movedAt, signature?.timestamp ?? 0), ...who, ...said });
      continue;
    }
    // Stock git made it, and only the file tells what it did.
    const made = await readRollout(objects, gitdir, { oid, version });
    const to = 'rollout' in made ? made.rollout.state : before;
    if (to === null) continue;
    const reason = tidyText(withoutSignature(commit.message)) ?? '';
    const at = (signature?.timestamp ?? 0) * 1_000;
    events.push({
      at,
      ...who,
      what: 'Changed with git',
      from: before,
      to,
      reason,
      cause: null,
      counts: NO_COUNTS,
    });
  }
  return events;
}
