/** How triggers are written. A trigger sees all rows of a statement at once, in the tables `added` and `gone`. */

export type Event = 'insert' | 'update' | 'delete';

/** An update takes the old rows away and adds the new ones. */
const SEEN = {
  insert: 'new table as added',
  update: 'old table as gone new table as added',
  delete: 'old table as gone',
} as const satisfies Record<Event, string>;

/** The table that has a row for each row of the statement. */
export const rowsOf = (event: Event) => (event === 'delete' ? 'gone' : 'added');

/**
 * A connection keeps the plans of its triggers, and a table may have been empty when a plan was made. So the rows of the
 * statement come first, and those of other tables are looked up by their keys, in the order in which a query names them.
 */
const BY_KEYS = `set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
    set join_collapse_limit = 1 set from_collapse_limit = 1`;

export interface TriggerOptions {
  /** A condition for the whole statement. */
  when?: string;
  /** Variables of the body. */
  declare?: string;
}

/** Runs statements after each statement that has changed any row. Triggers of one table run in the order of their names. */
export function afterEach(
  event: Event,
  table: string,
  name: string,
  body: string,
  { when, declare }: TriggerOptions = {},
): string[] {
  return [
    `create function ${name}() returns trigger language plpgsql ${BY_KEYS} as $$
    ${declare ? `declare ${declare}` : ''}
    begin
      if not exists (select from ${rowsOf(event)}) then return null; end if;
      ${body}
      return null;
    end $$`,
    `create trigger ${name} after ${event} on ${table} referencing ${SEEN[event]}
      for each statement ${when ? `when (${when})` : ''} execute function ${name}()`,
  ];
}

/** A query for the rows of a statement as changes of a count: `by` is 1 for each that came and -1 for each that went. */
export function differences(event: Event, columns: string): string {
  const came = `select ${columns}, 1 as by from added`;
  const went = `select ${columns}, -1 as by from gone`;
  if (event === 'insert') return came;
  return event === 'delete' ? went : `${came} union all ${went}`;
}
