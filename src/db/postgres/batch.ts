/** Look-ups that share queries: all that are asked for in one turn of the event loop. */

import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Runs a query on PostgreSQL, and gives its rows as arrays.
 * @throws HawserError unavailable if PostgreSQL is away
 */
export type Query = (sql: string, params: unknown[]) => Promise<unknown[][]>;

/** The keys of one query. More are asked for with another one, so that none takes long. */
const MOST_KEYS = 250;

/** What a key has in common with no other one: its rows. */
interface Shared<R> {
  keys: Set<string>;
  rows: Promise<ReadonlyMap<string, R[]>>;
}

export class BatchedRows<R extends unknown[]> {
  private readonly query: Query;
  private readonly sql: string;
  /** The query that is sent at the end of this turn. */
  private next: Shared<R> | null = null;

  /** @param sql takes the keys as its one parameter, an array. Its last column is the key to which a row belongs. */
  constructor(query: Query, sql: string) {
    this.query = query;
    this.sql = sql;
  }

  /** The rows of a key without their last column, in the order of the query. */
  async of(key: string): Promise<readonly R[]> {
    // PostgreSQL holds no such text, and would refuse the query of all others with it.
    if (key.includes('\0')) return [];
    return (await this.shareOf(key).rows).get(key) ?? [];
  }

  /** The first row of a key without its last column. */
  async firstOf(key: string): Promise<R | undefined> {
    return (await this.of(key))[0];
  }

  private shareOf(key: string): Shared<R> {
    if (this.next === null || this.next.keys.size === MOST_KEYS) this.next = this.begin();
    this.next.keys.add(key);
    return this.next;
  }

  private begin(): Shared<R> {
    const keys = new Set<string>();
    const shared: Shared<R> = { keys, rows: nextTurn().then(() => this.read(shared)) };
    return shared;
  }

  private async read(shared: Shared<R>): Promise<ReadonlyMap<string, R[]>> {
    // Whoever asks from now on may have to see what is committed after this query has begun.
    if (this.next === shared) this.next = null;
    const found = new Map<string, R[]>();
    for (const row of await this.query(this.sql, [[...shared.keys]])) {
      const key = row.pop() as string;
      const rows = found.get(key);
      if (rows === undefined) found.set(key, [row as R]);
      else rows.push(row as R);
    }
    return found;
  }
}
