/** The terms of the branch `rollout/<key>`, which is the record of a rollout. */

import type { RolloutCause, RolloutCounts, RolloutRecord, RolloutState } from '../domain/rollout.ts';
import type { PeeledMove } from '../git/refs.ts';
import type { Person } from '../git/types.ts';
import type { PlannedEntry } from './planned-entry.ts';

/** What the branch `rollout/<key>` says: of a published version while it counts for the version's tag, and of parameter files. */
export interface RolloutRef {
  /** The id of the branch's commit. */
  oid: string;
  record: RolloutRecord;
}

/** The rollouts of a repository that no version shows. */
export interface LooseRollouts {
  /** Those of parameter files alone. */
  alone: readonly RolloutRef[];
  /** Those of a version and files that are being published. Until the version has its tag, nobody is offered any of it. */
  unbegun: readonly RolloutRef[];
}

/** The rollout of a version that is about to be published. */
export interface PublishedRollout {
  /** The audit entry, which lacks the commit. */
  entry: PlannedEntry;
  /** @param tag the id of the version's tag, which the record is to name */
  begin(tag: string): Pick<RolloutMove, 'record' | 'message'>;
  /** Publishes the files that go with it, between the branch and the tag. Absent without any. */
  files?: (() => Promise<void>) | undefined;
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

/** A tag that is written, to which no ref leads yet. */
export interface WrittenTag {
  series: string;
  version: string;
  oid: string;
  /** That of the draft, and the entry of its publishing. */
  draft: { name: string; oid: string };
  move: PeeledMove;
  /** Those of the record of its push, where the tag was pushed. */
  records: readonly PeeledMove[];
  entry: PlannedEntry;
}

/** The full name of a tag, and its object. */
export interface NamedTag {
  name: string;
  oid: string;
}
