/** Keeps how the fleet is at the end of each hour. The leader does it, and looks at nothing in between. */

import type { Database } from '../db/database.ts';
import { keepHour } from '../db/fleet-hours.ts';
import { stalenessRule } from '../db/staleness.ts';
import { type Clock, HOUR, MINUTE } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type RepeatedWork, repeat } from '../lib/repeated-work.ts';
import type { Threads } from '../lib/threads.ts';
import type { FleetTasks } from '../resolve/fleet-tasks.ts';
import type { OfferedCounts } from '../resolve/offered-counts.ts';

export interface HoursTools {
  database: Database;
  clock: Clock;
  log: Log;
  questions: Threads<FleetTasks>;
}

/** The caller in whose turn the fleet is read. */
const CALLER = 'server hours';

const hourOf = (now: number): number => Math.floor(now / HOUR) * HOUR;

/** An hour that ends while nobody leads is not kept. */
export function startHours({ database, clock, log, questions }: HoursTools): RepeatedWork {
  let last = hourOf(clock.now());
  return repeat(
    MINUTE,
    async () => {
      const ended = hourOf(clock.now());
      if (ended <= last) return;
      await keepNow({ database, questions }, ended);
      // What could not be kept is tried again a minute later.
      last = ended;
    },
    (error) => log.error({ err: error }, 'how the fleet is could not be kept for its history'),
  );
}

/** The same counts are the same text, whatever the order in which nodes were counted. */
const written = ({ versions, ...counts }: OfferedCounts) =>
  JSON.stringify({ ...counts, versions: Object.fromEntries(Object.entries(versions).sort()) });

/** Keeps how the fleet is now as what held when an hour ended. */
export async function keepNow(
  { database, questions }: Pick<HoursTools, 'database' | 'questions'>,
  ended: number,
): Promise<void> {
  const { read } = database;
  const rule = await stalenessRule(database, ended);
  const fleet = JSON.stringify(await questions.run(CALLER, 'stateCounts', rule));
  const counts = await questions.run(CALLER, 'offeredCounts', rule);
  const offered = new Map<string, string>();
  for (const kind of ['configurations', 'composites'] as const)
    for (const { id, name } of await read.selectFrom(kind).select(['id', 'name']).execute()) {
      const found = counts.get(`${kind}/${name}`);
      if (found) offered.set(id, written(found));
    }
  await database.write.transaction().execute((trx) => keepHour(trx, { ended, fleet, offered }));
}
