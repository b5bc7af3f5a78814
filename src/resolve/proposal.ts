/** What is proposed to be different from the stored state. All values are plain, so that a thread gets a copy. */

import type { NodeChanges } from '../db/fleet-snapshot.ts';
import type { ProposedChanges } from './proposed-versions.ts';

export interface Proposal extends ProposedChanges, NodeChanges {
  /** The ids of nodes whose desired settings would be others. */
  reset?: ReadonlySet<string>;
}
