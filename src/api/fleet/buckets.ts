/** Spans of time that are cut into buckets of one length. */

import type { z } from 'zod';
import { Duration, Instant } from '../../http/schemas.ts';
import { DAY } from '../../lib/clock.ts';

export const MOST_BUCKETS = 1_000;
const LONGEST = 31 * DAY;

/** The query of a list of buckets. @param shortest the shortest bucket in milliseconds, and as a duration */
export function bucketsQuery<S extends z.core.$ZodLooseShape>(
  query: z.ZodObject<S>,
  shortest: { least: number; text: string },
) {
  const Bucket = Duration.refine(
    ({ milliseconds }) => milliseconds >= shortest.least && milliseconds <= LONGEST,
    `Must be from ${shortest.text} to 31.00:00:00`,
  );
  return query
    .extend({
      from: Instant.meta({ description: 'The first moment that counts' }),
      to: Instant.meta({ description: 'The moment after the last one that counts' }),
      bucket: Bucket.meta({ description: `How long each bucket is, from ${shortest.text} to 31 days` }),
    })
    .refine((given) => (given as unknown as Division).from <= (given as unknown as Division).to, {
      path: ['to'],
      message: 'Before from',
    })
    .refine((given) => countBuckets(given as unknown as Division) <= MOST_BUCKETS, {
      path: ['bucket'],
      message: `There would be more than ${MOST_BUCKETS} buckets`,
    });
}

/** What decides which buckets there are. */
export interface Division {
  from: number;
  to: number;
  bucket: { milliseconds: number };
}

const countBuckets = ({ from, to, bucket }: Division): number => Math.ceil((to - from) / bucket.milliseconds);

/** A bucket that is no whole number of milliseconds begins at the nearest one. */
export function bucketsOf(query: Division) {
  const { from, to, bucket } = query;
  const begin = (index: number) => Math.min(Math.round(from + index * bucket.milliseconds), to);
  return Array.from({ length: countBuckets(query) }, (_, index) => ({
    start: begin(index),
    end: begin(index + 1),
  }));
}
