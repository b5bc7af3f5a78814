/** The number of nodes that are offered a version, in answers to what has published it. */

import type { Db } from '../db/database.ts';
import type { Assigned } from '../db/read-running.ts';
import { newWays, type Ways } from '../domain/ways.ts';
import type { Log } from '../lib/log.ts';
import type { UserPrincipal } from '../security/principal.ts';
import type { FleetTools } from './fleet-tasks.ts';

/** A version that is published already, so a failure to count its nodes fails nothing: they are null then. */
export async function offeredWays(
  { database, questions, log }: Pick<FleetTools, 'database' | 'questions'> & { log: Log },
  { userId }: UserPrincipal,
  { assigned, version }: { assigned: Assigned; version: string },
): Promise<Ways | null> {
  try {
    if (!(await mayReachNodes(database.read, assigned))) return newWays();
    return await questions.run(userId, 'waysOf', { assigned, version });
  } catch (error) {
    const { kind, name } = assigned;
    log.warn({ err: error, kind, name, version }, 'the nodes of a new version cannot be counted');
    return null;
  }
}

/** Whether it is assigned to any node, or may be a child of what is. Mostly a first version is not, and asks no thread. */
async function mayReachNodes(db: Db, { kind, id }: Assigned): Promise<boolean> {
  const assignments = db.selectFrom('assignments').select('node_id').limit(1);
  const ways =
    kind === 'composites'
      ? [assignments.where('composite_id', '=', id)]
      : [assignments.where('configuration_id', '=', id), assignments.where('composite_id', 'is not', null)];
  for (const way of ways) if ((await way.executeTakeFirst()) !== undefined) return true;
  return false;
}
