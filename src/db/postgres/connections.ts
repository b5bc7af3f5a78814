/**
 * Connections to one PostgreSQL server: how they are made, what is set in each of them, and how all are broken off once
 * the server does not answer. The driver is loaded here, so that it is not loaded without the setting.
 */

import { Socket } from 'node:net';
import type { Client, ClientBase, ClientConfig, Pool, QueryResult } from 'pg';
import { SECOND } from '../../lib/clock.ts';
import { clientOptions } from './client-options.ts';

/** Milliseconds after which a connection that nobody uses is closed. */
const IDLE = 60 * SECOND;

/**
 * What holds in each connection. The driver could send it with the first message, but poolers refuse most of it there.
 * The keepalives end the sections of a server whose machine is gone, and a transaction waits for nothing but the database.
 * Statements here are short: to compile them, or to start processes for them, takes longer than to carry them out.
 */
const SETTINGS = `set statement_timeout = '30s';
  set idle_in_transaction_session_timeout = '10s';
  set tcp_keepalives_idle = 5;
  set tcp_keepalives_interval = 3;
  set tcp_keepalives_count = 3;
  set jit = off;
  set max_parallel_workers_per_gather = 0;
  set client_min_messages = warning`;

/**
 * Tells the run of PostgreSQL: from a start to the next, or to the next crash of one of its processes, after which it sets
 * its statistics back.
 */
const RUN = `select concat(pg_postmaster_start_time(), ' ', (select stats_reset from pg_stat_bgwriter)) as run`;

/** PostgreSQL's numbers of types whose values are numbers here, as they are with SQLite: bigint and numeric. */
const NUMBERS: ReadonlySet<number> = new Set([20, 1700]);

export interface Losses {
  connections: number;
  /** Why the last of them was lost, where that is known. */
  fault: unknown;
}

type Driver = typeof import('pg').default;

export class Connections {
  private readonly Client: typeof Client;
  private readonly driver: Driver;
  private readonly sockets: Map<object, Socket> = new Map();
  private readonly runs = new WeakMap<object, string>();
  private losses: Losses = { connections: 0, fault: undefined };

  private constructor(url: string, driver: Driver) {
    this.driver = driver;
    this.Client = clientClass(url, driver, this.sockets);
  }

  /** Loads the driver. Nothing is connected yet. @param url may hold a password */
  static async load(url: string): Promise<Connections> {
    return new Connections(url, (await import('pg')).default);
  }

  /**
   * A connection of its own, which the caller ends.
   * @throws the driver's error
   */
  async connect(): Promise<Client> {
    const client = new this.Client();
    client.on('error', ignore);
    try {
      await client.connect();
      await this.setUp(client);
      return client;
    } catch (error) {
      client.end().catch(ignore);
      throw error;
    }
  }

  /** @param max the most connections at a time; further callers wait for one of them */
  pool(max: number): Pool {
    const pool = new this.driver.Pool({
      Client: this.Client,
      max,
      idleTimeoutMillis: IDLE,
      onConnect: async (client) => {
        // What a lost connection was used for fails by itself. Without a listener the process would end.
        client.on('error', (error) => {
          this.losses.fault = error;
        });
        await this.setUp(client);
      },
    });
    pool.on('release', (lost: unknown) => {
      if (lost) this.losses.connections += 1;
    });
    // This is a connection that was lost while nobody used it. The pool makes another one.
    pool.on('error', ignore);
    return pool;
  }

  /** Notes that a connection could not be made. */
  noteRefused(fault: unknown): void {
    this.losses = { connections: this.losses.connections + 1, fault };
  }

  /** Connections of pools that were lost while they were used, since this was called last; null if there are none. */
  takeLosses(): Losses | null {
    const { losses } = this;
    if (losses.connections === 0) return null;
    this.losses = { connections: 0, fault: undefined };
    return losses;
  }

  /** Which run of PostgreSQL the connection belongs to. Numbers of transactions mean something within one run only. */
  runOf(client: object): string | undefined {
    return this.runs.get(client);
  }

  private async setUp(client: ClientBase): Promise<void> {
    const results = (await client.query(`${SETTINGS}; ${RUN}`)) as unknown as QueryResult<{ run: string }>[];
    const run = results.at(-1)?.rows[0]?.run;
    if (run !== undefined) this.runs.set(client, run);
  }

  /** Breaks off all connections, also those that are just being made. Whoever waits for an answer gets an error. */
  breakOff(): void {
    for (const socket of this.sockets.values()) socket.destroy();
  }

  /** Breaks off one connection, which may be waiting for an answer that never comes. */
  discard(client: object): void {
    this.sockets.get(client)?.destroy();
  }
}

/** One connection, for a thread or a command that needs no more. @throws the driver's error */
export async function connect(url: string): Promise<Client> {
  return (await Connections.load(url)).connect();
}

/** A client whose socket is known, because the driver itself waits for an answer before it ends a connection. */
function clientClass(url: string, driver: Driver, sockets: Map<object, Socket>): typeof Client {
  return class extends driver.Client {
    constructor(config: ClientConfig = {}) {
      const socket = new Socket();
      super({
        ...config,
        ...clientOptions(url),
        types: { getTypeParser: parserOf(driver) },
        stream: () => socket,
      });
      sockets.set(this, socket);
      socket.once('close', () => sockets.delete(this));
    }
  } as typeof Client;
}

function parserOf(driver: Driver): NonNullable<ClientConfig['types']>['getTypeParser'] {
  return (type, format) => (NUMBERS.has(type) ? Number : driver.types.getTypeParser(type, format));
}

function ignore(): void {}
