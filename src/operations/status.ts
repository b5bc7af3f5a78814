/** `hawser status`: which servers use the database, and which of them leads. It only reads, so it runs beside them. */

import { join } from 'node:path';
import type { Config } from '../config.ts';
import { findHolder, LOCK_FILE } from '../db/folder-lock.ts';
import { inspectDatabase, nameOfDatabase, requireTables } from '../db/inspection.ts';
import { type LeadState, type ListedServer, listServers, readLead } from '../db/servers.ts';
import { SECOND } from '../lib/clock.ts';
import { readIfPresent } from '../lib/secret-file.ts';
import { requirePresentForm } from './present-form.ts';

/** A server writes every ten seconds that it is there, so one that was silent for longer has missed it twice. */
const SILENCE = 25 * SECOND;

export interface ServersStatus {
  /** One for each server. */
  lines: string[];
  /** What is not well, with the next step; null where all is well. */
  fault: string | null;
}

/** @throws Error if the database cannot be read, or is of another release */
export async function readStatus(config: Config): Promise<ServersStatus> {
  const name = nameOfDatabase(config);
  const found = config.databaseUrl === null ? await statusOfOne(config) : await statusOfAll(config);
  if (found.lines.length > 0) return found;
  return { lines: [], fault: `no server uses ${name}: start one with "hawser serve"` };
}

/** Whoever holds the folder is the one server of an SQLite database. */
async function statusOfOne({ dataDir }: Config): Promise<ServersStatus> {
  // A file that cannot be read would look like one that nobody holds.
  const isThere = (await readIfPresent(join(dataDir, LOCK_FILE))) !== null;
  const holder = isThere ? findHolder(dataDir) : null;
  if (holder === null) return { lines: [], fault: null };
  const { pid, host } = holder;
  const process = pid > 0 ? `process ${pid} on ${host}` : 'a process that did not write its number';
  return { lines: [`${process}, leads, as the one server of an SQLite database does`], fault: null };
}

async function statusOfAll(config: Config): Promise<ServersStatus> {
  await requirePresentForm(config);
  const database = await inspectDatabase(config);
  try {
    const read = requireTables(database);
    const servers = await listServers(read);
    const lead = await readLead(read);
    return { lines: servers.map((server) => describe(server, lead)), fault: findFault(servers, lead) };
  } finally {
    await database.close();
  }
}

function describe(server: ListedServer, lead: LeadState): string {
  const seen = `seen ${Math.round(silenceOf(server, lead) / SECOND)} s ago`;
  const parts = [nameOf(server), server.version, seen];
  if (server.id === lead.leader) parts.push(`leads by lease ${lead.number}`);
  return parts.join(', ');
}

function findFault(servers: readonly ListedServer[], lead: LeadState): string | null {
  if (lead.leader === null && lead.isLocked)
    return 'a server leads that writes no lease, as those of an older release do: bring all servers to this release';
  if (!servers.some(({ id }) => id === lead.leader))
    return 'no server of the list leads: ask again in 20 s, and if it stays so, look for "lead" in the logs of the servers';
  const silent = servers.find((server) => silenceOf(server, lead) > SILENCE);
  return silent
    ? `${nameOf(silent)} does not say that it is there: see whether it hangs or was killed`
    : null;
}

const nameOf = ({ id, host }: ListedServer) => `${host ?? 'unknown machine'} (${id})`;

const silenceOf = ({ seen_at }: ListedServer, { now }: LeadState) => now.getTime() - seen_at.getTime();
