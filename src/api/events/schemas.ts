/** Shapes of events. */

import { z } from 'zod';
import { given, Id, Timestamp, wholeNumber } from '../../http/schemas.ts';

/** The most seconds of one wait. */
const LONGEST_WAIT = 60;

export const EventQuery = z.object({
  after: given(z.string().max(100)).meta({ description: 'The id of the last event that is known' }),
  wait: wholeNumber(0, LONGEST_WAIT)
    .meta({ description: 'Seconds to wait for an event if there is none' })
    .default(0),
});

export const CloudEvent = z
  .object({
    specversion: z.literal('1.0'),
    id: Id,
    source: z.string().describe('`HAWSER_PUBLIC_URL`, or `/api/v1` without it'),
    type: z.string(),
    time: Timestamp,
    subject: z
      .string()
      .describe('`configurations/<name>`, `composite-configurations/<name>` or `nodes/<id>`'),
    datacontenttype: z.literal('application/json'),
    data: z.record(z.string(), z.unknown()).describe('Its members depend on the type'),
  })
  .meta({
    id: 'CloudEvent',
    description: 'An event as CloudEvents 1.0 has it',
    examples: [
      {
        ...{
          specversion: '1.0',
          id: '0b6f0c3e-7a52-4f0e-9d0e-5b2c8f1f6a11',
          source: 'https://hawser.example.org',
        },
        ...{ type: 'configuration.version_published', time: '2026-11-20T09:08:00.000Z' },
        ...{ subject: 'configurations/web', datacontenttype: 'application/json' },
        data: { name: 'web', version: '1.4.0', actorType: 'User', actorName: 'alice' },
      },
    ],
  });
