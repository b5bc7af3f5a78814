/** `/api/v1/nodes/bulk`: one thing done to many nodes. */

import { type BulkTools, doInBulk, expectInBulk, PERMISSION_OF } from '../../deeds/bulk.ts';
import { NOT_FOUND, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { type Principal, requirePermission } from '../../security/principal.ts';
import { operation, ResourceRoutes } from '../shared/routes.ts';
import { actionOf, BulkDeed, BulkResult } from './bulk-schemas.ts';
import { bodyOfCsv, readRows } from './expected-rows.ts';
import type { NodeConditions } from './listed-nodes.ts';

/** The most bytes of a body: 10,000 rows fit. */
const BODY_BYTES = 4 * 1024 * 1024;

export function bulkRoute(tools: BulkTools<NodeConditions>): Route {
  const access = { kind: 'action', permissions: PERMISSION_OF } as const;
  return new ResourceRoutes(tools.database, { tags: ['Nodes'], access }).update('/api/v1/nodes/bulk', {
    ...operation('changeNodesInBulk', 'Do one thing to many nodes'),
    // A node that is only expected gets nothing yet.
    changesNodes: ({ body }) => body.action !== 'Expect',
    method: 'POST',
    description:
      '`Assign` takes the members of PUT `/nodes/{nodeId}/configuration` and needs Read on the configuration or ' +
      'composite, `Tag` and `Untag` take `scopeValueId`, `SetTags` takes `scopeValueIds`, `SetLcmConfig` the members of PUT `/nodes/{nodeId}/lcm-config`. ' +
      'The nodes are named by their ids, or by a `filter`, which needs `nodes.read` too. What concerns the deed as a ' +
      'whole is answered as the deed on one node would be, and nothing is done. Otherwise each node is changed by itself, ' +
      'with an entry of its own in the audit trail; one that cannot be changed is in `failed` and stops none of the ' +
      'others. Nodes are changed in slices, so that polls and other changes get their turns. Once it has begun, the ' +
      'deed goes on to its end, even if the client goes away; repeat it to see what is left. `Expect` makes nodes that await ' +
      'their machines, as POST `/nodes` does, from `rows`, or from a body of `text/csv` with the columns ' +
      '`fqdn,configuration,isComposite,majorVersion,tags`, in which tags are written as `Type=value;Type=value`. What ' +
      'POST `/nodes` would refuse is in `failed`, and a freeze does not refuse this.',
    // This is enough for 10,000 nodes with long names, a configuration and a few tags.
    body: { kind: 'json', schema: BulkDeed, refuse: requireRights, bytes: BODY_BYTES, ofCsv: bodyOfCsv },
    answer: { description: 'All nodes have been looked at', schema: BulkResult },
    problems: [
      NOT_FOUND,
      'count_changed',
      'change_set_required',
      [409, 'no_eligible_version'],
      ...WRITING_REPOSITORIES,
    ],
    async handle({ caller, body }) {
      // The rights may have changed while the body came.
      requireRights(body, caller.principal);
      if (body.action !== 'Expect') return doInBulk(tools, caller, body);
      return expectInBulk(tools, caller, await readRows(body.rows()));
    },
  });
}

/** Of a body without an action any of the permissions will do, because it is refused anyway. */
function requireRights(body: unknown, principal: Principal | null): void {
  if (principal?.kind !== 'user') return;
  const action = actionOf(body);
  if (action === undefined) {
    requirePermission(principal, ...new Set(Object.values(PERMISSION_OF)));
    return;
  }
  requirePermission(principal, PERMISSION_OF[action]);
  const { filter } = body as { filter?: unknown };
  if (filter !== undefined && filter !== null) requirePermission(principal, 'nodes.read');
}
