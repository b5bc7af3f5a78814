/** Shapes of reports. */

import { z } from 'zod';
import { REPORT_OPERATIONS } from '../../domain/report-verdict.ts';
import { choice, Flag, Id, Timestamp } from '../../http/schemas.ts';
import { historyFilter } from '../crud/history.ts';

/** Values of the examples in the OpenAPI document. */
const RESULT = {
  results: [{ name: 'nginx', type: 'Microsoft.Windows/Service', result: { inDesiredState: true } }],
  hadErrors: false,
};
const SUMMARY = {
  id: '0193485e-1c2d-7e3f-8a4b-5c6d7e8f9a0b',
  nodeId: '7d1e0f3a-52c4-4e0b-8f1d-3a9b6c5d4e21',
  nodeFqdn: 'web-01.example.com',
  timestamp: '2026-11-20T09:08:00.000Z',
  operation: 'Test',
  inDesiredState: true,
  hadErrors: false,
};

const Operation = choice(...REPORT_OPERATIONS);

/** Only the members of DSC's output that decide the verdict are checked; everything else is kept as it comes. */
const DscResult = z
  .looseObject({ results: z.array(z.unknown()).nullish(), hadErrors: z.boolean() })
  .superRefine(({ results }, context) => {
    const fault = results?.findIndex((item) => typeof item !== 'object' || item === null) ?? -1;
    if (fault === -1) return;
    context.addIssue({ code: 'custom', path: ['results', fault], message: 'Not an object' });
  });

export const NewReport = z
  .object({ operation: Operation, result: DscResult })
  .meta({ id: 'NewReport', examples: [{ operation: 'Test', result: RESULT }] });

const STATES: Record<string, boolean | null> = { true: true, false: false, null: null };

const filters = {
  operation: Operation.optional(),
  inDesiredState: z
    .string()
    .regex(/^(true|false|null)$/i, 'Must be true, false or null')
    .transform((text) => STATES[text.toLowerCase()] ?? null)
    .meta({ published: { type: 'string', enum: Object.keys(STATES) } })
    .optional(),
  hadErrors: Flag.optional(),
};

export const NodeReportFilter = historyFilter(filters);

export const ReportFilter = historyFilter({
  ...filters,
  nodeId: z
    .guid()
    .transform((id) => id.toLowerCase())
    .optional(),
});

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
  })
  .meta({ id: 'ReportSummary', examples: [SUMMARY] });

export const Report = ReportSummary.extend({
  result: z.looseObject({ hadErrors: z.boolean() }).meta({ description: 'Exactly as the node sent it' }),
}).meta({ id: 'Report', examples: [{ ...SUMMARY, result: RESULT }] });
