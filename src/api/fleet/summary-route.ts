/** `/api/v1/fleet/summary`. */

import { z } from 'zod';
import { LCM_STATUSES, NODE_STATUSES } from '../../db/node-tables.ts';
import { stalenessRule } from '../../db/staleness.ts';
import type { Route } from '../../http/route.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import { operation, permitted } from '../shared/routes.ts';

const Count = z.int().min(0);
const ByStatus = z.object(Object.fromEntries(NODE_STATUSES.map((name) => [name, Count])));
const ByLcmStatus = z.object(Object.fromEntries(LCM_STATUSES.map((name) => [name, Count])));

const BY_STATUS = { Unknown: 1, Compliant: 96, NonCompliant: 2, Error: 1 };

export const FleetSummary = z
  .object({
    nodes: Count,
    byStatus: ByStatus,
    byLcmStatus: ByLcmStatus,
    stale: Count.meta({ description: 'Those whose last call is older than their interval allows' }),
    unassigned: Count.meta({ description: 'Those to which nothing is assigned' }),
    neverCheckedIn: Count,
    certificatesExpiring: Count.meta({ description: 'Those that end within 30 days or have ended' }),
    configurations: z
      .array(
        z.object({
          name: z.string(),
          isComposite: z.boolean(),
          nodes: Count.meta({ description: 'Those to which it is assigned' }),
          byStatus: ByStatus,
        }),
      )
      .meta({ description: 'The 100 of most nodes, by nodes, falling, and then by name' }),
  })
  .meta({
    id: 'FleetSummary',
    examples: [
      {
        nodes: 100,
        byStatus: BY_STATUS,
        byLcmStatus: { Unknown: 0, Idle: 98, Downloading: 0, Testing: 1, Remediating: 1, Error: 0 },
        stale: 2,
        unassigned: 0,
        neverCheckedIn: 1,
        certificatesExpiring: 3,
        configurations: [{ name: 'web-server', isComposite: false, nodes: 100, byStatus: BY_STATUS }],
      },
    ],
  });

export function fleetSummaryRoute({
  database,
  questions,
}: Pick<FleetTools, 'database' | 'questions'>): Route {
  return permitted(database, ['Fleet'], 'nodes.read').get('/api/v1/fleet/summary', {
    ...operation('getFleetSummary', 'Count all nodes by what they are and what is assigned to them'),
    answer: { description: 'The fleet in a few numbers', schema: FleetSummary },
    handle: async ({ principal, facts }) =>
      questions.run(principal.userId, 'fleetSummary', await stalenessRule(database, facts.now)),
  });
}
