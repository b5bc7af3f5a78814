/** Tells slow requests, and where their time went. */

import { beginParts, withParts } from '../lib/request-parts.ts';
import type { Exchange } from './exchange.ts';
import type { Dispatch } from './routing.ts';

/**
 * Measures the parts of each request. Those of nodes are left out, because they are too many, and they share their writes
 * with others anyway.
 */
export function measuring(dispatch: Dispatch): Dispatch {
  return async (ctx, route) => {
    if (route.access.kind === 'node:self') return dispatch(ctx, route);
    const { parts, end } = beginParts();
    ctx.state.parts = parts;
    try {
      await withParts(parts, () => dispatch(ctx, route));
    } finally {
      end();
    }
  };
}

/**
 * The time of the server in a request, in milliseconds: without that in which the client sent the body. What waits for
 * events, and what git does itself, takes as long as its client wishes.
 * @param milliseconds from the head of the request to the head of its answer
 */
export function ownTime({ state: { route, bodyMs = 0 } }: Exchange, milliseconds: number): number {
  return route?.waits || route?.caller === 'git' ? 0 : milliseconds - bodyMs;
}

/** The parts of a slow request in whole milliseconds, for its line in the log. Undefined where they were not measured. */
export function describeParts({ state }: Exchange, milliseconds: number): object | undefined {
  if (state.parts === undefined) return undefined;
  const { queue, database, git, disk } = state.parts;
  // Parts that were done at the same time are more together than the whole.
  const other = Math.max(0, milliseconds - queue - database - git - disk);
  const parts = { queue, database, git, disk, other };
  return Object.fromEntries(Object.entries(parts).map(([part, time]) => [part, Math.round(time)]));
}
