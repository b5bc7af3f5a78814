/** The tasks of the threads that work on the whole fleet. */

import type { Database } from '../db/database.ts';
import type { Send, Threads } from '../lib/threads.ts';
import type { GitStore } from '../versions/store.ts';
import { CurrentOffers } from './current-offers.ts';
import { Fleet, type FleetPlace } from './fleet.ts';
import { makePreview } from './make-preview.ts';
import { nodeListTasks } from './node-list-tasks.ts';
import { offeredTasks } from './offered-counts.ts';
import { pastTasks } from './past-tasks.ts';
import { previewQuestions } from './preview-questions.ts';
import type { PreviewInput } from './preview-types.ts';
import { proofTasks } from './proof-tasks.ts';
import { rolloutTasks } from './rollout-tasks.ts';
import type { KeyRing } from './secret-leaves.ts';

export type FleetTasks = ReturnType<typeof fleetTasks>;

/** What answers questions of the whole fleet. */
export interface FleetTools {
  database: Database;
  store: GitStore;
  /** They answer what would hold up everybody here. */
  questions: Threads<FleetTasks>;
}

export function fleetTasks(place: FleetPlace, keys: KeyRing) {
  let opened: Fleet | null = null;
  /** The database is opened by the first task, so that an error of it reaches a caller. */
  const fleet = () => {
    opened ??= new Fleet(place, keys);
    return opened;
  };
  let current: CurrentOffers | null = null;
  const offers = () => {
    current ??= new CurrentOffers(fleet());
    return current;
  };
  return {
    /** Sends `PreviewCounts` meanwhile. @throws as `makePreview` */
    makePreview: (input: PreviewInput, send: Send) => makePreview(fleet(), input, send),
    ...nodeListTasks(fleet),
    ...pastTasks(fleet),
    ...previewQuestions(fleet),
    ...proofTasks(fleet, offers),
    ...rolloutTasks(fleet, offers),
    ...offeredTasks(fleet, offers),
  };
}
