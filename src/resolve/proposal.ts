/** What is proposed to be different from the stored state. All values are plain, so that a thread gets a copy. */

import type { Assignment } from '../db/node-lookup.ts';
import type { ProposedChanges } from './proposed-versions.ts';

export interface Proposal extends ProposedChanges {
  /** By the node's id. Null means that nothing is assigned any more. */
  assignments: ReadonlyMap<string, Assignment | null>;
  /** By the node's id: the value of each scope type that changes, by ids. Null means that the node has none any more. */
  tags: ReadonlyMap<string, ReadonlyMap<string, string | null>>;
}
