/** Shapes of reports. */

import { z } from 'zod';
import { REPORT_OPERATIONS } from '../../domain/report-verdict.ts';
import { choice, Flag, Id, Instant, Paging, Timestamp } from '../../http/schemas.ts';

const Operation = choice(...REPORT_OPERATIONS);

/** Of DSC's own output only what the verdict looks at is asked for; everything else is kept as it comes. */
const DscResult = z
  .looseObject({ results: z.array(z.unknown()).nullish(), hadErrors: z.boolean() })
  .superRefine(({ results }, context) => {
    const fault = results?.findIndex((item) => typeof item !== 'object' || item === null) ?? -1;
    if (fault === -1) return;
    context.addIssue({ code: 'custom', path: ['results', fault], message: 'Not an object' });
  });

export const NewReport = z.object({ operation: Operation, result: DscResult });

const SAYS: Record<string, boolean | null> = { true: true, false: false, null: null };

const filters = {
  from: Instant.optional(),
  to: Instant.optional(),
  operation: Operation.optional(),
  inDesiredState: z
    .string()
    .regex(/^(true|false|null)$/i, 'Neither true nor false nor null')
    .transform((text) => SAYS[text.toLowerCase()] ?? null)
    .optional(),
  hadErrors: Flag.optional(),
};

interface Period {
  from?: number | undefined;
  to?: number | undefined;
}

const isInOrder = ({ from, to }: Period) => from === undefined || to === undefined || from <= to;
const NOT_IN_ORDER = { path: ['to'], message: 'Before from' };

/** Both ends of a period are part of it. */
export const NodeReportFilter = Paging.extend(filters).refine(isInOrder, NOT_IN_ORDER);

export const ReportFilter = Paging.extend({
  ...filters,
  nodeId: z
    .guid()
    .transform((id) => id.toLowerCase())
    .optional(),
}).refine(isInOrder, NOT_IN_ORDER);

export const ReportSummary = z.object({
  id: Id,
  nodeId: Id,
  nodeFqdn: z.string(),
  timestamp: Timestamp,
  operation: z.enum(REPORT_OPERATIONS),
  inDesiredState: z.boolean().nullable(),
  hadErrors: z.boolean(),
});

export const Report = ReportSummary.extend({
  result: z.looseObject({ hadErrors: z.boolean() }).meta({ description: 'Exactly as the node sent it' }),
});
