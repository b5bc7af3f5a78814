/** `/api/v1/fleet/running`: what all nodes ran at a time. */

import { z } from 'zod';
import type { Route } from '../../http/route.ts';
import { Flag, given, Paging } from '../../http/schemas.ts';
import {
  ABOUT_PAST,
  At,
  EvidenceFilter,
  momentOf,
  PAST_EXAMPLE,
  PastNodeShape,
  toPastNode,
  wholePast,
} from '../shared/past.ts';
import type { ProofTools } from '../shared/proof-routes.ts';
import { permitted } from '../shared/routes.ts';

const FleetRunning = z.object(PastNodeShape).meta({ id: 'FleetRunning', examples: [PAST_EXAMPLE] });

const Filter = Paging.extend({
  at: At,
  configurationName: given(z.string()).meta({ description: 'The name that the node got' }),
  isComposite: given(Flag),
  version: given(z.string()),
  evidence: EvidenceFilter,
  fqdn: given(z.string().max(253)).meta({ description: 'Any part of the name, in any case' }),
});

export function fleetRunningRoute({ database, questions, caughtUp }: ProofTools): Route {
  return permitted(database, ['Proof'], 'nodes.read').list('/api/v1/fleet/running', {
    id: 'listFleetRunning',
    summary: 'What the nodes ran at a time, by fqdn, those that were deleted since too',
    description: `Nodes of which nothing was known are left out. ${ABOUT_PAST}`,
    query: Filter,
    answer: { description: 'The nodes', schema: FleetRunning },
    problems: ['past_gone'],
    async rows({ principal, query: { take, skip, ...query }, facts }) {
      const at = await momentOf(database, facts.now, query.at);
      await caughtUp();
      return questions.run(principal.userId, 'pastPage', { ...query, at, page: { take, skip } });
    },
    async whole({ principal, query: { take: _take, skip: _skip, ...query }, facts }) {
      const at = await momentOf(database, facts.now, query.at);
      await caughtUp();
      return wholePast({ questions }, principal.userId, { ...query, at });
    },
    show: toPastNode,
  });
}
