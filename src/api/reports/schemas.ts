/** Shapes of reports. */

import { z } from 'zod';
import { REPORT_OPERATIONS } from '../../domain/report-verdict.ts';
import { choice, Flag, historyFilter } from '../../http/schemas.ts';
import { REPORT_EXAMPLE, ReportSummary } from '../shared/report-summaries.ts';

/** Values of the examples in the OpenAPI document. */
const RESULT = {
  results: [{ name: 'nginx', type: 'Microsoft.Windows/Service', result: { inDesiredState: true } }],
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
  .object({
    operation: Operation,
    result: DscResult,
    configurationChecksum: z
      .string()
      .regex(/^[0-9a-f]{64}$/i, 'Must be a SHA-256 in hex')
      .transform((checksum) => checksum.toLowerCase())
      .nullish()
      .meta({
        description: 'The checksum of what the node ran, as its poll was answered with it; in any case',
      }),
  })
  .meta({
    id: 'NewReport',
    examples: [
      { operation: 'Test', configurationChecksum: REPORT_EXAMPLE.configurationChecksum, result: RESULT },
    ],
  });

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

export const Report = ReportSummary.extend({
  result: z.looseObject({ hadErrors: z.boolean() }).meta({ description: 'Exactly as the node sent it' }),
}).meta({ id: 'Report', examples: [{ ...REPORT_EXAMPLE, result: RESULT }] });
