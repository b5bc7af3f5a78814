/** Nodes as the API shows them. */

import type { Selectable } from 'kysely';
import type { Assignment } from '../../db/node-lookup.ts';
import type { NodeCertificatesTable } from '../../db/node-tables.ts';
import type { NodeRow, StatusEventRow } from '../../db/nodes.ts';
import { toFlag } from '../../db/rows.ts';
import { assignmentByName } from '../../deeds/assign.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { isWithdrawn } from '../../resolve/wanted-version.ts';
import { isAwaiting } from '../../security/awaiting-certificates.ts';
import type { VersionRef } from '../../versions/types.ts';
import { causeOf, reasonOf, statusSince } from './status-cause.ts';

/** @param offeredVersion what the assignment gives now; null where it gives nothing */
export function toNodeSummary(row: NodeRow, offeredVersion: string | null) {
  const { compositeId, majorVersion, prereleaseChannel, pinnedVersion, ...known } = row;
  const { evidence, runningVersion, runningName, runningIsComposite, ...rest } = known;
  const { faultReportId, faultAt, firstFault, problemCode, problemDetail, problemSince, ...shown } = rest;
  const running = {
    version: runningVersion,
    evidence,
    configurationName: runningName,
    isComposite: toFlag(runningIsComposite),
  };
  return {
    ...shown,
    statusSince: toTimestamp(statusSince(row)),
    statusReason: reasonOf(causeOf(row), row),
    offeredVersion,
    running: evidence === null ? null : running,
    isStale: Boolean(row.isStale),
    lastCheckIn: toOptionalTimestamp(row.lastCheckIn),
    createdAt: toTimestamp(row.createdAt),
    reportCompliance: toFlag(row.reportCompliance),
    desiredReportCompliance: toFlag(row.desiredReportCompliance),
  };
}

/** @returns null while nothing is known of any certificate of the node */
export function toCertificate(rows: readonly Selectable<NodeCertificatesTable>[], now: number) {
  const current = rows.find((row) => row.state === 'current');
  if (current === undefined) return null;
  const pending = rows.find((row) => row.state === 'pending' && row.not_after > now);
  const awaiting = isAwaiting(current) ? current.thumbprint : null;
  return {
    thumbprint: awaiting === null ? current.thumbprint : null,
    awaiting,
    subject: current.subject,
    notBefore: awaiting === null ? toTimestamp(current.not_before) : null,
    notAfter: toTimestamp(current.not_after),
    pendingThumbprint: pending?.thumbprint ?? null,
  };
}

/** @param resolved what the node gets now; null where no version fits */
export function toAssignment(assignment: Assignment, configurationName: string, resolved: VersionRef | null) {
  return {
    ...assignmentByName({ ...assignment, configurationName }),
    resolvedVersion: resolved?.version ?? null,
    pinnedToWithdrawn: assignment.version !== null && resolved !== null && isWithdrawn(resolved),
  };
}

export function toStatusEvent(event: StatusEventRow) {
  return { ...event, timestamp: toTimestamp(event.timestamp) };
}
