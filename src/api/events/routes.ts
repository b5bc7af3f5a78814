/** `/api/v1/events`: the feed of events for those who cannot be called, by long poll. */

import type { z } from 'zod';
import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { eventsAfter, positionOf, sourceOf, toEnvelope } from '../../events/feed.ts';
import type { EventWaiting } from '../../events/waiting.ts';
import { json } from '../../http/answer.ts';
import type { Route } from '../../http/route.ts';
import { SECOND } from '../../lib/clock.ts';
import { HawserError } from '../../lib/errors.ts';
import { operation, permitted } from '../shared/routes.ts';
import { CloudEvent, EventQuery } from './schemas.ts';

export interface EventRouteTools {
  database: Database;
  config: Pick<Config, 'publicUrl'>;
  eventWaiting: EventWaiting;
}

export function eventRoute({ database: { read }, config, eventWaiting }: EventRouteTools): Route {
  const source = sourceOf(config);
  return permitted({ read } as Database, ['Events'], 'webhooks.manage').own<
    unknown,
    z.output<typeof EventQuery>
  >('GET', '/api/v1/events', {
    ...operation('listEvents', 'Read the feed of events, and wait for the next'),
    description:
      'At most 200 events, oldest first, from the one behind `after` on; without `after` from the oldest that is kept, ' +
      'which is for 30 days. With `wait` an answer without events comes only after so many seconds. Ask again with the id ' +
      'of the last event. At most 10 calls of one user wait at once.',
    query: EventQuery,
    waits: true,
    answers: { 200: { description: 'The events that follow', schema: CloudEvent.array() } },
    problems: ['events_gone', 'rate_limited'],
    async handle({ query: { after, wait }, principal, facts }) {
      const position = after === undefined ? 0 : await positionOf(read, after);
      if (position === null) throw eventsGone();
      let found = await eventsAfter(read, position);
      if (found.length === 0 && wait > 0 && !facts.isHead) {
        const waiting = { user: principal.userId, milliseconds: wait * SECOND, signal: facts.over };
        await eventWaiting.forEvent(position, waiting);
        // The caller may have lost the permission while waiting.
        await facts.reauthorize();
        found = await eventsAfter(read, position);
      }
      return json(found.map((event) => toEnvelope(event, source)));
    },
  });
}

function eventsGone(): HawserError {
  const message =
    'The feed has no event of this id, or none any more. Read it from its beginning, without `after`';
  return new HawserError('gone', 'events_gone', message);
}
