/** Shapes of reports. */

import { z } from 'zod';
import { REPORT_OPERATIONS } from '../../domain/report-verdict.ts';
import { Checksum, choice, Flag, Id, Timestamp } from '../../http/schemas.ts';
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
  configurationChecksum: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  checksumSource: 'Declared',
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
    examples: [{ operation: 'Test', configurationChecksum: SUMMARY.configurationChecksum, result: RESULT }],
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
  })
  .meta({ id: 'ReportSummary', examples: [SUMMARY] });

export const Report = ReportSummary.extend({
  result: z.looseObject({ hadErrors: z.boolean() }).meta({ description: 'Exactly as the node sent it' }),
}).meta({ id: 'Report', examples: [{ ...SUMMARY, result: RESULT }] });
