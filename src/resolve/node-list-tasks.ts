/** The list of nodes and the numbers of the fleet, for a thread. */

import {
  readingKinds,
  readingStateCounts,
  readingSummary,
  readingTimes,
  type StateCounts,
} from '../db/fleet-summary.ts';
import { type NodeQuestion, readingAssignments, readingIds, readingPage } from '../db/node-list.ts';
import type { PageQuery } from '../db/rows.ts';
import type { StalenessRule } from '../db/staleness.ts';
import type { Send } from '../lib/threads.ts';
import type { Fleet } from './fleet.ts';

/** Ids that the caller takes at a time. This takes less than a millisecond. */
const PIECE = 1_000;

export function nodeListTasks(fleet: () => Fleet) {
  const database = () => fleet().database;
  return {
    /** The ids of one page in their order, and how many nodes there are on all pages together. */
    nodePage: ({ page, ...question }: NodeQuestion & { page: PageQuery }) =>
      database().read(readingPage(database().queries, question, page)),

    /** Sends the ids of all nodes that the filter meets, in their order, in pieces (`string[]`). */
    async nodeIds(question: NodeQuestion, send: Send): Promise<void> {
      const ids = await database().read(readingIds(database().queries, question));
      for (let at = 0; at < ids.length; at += PIECE) await send(ids.slice(at, at + PIECE));
    },

    nodeAssignments: () => database().read(readingAssignments()),
    fleetSummary: (rule: StalenessRule) => database().read(readingSummary(database().queries, rule)),
    fleetKinds: () => database().read(readingKinds(database().queries)),
    fleetTimes: (input: { rule: StalenessRule; until: readonly number[] }) =>
      database().read(readingTimes(database().queries, input)),
    stateCounts: async (rule: StalenessRule): Promise<StateCounts> =>
      database().read(readingStateCounts(database().queries, rule)),
  };
}
