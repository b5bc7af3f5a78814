/**
 * What is done on one connection: statements and transactions of a lane. A transaction knows its number, so that after a
 * lost answer PostgreSQL can be asked whether the commit was made (postgresql.org/docs/current/functions-info.html,
 * `pg_xact_status`).
 */

import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { ClientBase, QueryResult as PostgresResult } from 'pg';
import { invalidField } from '../../lib/errors.ts';
import type { Release } from '../../lib/locks.ts';
import { FEED_KEY } from './advisory-keys.ts';
import { againAfterDeadlock } from './deadlocks.ts';
import { databaseAway, isLost, leadLost, outcomeUnknown } from './errors.ts';
import { holdLease } from './lead.ts';
import type { Line } from './line.ts';
import { LONGEST_SILENCE, LONGEST_WAIT } from './time-limits.ts';

export interface Lane {
  /**
   * Whether its transactions take their turn: one begins once the one before has ended, in all processes. So the order of
   * the change feed is the order of the commits.
   */
  takesTurns: boolean;
  /** Whether a commit is on the disk when it returns. */
  isFlushed: boolean;
}

/** A connection that is taken for a statement or a transaction. */
export interface Taken {
  client: ClientBase;
  /** @param isLost tells that the connection is of no use any more */
  giveBack(isLost: boolean): void;
}

/**
 * @param transaction its number
 * @param client the connection that it was made on
 * @param since when the commit was sent, as `performance.now()` counts
 * @returns whether the transaction was committed; null if nobody can tell
 */
export type AskOutcome = (transaction: string, client: ClientBase, since: number) => Promise<boolean | null>;

export interface WorkOptions {
  lane: Lane;
  /** Where the transactions of this lane wait for each other; null where they wait for no turn in PostgreSQL either. */
  line: Line | null;
  askOutcome: AskOutcome;
  /** The number of the lease under which the caller writes as the leader; undefined for all others. */
  leaseOf(): number | undefined;
  /** Is called after each commit, and after each one of which nobody knows whether it was made. */
  onCommit(isKnown: boolean): void;
}

/** A frozen process must not hold up the others with what it has locked. */
const LIMITS = [
  `set local lock_timeout = ${LONGEST_WAIT}`,
  `set local idle_in_transaction_session_timeout = ${LONGEST_SILENCE}`,
];

const WRITING_KINDS: ReadonlySet<string> = new Set(['InsertQueryNode', 'UpdateQueryNode', 'DeleteQueryNode']);
/** Raw statements are told by their first word. One that begins with `with` may write. */
const WRITING_TEXT = /^\s*(?:insert|update|delete|with)\b/i;

/**
 * PostgreSQL refuses a text with U+0000, whereas SQLite finds nothing that is equal to it. No stored text has this
 * character either, which is not assigned and never will be (Unicode 23.7).
 */
const NEVER_STORED = '\u{10ffff}';

const hasNul = (value: unknown) => typeof value === 'string' && value.includes('\0');

/** @throws HawserError `validation_failed` for a statement that would store it */
function parametersWithoutNul(query: CompiledQuery): unknown[] {
  if (isWriting(query)) throw invalidField('', 'A text must not hold U+0000');
  return query.parameters.map((value) =>
    typeof value === 'string' ? value.replaceAll('\0', NEVER_STORED) : value,
  );
}

function isWriting({ query: { kind }, sql }: CompiledQuery): boolean {
  return WRITING_KINDS.has(kind) || (kind === 'RawNode' && WRITING_TEXT.test(sql));
}

export class Work implements DatabaseConnection {
  readonly startedAt: number;
  /** Milliseconds until the first statement could be carried out. */
  waited = 0;
  private readonly taken: Taken;
  private readonly options: WorkOptions;
  /** The number of the transaction that is open. */
  private transaction: string | null = null;
  private isLost = false;
  private leaveLine: Release | null = null;

  constructor(taken: Taken, startedAt: number, options: WorkOptions) {
    this.taken = taken;
    this.startedAt = startedAt;
    this.options = options;
    this.waited = performance.now() - startedAt;
  }

