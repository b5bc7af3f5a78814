/**
 * Locks of all processes on one PostgreSQL. A lock is held by a connection, which the section keeps until it ends, and
 * every write within the section goes over that connection. If the connection is lost, the lock and the ability to write
 * are lost together, so no process can write under a lock that another one has got meanwhile.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import pLimit, { type LimitFunction } from 'p-limit';
import type { PoolClient } from 'pg';
import { judgesByMemory } from '../../domain/lock-names.ts';
import { LocalLocks, type LockMode, Locks, type Release } from '../../lib/locks.ts';
import { keyOfLock } from './advisory-keys.ts';
import { databaseAway, isLost, translatePostgresError } from './errors.ts';
import type { Keeper } from './keeper.ts';
import { LONGEST_SILENCE, SIGN_OF_LIFE } from './time-limits.ts';
import type { Taken } from './work.ts';

const MODES = { alone: '', shared: '_shared' } as const;

/** One chain of work that holds locks, with its connection. */
interface Section {
  client: PoolClient;
  /** One statement or transaction at a time. */
  turn: LimitFunction;
  isLost: boolean;
  isOver: boolean;
}

export interface SectionOptions {
  /** @throws HawserError unavailable */
  connect(): Promise<PoolClient>;
  /** The most sections at a time, which leaves connections for other writes. */
  max: number;
  keeper: Keeper;
  /**
   * Is called when a lock was got whose holder judges by what is in memory, and resolves once the caches of this process know what was committed before. So a guard
   * sees all that earlier holders did, also to what the lock is not named after.
   */
  catchUp(): Promise<void>;
}

export class Sections extends Locks {
  private readonly options: SectionOptions;
  private readonly current = new AsyncLocalStorage<Section>();
  /**
   * Those who want a lock of this process wait for each other here, before they take one of the places. So a lock that
   * many want takes one place, and whoever has a place waits for nobody who has none.
   */
  private readonly entrance = new LocalLocks();
  /** One connection may hold a lock twice, so the work within one section is kept apart here. */
  private readonly own = new LocalLocks();
  private readonly places: LimitFunction;

  constructor(options: SectionOptions) {
    super();
    this.options = options;
    this.places = pLimit(options.max);
  }

  /** For a lock that is held without a section, such as for the life of a process. */
  acquire(key: string, mode: LockMode): Promise<Release> {
    return this.options.keeper.acquire(key, mode);
  }

  acquireIfFree(key: string, onLost?: () => void): Promise<Release | null> {
    return this.options.keeper.acquireIfFree(key, onLost);
  }

  override run<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.enter(key, 'alone', work);
  }

  override share<T>(key: string, work: () => Promise<T>): Promise<T> {
    return this.enter(key, 'shared', work);
  }

  override async runIfFree(key: string, work: () => Promise<void>): Promise<void> {
    const leave = this.here === undefined ? await this.entrance.acquireIfFree(key) : () => undefined;
    if (leave === null) return;
    try {
      await this.inSection((section) => this.tryHolding(section, key, work));
    } finally {
      leave();
    }
  }

  /** The connection of the section that the caller is in, in its turn; undefined outside of sections. */
  async take(): Promise<Taken | undefined> {
    const section = this.here;
    return section && takeFrom(section);
  }

  private get here(): Section | undefined {
    const section = this.current.getStore();
    // What was begun in a section may go on after it.
    return section?.isOver === true ? undefined : section;
  }

  private enter<T>(key: string, mode: LockMode, work: () => Promise<T>): Promise<T> {
    const locked = async (section: Section) => {
      const release = await this.own.acquire(key, mode);
      try {
        await this.ask(section, `pg_advisory_lock${MODES[mode]}(${keyOfLock(key)})`);
        return await this.holding(section, key, mode, work);
      } finally {
        release();
      }
    };
    const { here } = this;
    if (here !== undefined) return locked(here);
    const enter = () => this.inSection(locked);
    return mode === 'alone' ? this.entrance.run(key, enter) : this.entrance.share(key, enter);
  }

  private inSection<T>(work: (section: Section) => Promise<T>): Promise<T> {
    const { here } = this;
    if (here !== undefined) return work(here);
    return this.places(async () => {
      const client = await this.options.connect();
      const section: Section = { client, turn: pLimit(1), isLost: false, isOver: false };
      const signs = setInterval(() => void this.giveSign(section), SIGN_OF_LIFE);
      try {
        await this.tell(section, `set idle_session_timeout = ${LONGEST_SILENCE}`);
        return await this.current.run(section, () => work(section));
      } finally {
        clearInterval(signs);
        await this.leave(section);
      }
    });
  }

  private async tryHolding(section: Section, key: string, work: () => Promise<void>): Promise<void> {
    const release = await this.own.acquireIfFree(key);
    if (release === null) return;
    try {
      const isFree = await this.ask(section, `pg_try_advisory_lock(${keyOfLock(key)})`);
      if (isFree === true) await this.holding(section, key, 'alone', work);
    } finally {
      release();
    }
  }

  private async holding<T>(
    section: Section,
    key: string,
    mode: LockMode,
    work: () => Promise<T>,
  ): Promise<T> {
    try {
      if (judgesByMemory(key)) await this.options.catchUp();
      return await work();
    } finally {
      await this.tell(section, `select pg_advisory_unlock${MODES[mode]}(${keyOfLock(key)})`).catch(
        () => undefined,
      );
    }
  }

  /** Whatever the section has left undone, its connection goes back without locks. */
  private async leave(section: Section): Promise<void> {
    await this.tell(section, 'select pg_advisory_unlock_all(); reset idle_session_timeout').catch(
      () => undefined,
    );
    section.isOver = true;
    section.client.release(section.isLost);
  }

  private async giveSign(section: Section): Promise<void> {
    if (section.turn.activeCount === 0 && !section.isOver)
      await this.tell(section, 'select 1').catch(() => undefined);
  }

  private async ask(section: Section, call: string): Promise<unknown> {
    const { rows } = await this.tell(section, `select ${call} as answer`);
    return rows[0]?.answer;
  }

  /** @throws HawserError unavailable if the connection is lost, or the lock was waited for too long */
  private async tell(section: Section, sql: string): Promise<{ rows: { answer?: unknown }[] }> {
    const taken = await takeFrom(section);
    let lost = false;
    try {
      return await taken.client.query(sql);
    } catch (error) {
      lost = isLost(error);
      throw translatePostgresError(lost ? databaseAway(error) : error);
    } finally {
      taken.giveBack(lost);
    }
  }
}

/** @throws HawserError unavailable if the section has lost its connection, and with it its locks */
function takeFrom(section: Section): Promise<Taken> {
  return new Promise((resolve, reject) => {
    void section.turn(
      () =>
        new Promise<void>((end) => {
          if (section.isLost) {
            reject(databaseAway());
            end();
            return;
          }
          const giveBack = (lost: boolean) => {
            section.isLost ||= lost;
            end();
          };
          resolve({ client: section.client, giveBack });
        }),
    );
  });
}
