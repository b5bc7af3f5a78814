/** Handles on a PostgreSQL database without the rest of a server, for tests of how they write and lock. */

import type { Kysely } from 'kysely';
import { Connections } from '../../../src/db/postgres/connections.ts';
import { LaneHandle } from '../../../src/db/postgres/dialect.ts';
import { Keeper } from '../../../src/db/postgres/keeper.ts';
import { LeadLeases } from '../../../src/db/postgres/lead.ts';
import { Line } from '../../../src/db/postgres/line.ts';
import { askOutcome } from '../../../src/db/postgres/outcome.ts';
import { Sections } from '../../../src/db/postgres/sections.ts';
import type { Taken } from '../../../src/db/postgres/work.ts';
import { WriteHealth } from '../../../src/db/write-health.ts';

export interface Items {
  items: { id: number; text: string };
}

export interface Handles {
  connections: Connections;
  locks: Sections;
  keeper: Keeper;
  leases: LeadLeases;
  /** Takes turns with all others of its kind. */
  write: Kysely<Items>;
  /** Takes no turns. */
  note: Kysely<Items>;
  /** What was said of commits: whether it is known that they were made. */
  commits: boolean[];
  close(): Promise<void>;
}

/** @param max the most sections at a time */
export async function openHandles(url: string, max = 3): Promise<Handles> {
  const connections = await Connections.load(url);
  const pool = connections.pool(5);
  const keeper = new Keeper(connections);
  const leases = new LeadLeases(keeper);
  const locks = new Sections({ connect: () => pool.connect(), max, keeper, catchUp: async () => undefined });
  const commits: boolean[] = [];
  const take = async (): Promise<Taken> => {
    const own = await locks.take();
    if (own) return own;
    const client = await pool.connect();
    return { client, giveBack: (isLost) => client.release(isLost) };
  };
  const handle = (takesTurns: boolean) =>
    new LaneHandle(pool, {
      lane: { takesTurns, isFlushed: true },
      line: new Line(),
      askOutcome: askOutcome(connections),
      leaseOf: () => leases.current,
      onCommit: (isKnown) => void commits.push(isKnown),
      health: new WriteHealth(),
      watch: null,
      take,
    }) as unknown as Kysely<Items>;
  return {
    ...{ connections, locks, keeper, leases, commits, write: handle(true), note: handle(false) },
    close: async () => {
      await keeper.close();
      await pool.end();
    },
  };
}
