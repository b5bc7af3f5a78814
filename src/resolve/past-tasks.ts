/** The questions about what all nodes ran at a time, for a thread. */

import {
  type PastPlace,
  type PastQuestion,
  type PastRow,
  readingPastPage,
  readingPastSlice,
} from '../db/read-past.ts';
import type { PageQuery } from '../db/rows.ts';
import type { Fleet } from './fleet.ts';

export interface PastSlice {
  rows: PastRow[];
  /** By which the next slice is asked for; null behind the last one. */
  last: PastPlace | null;
}

export function pastTasks(fleet: () => Fleet) {
  return {
    /** One page by name, and how many there are on all pages together. */
    pastPage: async ({ page, ...question }: PastQuestion & { page: PageQuery }) =>
      fleet().database.read(readingPastPage(question, page)),

    /** For a list that is sent whole. What was at a time stays, so the slices are of one state. */
    pastSlice: async ({
      after,
      nodes,
      ...question
    }: PastQuestion & { after: PastPlace | null; nodes: number }): Promise<PastSlice> =>
      fleet().database.read(readingPastSlice(question, { after, nodes })),
  };
}
