/** Tells the other servers on the database that this one is there. */

import type { Database } from './db/database.ts';
import { listsServers, noteServer, removeServer, type ServerFacts } from './db/servers.ts';
import { SECOND } from './lib/clock.ts';
import type { Log } from './lib/log.ts';

const INTERVAL = 10 * SECOND;

export interface Presence {
  /** Removes the server from the list. */
  close(): Promise<void>;
}

/** Writes the server into the list, and again every ten seconds. On SQLite there is no list. */
export async function showPresence(
  { write, writeNow }: Database,
  server: ServerFacts,
  log: Log,
): Promise<Presence> {
  if (!listsServers(write)) return { close: async () => undefined };
  let noting = Promise.resolve();
  const note = () => {
    noting = noteServer(writeNow, server).catch((error: unknown) =>
      log.debug({ err: error }, 'the list of servers cannot be written'),
    );
  };
  note();
  await noting;
  const timer = setInterval(note, INTERVAL).unref();
  return {
    async close() {
      clearInterval(timer);
      await noting;
      // While PostgreSQL is away the row stays, and the leader removes it later.
      await removeServer(writeNow, server.id).catch(() => undefined);
    },
  };
}
