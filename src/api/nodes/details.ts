/** A node with all that is known of it, as a caller may see it. */

import type { Database } from '../../db/database.ts';
import { findNode, lastLcmError } from '../../db/nodes.ts';
import { findLastReport } from '../../db/reports.ts';
import { stalenessRule } from '../../db/staleness.ts';
import { listTags, toNodeTag } from '../../deeds/tag-node.ts';
import { notFound } from '../../lib/errors.ts';
import type { Planner } from '../../resolve/plans.ts';
import type { ProblemCounts } from '../../resolve/problem-counts.ts';
import { listCertificates } from '../../security/node-certificates.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { toReportSummary } from '../shared/report-summaries.ts';
import type { ListedNodes } from './listed-nodes.ts';
import { readRunning } from './running-view.ts';
import { causeOf } from './status-cause.ts';
import { toAssignment, toCertificate, toNodeSummary } from './views.ts';

interface Tools {
  database: Database;
  planner: Planner;
  problemCounts: ProblemCounts;
}

/** @throws HawserError not_found */
export async function readDetails(
  { database, planner, problemCounts }: Tools,
  list: ListedNodes,
  { principal, nodeId, now }: { principal: UserPrincipal; nodeId: string; now: number },
) {
  const { read } = database;
  const row = await findNode(read, nodeId, await stalenessRule(database, now));
  if (!row) throw notFound('No such node');
  const node = await database.nodeLookup.byNodeId(nodeId);
  const assignment = node?.assignment ?? null;
  const tags = await listTags(read, nodeId);
  const report = principal.permissions.has('reports.read') && (await findLastReport(read, nodeId));
  return {
    ...toNodeSummary(row, await list.offeredVersion(row)),
    certificate: toCertificate(await listCertificates(read, nodeId), now),
    assignment:
      node &&
      assignment &&
      toAssignment(assignment, row.configurationName ?? '', await planner.resolve(assignment, node)),
    tags: tags.map(toNodeTag),
    running: await readRunning(read, nodeId),
    parameterProblems: node ? await problemCounts.ofNode(node, principal.userId) : 0,
    statusCause: causeOf(row, row.lcmStatus === 'Error' ? await lastLcmError(read, nodeId) : null),
    lastReport: report ? toReportSummary(report) : null,
  };
}