  /** A statement outside of a transaction is tried again after a deadlock. */
  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.transaction !== null) return this.run(query);
    const execute = () => (this.isTransaction(query) ? this.runAlone<R>(query) : this.run<R>(query));
    return againAfterDeadlock(execute);
  }

  /**
   * @param isInLine a transaction of one statement that takes no turn need not wait for others of this process
   * @throws HawserError unavailable if the caller writes as the leader and another server leads
   */
  async begin(isInLine = true): Promise<void> {
    const { lane, line, leaseOf } = this.options;
    const { takesTurns, isFlushed } = lane;
    const lease = leaseOf();
    if (line !== null && isInLine) this.leaveLine = await line.enter(() => this.send('select 1'));
    const turn = takesTurns ? `pg_advisory_xact_lock(${FEED_KEY}), ` : '';
    const steps = ['begin', ...LIMITS, ...(isFlushed ? [] : ['set local synchronous_commit = off'])];
    const number = `select ${turn}pg_current_xact_id()::text as number`;
    const asked = lease === undefined ? [number] : [number, holdLease(lease)];
    const answer = await this.send([...steps, ...asked].join('; ')).catch(async (error: unknown) => {
      // The turn was not had in time, or waiting for it was a deadlock. Else the transaction would stay open.
      await this.rollback();
      throw error;
    });
    // Several statements in one message have a result each.
    const results = answer as unknown as PostgresResult<{ number: string }>[];
    if (lease !== undefined && results.at(-1)?.rows.length === 0) {
      await this.rollback();
      throw leadLost();
    }
    this.transaction = results[steps.length]?.rows[0]?.number ?? '';
    this.waited = performance.now() - this.startedAt;
  }

  /** @throws HawserError unavailable if the commit was not made, or nobody knows whether it was (`isOutcomeUnknown`) */
  async commit(): Promise<void> {
    const number = this.transaction ?? '';
    this.transaction = null;
    const since = performance.now();
    try {
      const { command } = await this.send('commit');
      // PostgreSQL answers a commit so after an error in the transaction that the caller has let pass.
      if (command !== 'COMMIT') throw new Error('A transaction with an error was to be committed');
    } catch (error) {
      if (!this.isLost) throw error;
      // Others need not wait until PostgreSQL can be asked.
      this.leave();
      await this.requireCommitted(number, since, error);
    } finally {
      this.leave();
    }
    this.options.onCommit(true);
  }

  async rollback(): Promise<void> {
    this.transaction = null;
    try {
      if (!this.isLost) await this.send('rollback');
    } finally {
      this.leave();
    }
  }

  // biome-ignore lint/correctness/useYield: Kysely asks for it, and nothing here reads in pieces.
  async *streamQuery(): AsyncGenerator<never> {
    throw new Error('Nothing is read in pieces here');
  }

  end(): void {
    this.taken.giveBack(this.isLost);
  }

  private leave(): void {
    this.leaveLine?.();
    this.leaveLine = null;
  }

  /** Whether the statement writes in a way that only a transaction of its own has. */
  private isTransaction(query: CompiledQuery): boolean {
    const { lane, leaseOf } = this.options;
    return (lane.takesTurns || !lane.isFlushed || leaseOf() !== undefined) && isWriting(query);
  }

  private async runAlone<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    await this.begin(this.options.lane.takesTurns);
    try {
      const result = await this.run<R>(query);
      await this.commit();
      return result;
    } catch (error) {
      if (this.transaction !== null) await this.rollback();
      throw error;
    }
  }

  private async run<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { sql, parameters } = query;
    const values = parameters.some(hasNul) ? parametersWithoutNul(query) : parameters;
    const { command, rowCount, rows } = await this.send(sql, values);
    const isChange = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE';
    return { rows: rows as R[], ...(isChange && { numAffectedRows: BigInt(rowCount ?? 0) }) };
  }

  private async send(sql: string, parameters?: readonly unknown[]): Promise<PostgresResult> {
    try {
      return await (parameters === undefined
        ? this.taken.client.query(sql)
        : this.taken.client.query(sql, parameters as unknown[]));
    } catch (error) {
      this.isLost ||= isLost(error);
      throw isLost(error) ? databaseAway(error) : error;
    }
  }

  private async requireCommitted(number: string, since: number, error: unknown): Promise<void> {
    const isCommitted = await this.options.askOutcome(number, this.taken.client, since);
    if (isCommitted === false) throw databaseAway(error);
    if (isCommitted === true) return;
    this.options.onCommit(false);
    throw outcomeUnknown(error);
  }
}
