/** Asks PostgreSQL whether a transaction was committed whose answer was lost. */

import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../lib/clock.ts';
import type { Connections } from './connections.ts';
import type { AskOutcome } from './work.ts';

/** Milliseconds after the commit for which PostgreSQL is asked. A caller has an answer by then. */
const PATIENCE = 5 * SECOND;
const PAUSE = 100;

/** A connection of its own asks, because the others are lost too or wait for their turn. */
export function askOutcome(connections: Connections): AskOutcome {
  return async (transaction, since) => {
    for (; performance.now() < since + PATIENCE; await sleep(PAUSE)) {
      const status = await statusOf(connections, transaction).catch(() => null);
      if (status === 'committed' || status === 'aborted') return status === 'committed';
    }
    return null;
  };
}

async function statusOf(connections: Connections, transaction: string): Promise<string | null> {
  const client = await connections.connect();
  try {
    const { rows } = await client.query<{ status: string | null }>(
      'select pg_xact_status($1::text::xid8) as status',
      [transaction],
    );
    return rows[0]?.status ?? null;
  } finally {
    await client.end();
  }
}
