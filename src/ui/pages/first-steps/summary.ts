/** What the counts of the fleet tell of the last steps. It is apart, because the page of the fleet asks it before the list is loaded. */

import type { FleetSummary } from '../../types.ts';

/** Whether something is assigned to a node. */
export const isAssigned = ({ nodes, unassigned }: FleetSummary): boolean => unassigned < nodes;

/** Whether a node has reported something that tells its status. */
export const hasStatus = ({ nodes, byStatus }: FleetSummary): boolean => (byStatus['Unknown'] ?? 0) < nodes;
