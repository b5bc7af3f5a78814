/** `/api/v1/fleet/reports`: how many reports of each verdict there were, over time. */

import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import type { Route } from '../../http/route.ts';
import { Duration, Instant, Paging, Timestamp } from '../../http/schemas.ts';
import { DAY, MINUTE, toTimestamp } from '../../lib/clock.ts';
import { operation, permitted } from '../crud/routes.ts';
import { pageOfList } from '../crud/rows.ts';
import { countVerdicts } from '../reports/queries.ts';

const MOST_BUCKETS = 1_000;
const SHORTEST = 5 * MINUTE;
const LONGEST = 31 * DAY;

const Bucket = Duration.refine(
  ({ milliseconds }) => milliseconds >= SHORTEST && milliseconds <= LONGEST,
  'Must be from 00:05:00 to 31.00:00:00',
);

const Buckets = Paging.extend({
  from: Instant.meta({ description: 'The first moment that counts' }),
  to: Instant.meta({ description: 'The moment after the last one that counts' }),
  bucket: Bucket.meta({ description: 'How long each bucket is, from 5 minutes to 31 days' }),
})
  .refine(({ from, to }) => from <= to, { path: ['to'], message: 'Before from' })
  .refine((query) => countBuckets(query) <= MOST_BUCKETS, {
    path: ['bucket'],
    message: `There would be more than ${MOST_BUCKETS} buckets`,
  });

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

/** What decides which buckets there are. */
interface Division {
  from: number;
  to: number;
  bucket: z.output<typeof Bucket>;
}

const countBuckets = ({ from, to, bucket }: Division): number => Math.ceil((to - from) / bucket.milliseconds);

/** A bucket that is no whole number of milliseconds begins at the nearest one. */
function bucketsOf(query: Division) {
  const { from, to, bucket } = query;
  const begin = (index: number) => Math.min(Math.round(from + index * bucket.milliseconds), to);
  return Array.from({ length: countBuckets(query) }, (_, index) => ({
    start: begin(index),
    end: begin(index + 1),
  }));
}
