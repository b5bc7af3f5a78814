/**
 * One order of what a node tells: that in which it took effect. Several servers take the calls of one node, each with a
 * clock of its own, and lists are sorted by time. So whatever is written of a node is never older than what is there.
 */

import { sql } from 'kysely';
import { MINUTE } from '../lib/clock.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';

/** When the last report and the last event of some nodes were written, and how the time of the next one follows. */
export class NodeOrder {
  private readonly last: Map<string, number>;

  private constructor(last: Map<string, number>) {
    this.last = last;
  }

  /** Must be read in the transaction that writes, once it has its turn (`takeNotesTurn`). */
  static async of(trx: Db, nodeIds: readonly string[]): Promise<NodeOrder> {
    const { rows } = await sql<{
      id: string;
      report: number | null;
      event: number | null;
      other: number | null;
    }>`
      select n.id, (select max(timestamp) from reports where node_id = n.id) as report,
        (select max(timestamp) from status_events where node_id = n.id) as event,
        (select max(timestamp) from node_events where node_id = n.id) as other
      from nodes n where ${engineOf(trx).isOneOf('n.id', nodeIds)}`.execute(trx);
    return new NodeOrder(
      new Map(
        rows.map(({ id, ...times }) => [id, Math.max(times.report ?? 0, times.event ?? 0, times.other ?? 0)]),
      ),
    );
  }

  /** The time of what is written next. What lies further ahead than clocks differ was written before this one was set back. */
  next(nodeId: string, now: number): number {
    const last = this.last.get(nodeId) ?? 0;
    const time = last <= now + MINUTE ? Math.max(last, now) : now;
    this.last.set(nodeId, time);
    return time;
  }
}
