/** Removes from PostgreSQL the objects of repositories to which no ref leads any more. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import type { GitTables, StoredRefs } from '../db/git-tables.ts';
import { repositoryLock } from '../domain/lock-names.ts';
import { damagedRepository } from '../git/disk-errors.ts';
import { inflateObject } from '../git/loose-objects.ts';
import { HOUR } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { type RepeatedWork, repeat } from '../lib/repeated-work.ts';
import { linksOf } from './object-walk.ts';

export interface PruningOptions {
  database: Database;
  log: Log;
}

/** Prunes in the background: once at the start, then every hour. */
export function startPruning(options: PruningOptions): RepeatedWork {
  return repeat(
    HOUR,
    (signal) => pruneRepositories(options, signal),
    (error) =>
      options.log.warn({ err: error }, 'could not prune the repositories; this is tried again in an hour'),
  );
}

/**
 * Prunes all repositories that need it. A repository that somebody writes to is left to the next time.
 * @param signal once aborted, no further repository is begun
 */
export async function pruneRepositories(
  { database, log }: PruningOptions,
  signal: AbortSignal,
): Promise<void> {
  const { repositories: tables, locks } = database;
  if (tables === null) return;
  await tables.pruneRemoved();
  for (const { id, kind, name } of await tables.prunable()) {
    if (signal.aborted) return;
    const prune = async () => {
      const stored = await tables.refs({ kind, name });
      if (stored?.repository.id === id) await tables.prune(id, await findUnreachable(tables, stored));
    };
    await locks.runIfFree(repositoryLock({ kind, name }), prune).catch((error: unknown) => {
      log.warn({ err: error, repository: { kind, name } }, 'could not prune a repository');
    });
  }
}

/**
 * The objects that no ref leads to.
 * @throws HawserError `repository_damaged` if an object is missing, because nobody can tell then what it would lead to
 */
async function findUnreachable(
  tables: GitTables,
  { repository: { id, shallow }, refs }: StoredRefs,
): Promise<string[]> {
  const types = await tables.objectTypes(id);
  const links = await readLinks(tables, id, types, new Set(shallow));
  const unreachable = new Set(types.keys());
  const next = [...refs.values()];
  for (let oid = next.pop(); oid !== undefined; oid = next.pop()) {
    if (!types.has(oid)) throw damagedRepository(new Error(`${oid} is missing`));
    if (unreachable.delete(oid)) next.push(...(links.get(oid) ?? []));
  }
  return [...unreachable];
}

/** What each commit, tag and tree leads to. */
async function readLinks(
  tables: GitTables,
  id: string,
  types: ReadonlyMap<string, string>,
  shallow: ReadonlySet<string>,
): Promise<Map<string, string[]>> {
  const links = new Map<string, string[]>();
  const wanted = [...types].flatMap(([oid, type]) => (type === 'blob' ? [] : [oid]));
  for await (const objects of tables.readObjects(id, wanted)) {
    for (const { oid, type, deflated } of objects) {
      const { bytes, start } = await inflateObject(deflated);
      const found = linksOf(oid, { type, content: bytes.subarray(start) }, shallow);
      if (found === null) throw damagedRepository(new Error(`${oid} is malformed`));
      links.set(
        oid,
        found.map((link) => link.oid),
      );
    }
    await nextTurn();
  }
  return links;
}
