/**
 * Who waits for whom. Counts are rows that all writers change, and a row that was changed is locked until the commit. So
 * whoever changes counts takes a lock for all counts of a kind before the first of them, and the locks have one order:
 *
 * 1. The feed: `changes`, the generations, the counts of tags.
 * 2. The notes: reports, what nodes run, manifests, and the counts of all of these.
 * 3. The nodes: their statuses, and what triggers copy into them for lists (migration 0039).
 *
 * A batch of check-ins needs none of them, unless a node calls for the first time. So it waits for no other transaction.
 * Evidence that contradicts the answers of polls is told to the feed, by a transaction that holds the lock of the notes.
 * So `takeNotesTurn` of db/running.ts takes both locks at the begin of a transaction that has such evidence. It gives the
 * second lock back if the first one is not free then, and takes them in their order.
 */

import { CELLS_KEY, FEED_KEY, NOTES_KEY } from '../../advisory-keys.ts';

const before = (events: string, table: string, ...keys: readonly string[]) =>
  `create trigger turn before ${events} on ${table} for each statement execute function take_turn(${keys.join(', ')})`;

/** An error of our own, which no one else raises. */
const OUT_OF_ORDER = 'HW001';

/** Whether any of the notes may be told to the feed: the condition of the triggers of `node_running` that do so. */
const CONTRADICTS = `exists (
          select from jsonb_array_elements(told) as note left join node_running on node_id = note ->> 0
          where note ->> 1 is distinct from coalesce(note ->> 2, answered_checksum)
            and (node_id is null or (note ->> 1 is not null and checksum is distinct from note ->> 1)))`;

export const TURN_TRIGGERS: readonly string[] = [
  `create function take_turn() returns trigger language plpgsql as $$
    begin
      perform pg_advisory_xact_lock(tg_argv[0]::bigint);
      if tg_nargs > 1 then perform pg_advisory_xact_lock(tg_argv[1]::bigint); end if;
      return null;
    end $$`,
  `create function take_notes_turn(told jsonb) returns void language plpgsql as $$
    begin
      begin
        perform pg_advisory_xact_lock(${NOTES_KEY});
        if not (${CONTRADICTS}) or pg_try_advisory_xact_lock(${FEED_KEY}) then return; end if;
        raise sqlstate '${OUT_OF_ORDER}';
      exception when sqlstate '${OUT_OF_ORDER}' then
        -- What was taken in this block is given back by the error.
        null;
      end;
      perform pg_advisory_xact_lock(${FEED_KEY});
      perform pg_advisory_xact_lock(${NOTES_KEY});
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
