/** The terms of the branch `rollout/<version>`, which is the record of a rollout. */

import type { RolloutCause, RolloutCounts, RolloutRecord, RolloutState } from '../domain/rollout.ts';
import type { Person } from '../git/types.ts';
import type { PlannedEntry } from './planned-entry.ts';

/** What the branch `rollout/<version>` says of a published version, while it counts for the version's tag. */
export interface RolloutRef {
  /** The id of the branch's commit. */
  oid: string;
  record: RolloutRecord;
}

/** The rollout of a version that is about to be published. */
export interface PublishedRollout {
  /** The audit entry, which lacks the commit. */
  entry: PlannedEntry;
  /** @param tag the id of the version's tag, which the record is to name */
  begin(tag: string): Pick<RolloutMove, 'record' | 'message'>;
}

/** What the commit of a transition says. */
export interface RolloutMessage {
  /** What happens, in a few words. */
  what: string;
  /** The state before; null in the first commit. */
  from: RolloutState | null;
  /** Why. It may hold anything. */
  reason: string;
  /** Why it is halted, paused or superseded; null where it is not, and where the commit does not say. */
  cause: RolloutCause | null;
  counts: RolloutCounts;
}

/** A transition of a rollout, which is a commit on its branch. */
export interface RolloutMove {
  record: RolloutRecord;
  message: RolloutMessage;
  author: Person;
  /** Epoch milliseconds. */
  at: number;
}

/** An entry of the history of a rollout, which is one commit of its branch. */
export interface RolloutEvent extends Pick<RolloutMessage, 'what' | 'from' | 'reason' | 'cause' | 'counts'> {
  /** Epoch milliseconds. */
  at: number;
  /** The name of the commit's author. */
  actorName: string;
  to: RolloutState;
}
