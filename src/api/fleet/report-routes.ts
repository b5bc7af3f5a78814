/** `/api/v1/fleet/reports`: how many reports of each verdict there were, over time. */

import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { countVerdicts } from '../../db/reports.ts';
import { pageOfList } from '../../db/rows.ts';
import type { Route } from '../../http/route.ts';
import { Paging, Timestamp } from '../../http/schemas.ts';
import { MINUTE, toTimestamp } from '../../lib/clock.ts';
import { operation, permitted } from '../shared/routes.ts';
import { bucketsOf, bucketsQuery, MOST_BUCKETS } from './buckets.ts';

const Buckets = bucketsQuery(Paging, { least: 5 * MINUTE, text: '00:05:00' });

export const ReportBucket = z
  .object({
    from: Timestamp,
    to: Timestamp.meta({ description: 'Belongs to the next bucket' }),
    compliant: z.int(),
    nonCompliant: z.int(),
    unknown: z.int().meta({ description: 'Reports that do not say it, those of Get and Export among them' }),
    errors: z.int().meta({ description: 'Reports with errors, whatever else they say' }),
  })
  .meta({
    id: 'ReportBucket',
    examples: [
      {
        from: '2026-11-20T09:00:00.000Z',
        to: '2026-11-20T10:00:00.000Z',
        compliant: 388,
        nonCompliant: 9,
        unknown: 2,
        errors: 1,
      },
    ],
  });

export function fleetReportRoute(database: Database): Route {
  return permitted(database, ['Fleet'], 'reports.read-all').list('/api/v1/fleet/reports', {
    ...operation('countFleetReports', 'Count the reports of all nodes over time, oldest first'),
    description:
      `Buckets without reports are there too. The first begins at \`from\`, the last may be shorter; there may be ` +
      `${MOST_BUCKETS} at most, paged as all lists are. Each report counts once. Reports that retention has deleted ` +
      'do not count.',
    query: Buckets,
    answer: { description: 'The buckets', schema: ReportBucket },
    async rows({ query }) {
      const { rows: spans, total } = pageOfList(bucketsOf(query), query);
      const counts = await countVerdicts(database.read, spans);
      return { rows: spans.map((span, index) => ({ ...span, ...counts[index] })), total };
    },
    show: ({ start, end, ...counts }) => ({ from: toTimestamp(start), to: toTimestamp(end), ...counts }),
  });
}
