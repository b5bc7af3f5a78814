/** Reports as lists show them, and why a node is not well. */

import { z } from 'zod';
import type { ReportRow } from '../../db/reports.ts';
import type { Fault } from '../../domain/report-faults.ts';
import { REPORT_OPERATIONS } from '../../domain/report-verdict.ts';
import { Checksum, Id, Timestamp } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';

/** Values of the examples in the OpenAPI document. */
export const REPORT_EXAMPLE = {
  id: '0193485e-1c2d-7e3f-8a4b-5c6d7e8f9a0b',
  nodeId: '7d1e0f3a-52c4-4e0b-8f1d-3a9b6c5d4e21',
  nodeFqdn: 'web-01.example.com',
  timestamp: '2026-11-20T09:08:00.000Z',
  operation: 'Test',
  inDesiredState: true,
  hadErrors: false,
  configurationChecksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  checksumSource: 'Declared',
  configurationName: 'web-server',
  version: '1.2.0',
  outOfState: 0,
  firstFault: null,
};

export const Cause = z
  .object({
    kind: z.enum(['Report', 'LcmStatus', 'Silence', 'Problem']),
    at: Timestamp,
    reportId: Id.nullable().meta({ description: 'Null unless a report tells it' }),
    resource: z.object({ type: z.string(), name: z.string() }).nullable(),
    message: z
      .string()
      .nullable()
      .meta({
        description:
          'Of a report the first error message, else which properties differ of the first resource that is out of its ' +
          'state, 1,000 characters of it; of a poll that is answered with an error its code and detail',
      }),
  })
  .meta({ id: 'StatusCause' });

export type StatusCause = z.input<typeof Cause>;

export const ReportSummary = z
  .object({
    id: Id,
    nodeId: Id,
    nodeFqdn: z.string(),
    timestamp: Timestamp,
    operation: z.enum(REPORT_OPERATIONS),
    inDesiredState: z
      .boolean()
      .nullable()
      .meta({ description: 'Null where the result says nothing of it, and of Get and Export' }),
    hadErrors: z.boolean(),
    configurationChecksum: Checksum.nullable().meta({
      description:
        'What the node ran; null where neither the report nor a bundle that went to the node tells',
    }),
    checksumSource: z.enum(['Declared', 'Served']).nullable().meta({
      description: '`Declared`: the report names it; `Served`: the last bundle that went to the node whole',
    }),
    configurationName: z
      .string()
      .nullable()
      .meta({ description: 'Of the checksum; null where the server keeps no manifest of it' }),
    version: z.string().nullable().meta({ description: 'Null together with `configurationName`' }),
    outOfState: z
      .int()
      .nullable()
      .meta({
        description:
          'How many resources are out of their state, those in groups one by one; null for a report with faults that a ' +
          'release before 0.3.0 stored',
      }),
    firstFault: Cause.nullable().meta({ description: 'Of kind `Report`; null where nothing is wrong' }),
  })
  .meta({ id: 'ReportSummary', examples: [REPORT_EXAMPLE] });

export function toReportSummary(row: ReportRow) {
  return {
    id: row.id,
    nodeId: row.node_id,
    nodeFqdn: row.fqdn,
    timestamp: toTimestamp(row.timestamp),
    operation: row.operation,
    inDesiredState: row.in_desired_state === null ? null : row.in_desired_state === 1,
    hadErrors: row.had_errors === 1,
    configurationChecksum: row.checksum,
    checksumSource: row.source,
    configurationName: row.configurationName,
    version: row.version,
    outOfState: row.outOfState ?? (isSurelyWell(row) ? 0 : null),
    firstFault: row.firstFault === null ? null : toCause({ ...row, reportId: row.id }),
  };
}

/** A report whose fault an earlier release did not look for may have one, unless it says that all is well. */
const isSurelyWell = ({ in_desired_state, had_errors }: ReportRow) =>
  in_desired_state !== 0 && had_errors === 0;

/** What is wrong by a report, in the form in which nodes tell the cause of their status. */
export function toCause({
  timestamp,
  reportId,
  firstFault,
}: {
  timestamp: number;
  reportId: string | null;
  firstFault: string | null;
}) {
  const fault = firstFault === null ? null : (JSON.parse(firstFault) as Fault);
  return {
    kind: 'Report' as const,
    at: toTimestamp(timestamp),
    reportId,
    resource: fault?.resource ?? null,
    message: fault?.message ?? null,
  };
}
