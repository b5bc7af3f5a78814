/**
 * The change feed of PostgreSQL, and whether PostgreSQL answers. A tick asks five times a second for what was changed, so
 * that polls are answered from memory. Whoever must know more waits for one query that all such callers share.
 */

import type { Client } from 'pg';
import type { Awaitable } from '../../lib/awaitable.ts';
import { SECOND } from '../../lib/clock.ts';
import { HawserError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { withinTime } from '../../lib/within-time.ts';
import { type Change, ChangeFeed, type Currency, type Position, SELECT_POSITION } from '../change-feed.ts';
import type { Connections } from './connections.ts';
import { databaseAway } from './errors.ts';
import { Outage } from './outage.ts';

/** Milliseconds between two ticks. */
const TICK = 200;
/** The age up to which what is known is recent. */
const RECENT = 1 * SECOND;
/** For so long polls are answered from memory while PostgreSQL is away. */
const LONGEST_AWAY = 30 * SECOND;
/** Milliseconds in which PostgreSQL must answer. */
const ANSWER = 1 * SECOND;

/** Whose current certificate a named one is, so that what is kept of a node ends with its certificate. */
const OWNER = `case kind when 'certificates' then (select case state when 'current' then node_id else '' end
  from node_certificates where thumbprint = key order by state = 'current' desc limit 1) end`;

/** Position and changes come from one statement, so they belong to one moment. */
export const SELECT_CHANGES = {
  name: 'hawser-changes',
  text: `select position.*,
      (select json_agg(json_build_array(seq, kind, key, ${OWNER}) order by seq) from changes where seq > $1)
    from (${SELECT_POSITION}) position (generation, access_generation, oldest, newest)`,
  rowMode: 'array',
} as const;

export type ChangesRow = [...position: Position, changes: Change[] | null];

export class PostgresChangeFeed extends ChangeFeed {
  private readonly connections: Connections;
  private readonly outage: Outage;
  private readonly timer: NodeJS.Timeout;
  private client: Client | null = null;
  /** The query that is under way, and the one that begins after it. */
  private running: Promise<void> | null = null;
  private next: Promise<void> | null = null;
  /** When the last query began that was answered, as `performance.now()` counts. */
  private confirmedAt = Number.NEGATIVE_INFINITY;
  /** How often this process has written, and how many of these writes were there when the last answered query began. */
  private writes = 0;
  private confirmedWrites = -1;
  /** Those who wait for a connection, and give up once PostgreSQL is away. */
  private readonly waiting = new Set<(error: Error) => void>();

  constructor(connections: Connections, log: Log | null) {
    super();
    this.connections = connections;
    this.outage = new Outage(log);
    this.timer = setInterval(() => this.tick(), TICK);
    this.timer.unref();
  }

  catchUp(currency: Currency): Awaitable<void> {
    if (currency === 'now') return this.ask();
    const { silence } = this;
    if (silence <= RECENT && this.confirmedWrites === this.writes) return;
    if (this.isAway && silence <= LONGEST_AWAY) return this.outage.noteFromMemory();
    return this.ask().catch((error: unknown) => {
      if (this.silence > LONGEST_AWAY) throw error;
    });
  }

  readonly markStale = (): void => {
    this.writes += 1;
  };

  override get isAway(): boolean {
    return this.outage.isUnderWay;
  }

  override async orKept<T>(work: () => Awaitable<T>, kept: () => T | undefined): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof HawserError) || error.kind !== 'unavailable') throw error;
      // One connection alone may be lost. While PostgreSQL answers, nothing old is given out.
      if (!this.isAway) await this.ask().catch(() => undefined);
      const known = this.isAway && this.silence <= LONGEST_AWAY ? kept() : undefined;
      if (known === undefined) throw error;
      return known;
    }
  }

  override noteFailed(): void {
    this.outage.noteFailed();
  }

  /** Milliseconds since PostgreSQL was last known to answer. */
  get silence(): number {
    return performance.now() - this.confirmedAt;
  }

  /** @throws HawserError unavailable while PostgreSQL does not answer */
  requireHere(): void {
    if (this.isAway) throw databaseAway();
  }

  /**
   * Waits for something of PostgreSQL, and no longer than it is there.
   * @param giveBack is called with what comes too late
   * @throws HawserError unavailable
   */
  async whileHere<T>(work: Promise<T>, giveBack: (value: T) => void): Promise<T> {
    let leave: (error: Error) => void = () => undefined;
    let isOver = false;
    const away = new Promise<never>((_resolve, reject) => {
      leave = reject;
    });
    this.waiting.add(leave);
    work.then((value) => isOver && giveBack(value)).catch(() => undefined);
    try {
      // Those who wait are told when it is found out that PostgreSQL is away. Nobody would tell one who begins later.
      this.requireHere();
      return await Promise.race([work, away]);
    } catch (error) {
      isOver = true;
      throw error;
    } finally {
      this.waiting.delete(leave);
    }
  }

  /** Tells that all may have changed, after a commit of which nobody knows whether it was made. */
  forget(): void {
    this.reportLost(true);
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.running?.catch(() => undefined);
    await this.client?.end().catch(() => undefined);
  }

  private tick(): void {
    this.outage.tick();
    if (this.running === null && this.silence >= TICK / 2) this.ask().catch(() => undefined);
  }

  /** The query that is under way may have begun before a commit that this caller must see, so it waits for the next. */
  private ask(): Promise<void> {
    if (this.running === null) return this.begin();
    this.next ??= this.running
      .finally(() => {
        this.next = null;
      })
      // If PostgreSQL has not answered, those who wait need not find it out once more.
      .then(() => this.begin());
    return this.next;
  }

  private begin(): Promise<void> {
    const query = this.query().finally(() => {
      if (this.running === query) this.running = null;
    });
    this.running = query;
    return query;
  }

  private async query(): Promise<void> {
    try {
      await this.queryOnce();
    } catch (error) {
      this.discard();
      // The connection alone may be lost.
      if (this.isAway) throw databaseAway(error);
      await this.queryOnce().catch((again: unknown) => {
        this.discard();
        this.noteAway(again);
        throw databaseAway(again);
      });
    }
  }

  private async queryOnce(): Promise<void> {
    this.client ??= await this.connections.connect();
    const { writes } = this;
    const begun = performance.now();
    const query = this.client.query<ChangesRow>({ ...SELECT_CHANGES, values: [this.lastChange] });
    const [row] = (await withinTime(query, ANSWER)).rows;
    if (row === undefined) throw new Error('The table of the generation has no row');
    this.noteHere(begun, writes);
    const [generation, accessGeneration, oldest, newest, changes] = row;
    const after = this.notePosition([generation, accessGeneration, oldest, newest]);
    if (after !== null) this.reportChanges(changes ?? []);
  }

  private discard(): void {
    if (this.client !== null) this.connections.discard(this.client);
    this.client = null;
  }

  private noteHere(begun: number, writes: number): void {
    this.confirmedAt = begun;
    this.confirmedWrites = writes;
    this.outage.noteHere(this.connections.takeLosses());
  }

  /** Nobody waits for an answer of PostgreSQL from now on. */
  private noteAway(error: unknown): void {
    this.outage.begin(error);
    this.connections.breakOff();
    for (const leave of this.waiting) leave(databaseAway(error));
  }
}
