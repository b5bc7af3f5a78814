/**
 * Who waits for whom. Counts are rows that all writers change, and a row that was changed is locked until the commit. So
 * whoever changes counts takes a lock for all counts of a kind before the first of them, and the locks have one order:
 *
 * 1. The feed: `changes`, the generations, the counts of tags.
 * 2. The notes: reports, what nodes run, manifests, and the counts of all of these.
 * 3. The cells: `node_cells`, `node_counts`, and the cell of each node.
 *
 * A batch of check-ins needs none of them, unless a node calls for the first time. So it waits for no other transaction.
 * Evidence that contradicts the answers of polls is the one exception from the order: it is told to the feed, by a
 * transaction that may hold the lock of the notes already. PostgreSQL ends such a deadlock, and the transaction is tried
 * again. Writers avoid it with `takeNotesTurn`.
 */

import { CELLS_KEY, FEED_KEY, NOTES_KEY } from '../../advisory-keys.ts';

const before = (events: string, table: string, ...keys: readonly string[]) =>
  `create trigger turn before ${events} on ${table} for each statement execute function take_turn(${keys.join(', ')})`;

export const TURN_TRIGGERS: readonly string[] = [
  `create function take_turn() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(tg_argv[0]::bigint);
      if tg_nargs > 1 then perform pg_advisory_xact_lock(tg_argv[1]::bigint); end if;
      return null;
    end $$`,
  // Numbers are given in the order of the commits, whoever writes.
  before('insert', 'changes', FEED_KEY),
  before('insert or delete', 'reports', NOTES_KEY),
  before('insert or delete', 'report_checksums', NOTES_KEY),
  before('insert or update or delete', 'node_running', NOTES_KEY),
  before('insert or delete', 'manifests', NOTES_KEY),
  before('insert or update or delete', 'assignments', CELLS_KEY),
  before('insert or update of status, lcm_status', 'nodes', CELLS_KEY),
  // Deleting a node deletes all that belongs to it.
  `create trigger turn_to_delete before delete on nodes for each statement
    execute function take_turn(${NOTES_KEY}, ${CELLS_KEY})`,
];
