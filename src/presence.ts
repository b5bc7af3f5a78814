/** Tells the other servers on the database that this one is there. */

import type { Database } from './db/database.ts';
import { listsServers, noteServer, removeServer, type ServerFacts } from './db/servers.ts';
import { SECOND } from './lib/clock.ts';
import type { Log } from './lib/log.ts';
import type { SecretStore } from './security/secrets/secret-store.ts';

const INTERVAL = 10 * SECOND;

export interface Presence {
  /** Removes the server from the list. */
  close(): Promise<void>;
}

export interface PresenceTools {
  database: Database;
  secrets: SecretStore;
  log: Log;
}

/**
 * Writes the server into the list, again every ten seconds, and whenever it has other keys of secrets. On SQLite there is no
 * list.
 */
export async function showPresence(
  { database: { write, writeNow }, secrets, log }: PresenceTools,
  server: Omit<ServerFacts, 'secretKeyIds'>,
): Promise<Presence> {
  if (!listsServers(write)) return { close: async () => undefined };
  let noting = Promise.resolve();
  const note = () => {
    noting = noteServer(writeNow, { ...server, secretKeyIds: secrets.ids }).catch((error: unknown) =>
      log.debug({ err: error }, 'the list of servers cannot be written'),
    );
    return noting;
  };
  await note();
  let isOpen = true;
  secrets.subscribe(async () => {
    if (isOpen) await note();
  });
  const timer = setInterval(note, INTERVAL).unref();
  return {
    async close() {
      isOpen = false;
      clearInterval(timer);
      await noting;
      // While PostgreSQL is away the row stays, and the leader removes it later.
      await removeServer(writeNow, server.id).catch(() => undefined);
    },
  };
}
