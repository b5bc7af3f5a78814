/** Keeps locks that belong to no section, such as one for the life of a process, on one connection of their own. */

import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Client } from 'pg';
import { SECOND } from '../../lib/clock.ts';
import { LocalLocks, type LockMode, type Release } from '../../lib/locks.ts';
import { keyOfLock } from './advisory-keys.ts';
import type { Connections } from './connections.ts';

/** Milliseconds between two attempts to get a lock. Waiting in PostgreSQL would hold up the other locks. */
const PAUSE = 100;
/** Milliseconds until a lost connection is made anew. */
const AGAIN = 1 * SECOND;

const MODES = { alone: '', shared: '_shared' } as const;

interface Held {
  mode: LockMode;
  /** Whom to tell that the lock is lost. Without it the lock is taken again. */
  onLost: (() => void) | undefined;
}

export class Keeper {
  private readonly connections: Connections;
  /** Those of this process wait for each other here, because one connection may hold a lock twice. */
  private readonly own = new LocalLocks();
  private readonly held = new Map<string, Held>();
  private readonly turn = pLimit(1);
  private client: Client | null = null;
  private isClosed = false;

  constructor(connections: Connections) {
    this.connections = connections;
  }

  async acquire(key: string, mode: LockMode): Promise<Release> {
    const release = await this.own.acquire(key, mode);
    while (!(await this.tryLock(key, { mode, onLost: undefined }))) await sleep(PAUSE);
    return this.releaseOf(key, mode, release);
  }

  async acquireIfFree(key: string, onLost?: () => void): Promise<Release | null> {
    const release = await this.own.acquireIfFree(key);
    if (release === null) return null;
    if (await this.tryLock(key, { mode: 'alone', onLost })) return this.releaseOf(key, 'alone', release);
    release();
    return null;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.held.clear();
    await this.client?.end().catch(() => undefined);
  }

  /** Carries out a statement over the connection that holds the locks. @throws the driver's error */
  ask<R extends object>(sql: string, values: unknown[] = []): Promise<R[]> {
    return this.turn(async () => {
      this.client ??= await this.connect();
      return (await this.client.query<R>(sql, values)).rows;
    });
  }

  /** Breaks the connection off, as a fault of the network would. */
  drop(): void {
    if (this.client !== null) this.connections.discard(this.client);
  }

  private releaseOf(key: string, mode: LockMode, release: Release): Release {
    return () => {
      // A lock that is lost is not there to be given back.
      if (!this.held.delete(key)) return release();
      void this.tell(`select pg_advisory_unlock${MODES[mode]}(${keyOfLock(key)})`)
        .catch(() => undefined)
        .finally(release);
    };
  }

  /** While PostgreSQL is away nobody gets a lock, and whoever waits for one goes on waiting. */
  private async tryLock(key: string, held: Held): Promise<boolean> {
    const call = `pg_try_advisory_lock${MODES[held.mode]}(${keyOfLock(key)})`;
    const isHeld = await this.tell(`select ${call} as answer`).catch(() => false);
    if (isHeld) this.held.set(key, held);
    return isHeld;
  }

  private async tell(sql: string): Promise<boolean> {
    const [row] = await this.ask<{ answer?: boolean }>(sql);
    return row?.answer === true;
  }

  private async connect(): Promise<Client> {
    const client = await this.connections.connect();
    client.once('end', () => {
      this.client = null;
      this.tellOfLoss();
      void this.retake();
    });
    return client;
  }

  private tellOfLoss(): void {
    for (const [key, { onLost }] of this.held) {
      if (onLost === undefined) continue;
      this.held.delete(key);
      onLost();
    }
  }

  /** The locks were lost with the connection. They are taken again unless another process has got them meanwhile. */
  private async retake(): Promise<void> {
    await sleep(AGAIN);
    for (const [key, held] of this.held) if (!this.isClosed) await this.tryLock(key, held);
  }
}
