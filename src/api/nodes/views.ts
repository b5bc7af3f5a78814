/** Nodes as the API shows them. */

import type { Selectable } from 'kysely';
import type { Assignment } from '../../db/node-lookup.ts';
import type { NodeCertificatesTable, StatusEventsTable } from '../../db/node-tables.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { lapsedBefore } from '../../security/pending-certificates.ts';
import type { NodeRow } from './queries.ts';
import type { NodeTagRow } from './tag-queries.ts';

export function toNodeSummary(row: NodeRow) {
  return {
    id: row.id,
    fqdn: row.fqdn,
    configurationName: row.configuration_name,
    status: row.status,
    lcmStatus: row.lcm_status,
    isStale: Boolean(row.is_stale),
    lastCheckIn: toOptionalTimestamp(row.last_check_in),
    createdAt: toTimestamp(row.created_at),
    configurationSource: row.configuration_source,
    configurationMode: row.configuration_mode,
    configurationModeInterval: row.configuration_mode_interval,
    reportCompliance: toFlag(row.report_compliance),
    desiredConfigurationMode: row.desired_configuration_mode,
    desiredConfigurationModeInterval: row.desired_configuration_mode_interval,
    desiredReportCompliance: toFlag(row.desired_report_compliance),
  };
}

export function toFlag(value: number | null): boolean | null {
  return value === null ? null : value === 1;
}

export function toCertificate(rows: readonly Selectable<NodeCertificatesTable>[], now: number) {
  const current = rows.find((row) => row.state === 'current');
  const pending = rows.find((row) => row.state === 'pending' && row.created_at > lapsedBefore(now));
  return {
    thumbprint: current?.thumbprint ?? '',
    subject: current?.subject ?? '',
    notBefore: toTimestamp(current?.not_before ?? 0),
    notAfter: toTimestamp(current?.not_after ?? 0),
    pendingThumbprint: pending?.thumbprint ?? null,
  };
}

export function toAssignment(
  assignment: Assignment,
  configurationName: string,
  resolvedVersion: string | null,
) {
  const { compositeId, majorVersion, prereleaseChannel } = assignment;
  return {
    configurationName,
    isComposite: compositeId !== null,
    majorVersion,
    prereleaseChannel,
    resolvedVersion,
  };
}

export function toNodeTag(row: NodeTagRow) {
  return {
    nodeId: row.node_id,
    scopeValueId: row.scope_value_id,
    scopeTypeId: row.scope_type_id,
    scopeTypeName: row.scope_type_name,
    scopeValue: row.scope_value,
    precedence: row.precedence,
    assignedAt: toTimestamp(row.assigned_at),
  };
}

export function toStatusEvent(row: Selectable<StatusEventsTable>) {
  return {
    id: row.id,
    nodeId: row.node_id,
    lcmStatus: row.lcm_status,
    status: row.status,
    timestamp: toTimestamp(row.timestamp),
  };
}
