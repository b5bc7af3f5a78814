/** Asks PostgreSQL whether a transaction was committed whose answer was lost. */

import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../lib/clock.ts';
import type { Connections } from './connections.ts';
import type { AskOutcome } from './work.ts';

/** Milliseconds after the commit for which PostgreSQL is asked. A caller has an answer by then. */
const PATIENCE = 5 * SECOND;
const PAUSE = 100;

/**
 * A connection of its own asks, because the others are lost too or wait for their turn. After a crash PostgreSQL gives the
 * numbers of transactions again that were not on the disk yet, so the transaction of that number may be another one, unless
 * it was not committed.
 */
export function askOutcome(connections: Connections): AskOutcome {
  return async (transaction, client, since) => {
    for (; performance.now() < since + PATIENCE; await sleep(PAUSE)) {
      const told = await ask(connections, transaction).catch(() => null);
      if (told?.status === 'aborted') return false;
      if (told?.status === 'committed') return told.run === connections.runOf(client) ? true : null;
    }
    return null;
  };
}

interface Told {
  status: string | null;
  run: string | undefined;
}

async function ask(connections: Connections, transaction: string): Promise<Told> {
  const client = await connections.connect();
  try {
    const { rows } = await client.query<{ status: string | null }>(
      'select pg_xact_status($1::text::xid8) as status',
      [transaction],
    );
    return { status: rows[0]?.status ?? null, run: connections.runOf(client) };
  } finally {
    await client.end();
  }
}
